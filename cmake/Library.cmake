# SPDX-License-Identifier: BSD-3-Clause
# libtutti.so from every room, its installation and its export. Only what carries TUTTI_API is visible in it.

get_property(rooms GLOBAL PROPERTY TUTTI_ROOMS)
list(TRANSFORM rooms REPLACE "(.+)" "$<TARGET_OBJECTS:tutti_\\1>" OUTPUT_VARIABLE objects)
add_library(tutti SHARED ${objects})
add_library(tutti::tutti ALIAS tutti)
set_target_properties(tutti PROPERTIES LINKER_LANGUAGE CXX
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
if(NOT SKBUILD)  # A wheel cannot hold symbolic links: its library has one name, the soname.
  set_target_properties(tutti PROPERTIES VERSION ${PROJECT_VERSION})
endif()
target_compile_features(tutti INTERFACE cxx_std_20)
target_include_directories(tutti INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(tutti PRIVATE Threads::Threads)
tutti_hot(tutti ${TUTTI_HOT})
# It is preloaded into strangers' programs: nothing may stay undefined (the sanitizers' own symbols come with the program).
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  target_link_options(tutti PRIVATE LINKER:--no-undefined LINKER:--as-needed)
endif()

include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tutti)
file(RELATIVE_PATH prefix_from_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/tutti.pc.in ${PROJECT_BINARY_DIR}/tutti.pc @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tutti-config-version.cmake COMPATIBILITY SameMinorVersion)

install(TARGETS tutti EXPORT tutti LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
        NAMELINK_COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tutti DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tutti-config.cmake.in ${PROJECT_BINARY_DIR}/tutti-config.cmake
                              INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_DATADIR)
install(EXPORT tutti NAMESPACE tutti:: FILE tutti-targets.cmake DESTINATION ${package} COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/tutti-config.cmake ${PROJECT_BINARY_DIR}/tutti-config-version.cmake DESTINATION ${package} COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/tutti.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# tutti_program(target): a program that people install; it finds the library beside it wherever both are moved.
function(tutti_program target)
  file(RELATIVE_PATH from_bin /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${from_bin}")
  install(TARGETS ${target} COMPONENT programs RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
