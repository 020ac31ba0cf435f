# SPDX-License-Identifier: BSD-3-Clause
# How a test, a fuzz target and a benchmark are declared.

# What `make sanitize` builds: the tests with the label "sanitize", and those of ASan and UBSan alone beside them.
add_custom_target(tsan_tests)
add_custom_target(asan_tests)
add_dependencies(asan_tests tsan_tests)

# tutti_test(name SOURCES files... ROOMS rooms... [LIBRARIES libraries...] [TIMEOUT seconds] [LABELS labels...] [PARALLEL])
# One GoogleTest program, one ctest entry. TUTTI_TESTS_OPTIMIZATION, where a preset sets it, makes it build in less time
# than what it tests. It runs alone, unless PARALLEL says that neither its processes nor its timing mind a neighbour.
# Labels: "sanitize" (seconds; runs under ASan, UBSan and TSan), "sanitize-asan" (ASan and UBSan only: has one thread, if
# with many fibers, or forks or maps what TSan does not follow), "valgrind" (short).
function(tutti_test name)
  cmake_parse_arguments(TEST "PARALLEL" "TIMEOUT" "SOURCES;ROOMS;LIBRARIES;LABELS" ${ARGN})
  add_executable(test_${name} ${TEST_SOURCES})
  target_compile_options(test_${name} PRIVATE ${TUTTI_TESTS_OPTIMIZATION})
  foreach(room IN LISTS TEST_ROOMS)
    target_link_libraries(test_${name} PRIVATE tutti_${room})
  endforeach()
  target_link_libraries(test_${name} PRIVATE tutti_options ${TEST_LIBRARIES} GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND test_${name})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 120)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${TEST_TIMEOUT})
  if(NOT TEST_PARALLEL)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
  endif()
  # One precompiled header for all, made with the first test: reading GoogleTest took a third of their build.
  get_property(first GLOBAL PROPERTY TUTTI_FIRST_TEST)
  if(first)
    target_precompile_headers(test_${name} REUSE_FROM ${first})
  else()
    target_precompile_headers(test_${name} PRIVATE <gtest/gtest.h> <algorithm> <filesystem> <fstream> <functional>
                              <map> <random> <thread>)
    set_property(GLOBAL PROPERTY TUTTI_FIRST_TEST test_${name})
  endif()
  if(TEST_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}")
  endif()
  if("sanitize" IN_LIST TEST_LABELS)
    add_dependencies(tsan_tests test_${name})
  elseif("sanitize-asan" IN_LIST TEST_LABELS)
    add_dependencies(asan_tests test_${name})
  endif()
endfunction()

# tutti_fuzz(name SOURCES files... ROOMS rooms... PARSER files...): one libFuzzer program, bin/fuzz_<name>. Its corpus of
# valid messages is tests/fuzz/corpus/<name>/; PARSER names the sources whose lines it must reach (relative to the root).
add_custom_target(fuzz_targets)
set(fuzz_list ${PROJECT_BINARY_DIR}/fuzz_targets.txt)
file(WRITE ${fuzz_list} "")
function(tutti_fuzz name)
  cmake_parse_arguments(FUZZ "" "" "SOURCES;ROOMS;PARSER" ${ARGN})
  add_executable(fuzz_${name} ${FUZZ_SOURCES})
  foreach(room IN LISTS FUZZ_ROOMS)
    target_link_libraries(fuzz_${name} PRIVATE tutti_${room})
  endforeach()
  target_link_libraries(fuzz_${name} PRIVATE tutti_options)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzz_targets fuzz_${name})
  list(JOIN FUZZ_PARSER " " parser)
  file(APPEND ${fuzz_list} "${name} ${parser}\n")
endfunction()

# tutti_bench(name SOURCES files... [ROOMS rooms...] [LIBRARIES libraries...]): one program, bench/<name>, that prints its
# measurements; `make bench` runs all of them.
function(tutti_bench name)
  cmake_parse_arguments(BENCH "" "" "SOURCES;ROOMS;LIBRARIES" ${ARGN})
  add_executable(bench_${name} ${BENCH_SOURCES})
  set_target_properties(bench_${name} PROPERTIES OUTPUT_NAME ${name}
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  foreach(room IN LISTS BENCH_ROOMS)
    target_link_libraries(bench_${name} PRIVATE tutti_${room})
  endforeach()
  target_link_libraries(bench_${name} PRIVATE tutti_options ${BENCH_LIBRARIES})
endfunction()
