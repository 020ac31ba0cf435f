# CMake generated Testfile for 
# Source directory: /work/wt/buildsys/tests/plan
# Build directory: /work/wt/buildsys/bx/tests/plan
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
add_test([=[plan_builder]=] "/work/wt/buildsys/bx/bin/test_plan_builder")
set_tests_properties([=[plan_builder]=] PROPERTIES  LABELS "sanitize" TIMEOUT "30" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/plan/CMakeLists.txt;2;tutti_test;/work/wt/buildsys/tests/plan/CMakeLists.txt;0;")
add_test([=[plan_text]=] "/work/wt/buildsys/bx/bin/test_plan_text")
set_tests_properties([=[plan_text]=] PROPERTIES  LABELS "sanitize" TIMEOUT "30" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/plan/CMakeLists.txt;3;tutti_test;/work/wt/buildsys/tests/plan/CMakeLists.txt;0;")
add_test([=[plan_checker]=] "/work/wt/buildsys/bx/bin/test_plan_checker")
set_tests_properties([=[plan_checker]=] PROPERTIES  LABELS "sanitize" TIMEOUT "30" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/plan/CMakeLists.txt;4;tutti_test;/work/wt/buildsys/tests/plan/CMakeLists.txt;0;")
add_test([=[plan_mutants]=] "/work/wt/buildsys/bx/bin/test_plan_mutants")
set_tests_properties([=[plan_mutants]=] PROPERTIES  LABELS "sanitize" TIMEOUT "30" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/plan/CMakeLists.txt;5;tutti_test;/work/wt/buildsys/tests/plan/CMakeLists.txt;0;")
