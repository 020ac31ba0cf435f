# SPDX-License-Identifier: BSD-3-Clause
# The Python package: the extension tutti._core from bindings/python/*.cpp (NB_MODULE(_core, …)) beside python/tutti.
# <build>/python/tutti is a complete package made of links, for PYTHONPATH; a wheel holds the same files.

find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
set(staging ${PROJECT_BINARY_DIR}/python/tutti)
file(MAKE_DIRECTORY ${staging})
file(GLOB_RECURSE modules CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/tutti
     ${PROJECT_SOURCE_DIR}/python/tutti/*.py ${PROJECT_SOURCE_DIR}/python/tutti/*.pyi
     ${PROJECT_SOURCE_DIR}/python/tutti/py.typed)
foreach(module IN LISTS modules)
  get_filename_component(folder ${staging}/${module} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/tutti/${module} ${staging}/${module} SYMBOLIC)
endforeach()
file(CREATE_LINK ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${staging}/bin SYMBOLIC)

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bindings/python/*.cpp)
if(sources)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE
                  OUTPUT_VARIABLE nanobind_ROOT COMMAND_ERROR_IS_FATAL ANY)
  find_package(nanobind CONFIG REQUIRED)
  # One extension serves every Python from 3.12 on; for older ones nanobind offers no stable ABI, and ignores the word.
  nanobind_add_module(tutti_python STABLE_ABI NB_STATIC NOMINSIZE ${sources})
  target_link_libraries(tutti_python PRIVATE tutti::tutti tutti_options)
  set_target_properties(tutti_python PROPERTIES OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY ${staging}
                        INSTALL_RPATH "$ORIGIN/lib")
  install(TARGETS tutti_python COMPONENT python LIBRARY DESTINATION tutti)
endif()
