# CMake generated Testfile for 
# Source directory: /work/wt/buildsys/tests/collectives
# Build directory: /work/wt/buildsys/bx/tests/collectives
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
add_test([=[collectives]=] "/work/wt/buildsys/bx/bin/test_collectives")
set_tests_properties([=[collectives]=] PROPERTIES  LABELS "sanitize" TIMEOUT "60" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/collectives/CMakeLists.txt;2;tutti_test;/work/wt/buildsys/tests/collectives/CMakeLists.txt;0;")
add_test([=[check_sweep]=] "/work/wt/buildsys/bx/bin/test_check_sweep")
set_tests_properties([=[check_sweep]=] PROPERTIES  RUN_SERIAL "TRUE" TIMEOUT "600" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/collectives/CMakeLists.txt;5;tutti_test;/work/wt/buildsys/tests/collectives/CMakeLists.txt;0;")
add_test([=[mutant_sweep]=] "/work/wt/buildsys/bx/bin/test_mutant_sweep")
set_tests_properties([=[mutant_sweep]=] PROPERTIES  RUN_SERIAL "TRUE" TIMEOUT "300" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/collectives/CMakeLists.txt;6;tutti_test;/work/wt/buildsys/tests/collectives/CMakeLists.txt;0;")
