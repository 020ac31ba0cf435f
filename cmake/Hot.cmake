# SPDX-License-Identifier: BSD-3-Clause
# Functions that small calls run through stand side by side in what is linked. Where ranks take turns on a core, each turn
# begins with no page in the processor's tables, and every page of code that a call runs through costs a walk: side by
# side they fill a third of the pages.
#
# hot.txt names them, one a line as the linker knows them, with * for anything; scripts/hot.py writes it.

# Of the library, and of what has its code besides.
set(TUTTI_HOT ${CMAKE_CURRENT_LIST_DIR}/hot.txt)

# The script that the linker has for shared libraries, cut where its own order of functions begins. Linkers that have none
# (gold, lld, mold) place functions as they come; so do builds for debuggers and sanitizers.
set(TUTTI_PLACES_HOT OFF)
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize" AND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" MATCHES "-O[2s3]")
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_SHARED_LINKER_FLAGS}")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${flags} -shared -Wl,--verbose -o ${PROJECT_BINARY_DIR}/CMakeFiles/nothing.so
                  OUTPUT_VARIABLE said ERROR_QUIET)
  set(begin "(^|\n)======+\n(.*\n  \\.text  *:\n  {\n)")
  if(said MATCHES "${begin}(.*)\n======+")
    set(TUTTI_PLACES_HOT ON)
    set(before_functions "${CMAKE_MATCH_2}")
    set(functions_and_after "${CMAKE_MATCH_3}")
  endif()
endif()

if(TUTTI_PLACES_HOT)
  message(STATUS "Functions of small calls: side by side")
else()
  message(STATUS "Functions of small calls: as they come (no script of GNU ld's, or a build that is not for speed)")
endif()

# Each function in a section of its own, so that the linker can move it.
function(tutti_movable target)
  if(TUTTI_PLACES_HOT)
    target_compile_options(${target} PRIVATE -ffunction-sections)
  endif()
endfunction()

# tutti_hot(target files...): a shared library in which these files' functions stand side by side, in their order.
function(tutti_hot target)
  if(NOT TUTTI_PLACES_HOT)
    return()
  endif()
  set(functions "")
  foreach(file IN LISTS ARGN)
    file(STRINGS ${file} names REGEX "^[^#]")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    foreach(name IN LISTS names)
      # What the compiler makes of one besides has its name and a suffix.
      string(APPEND functions "    *(.text.${name} .text.${name}.*)\n")
    endforeach()
  endforeach()
  set(script ${PROJECT_BINARY_DIR}/hot/${target}.ld)
  file(CONFIGURE OUTPUT ${script} CONTENT "@before_functions@@functions@@functions_and_after@\n" @ONLY)
  # Where files are optimised together, they are compiled here.
  target_link_options(${target} PRIVATE -ffunction-sections LINKER:-T,${script})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
endfunction()
