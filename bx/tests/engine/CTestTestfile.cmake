# CMake generated Testfile for 
# Source directory: /work/wt/buildsys/tests/engine
# Build directory: /work/wt/buildsys/bx/tests/engine
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
add_test([=[engine_reduction]=] "/work/wt/buildsys/bx/bin/test_engine_reduction")
set_tests_properties([=[engine_reduction]=] PROPERTIES  LABELS "sanitize" TIMEOUT "60" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/engine/CMakeLists.txt;2;tutti_test;/work/wt/buildsys/tests/engine/CMakeLists.txt;0;")
