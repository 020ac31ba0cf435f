# SPDX-License-Identifier: BSD-3-Clause
# A room is one folder of src/, one namespace, one target. Its headers are found as "<room>/<file>.hpp" only by the
# rooms that name it as a dependency, or a room that does: each has an include root of its own. `scripts/check_tree.py`
# refuses what a room does not name itself.

add_library(tutti_options INTERFACE)
# -Wrestrict is wrong about string concatenation in gcc 12 (bug 105651). The sources of a unity build are headers to gcc,
# which may not have members of unnamed namespaces.
target_compile_options(tutti_options INTERFACE -Wall -Wextra $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                                               $<$<AND:$<CXX_COMPILER_ID:GNU>,$<COMPILE_LANGUAGE:CXX>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
                                               $<$<BOOL:${TUTTI_WERROR}>:-Werror>)

# tutti_room(name DEPENDS rooms... LIBRARIES libraries... [TOOL])
# Every room becomes part of the shared library, except a TOOL: a room that only programs and tests use.
function(tutti_room name)
  cmake_parse_arguments(ROOM "TOOL" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  set(root ${PROJECT_BINARY_DIR}/rooms/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${name} ${root}/${name} SYMBOLIC)
  add_library(tutti_${name} STATIC ${sources})
  tutti_movable(tutti_${name})
  target_include_directories(tutti_${name} PUBLIC ${root} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(tutti_${name} PRIVATE $<BUILD_INTERFACE:tutti_options> PUBLIC Threads::Threads ${ROOM_LIBRARIES})
  foreach(room IN LISTS ROOM_DEPENDS)
    target_link_libraries(tutti_${name} PUBLIC tutti_${room})
  endforeach()
  if(NOT ROOM_TOOL)
    set_property(GLOBAL APPEND PROPERTY TUTTI_ROOMS ${name})
  endif()
endfunction()
