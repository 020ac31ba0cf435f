# CMake generated Testfile for 
# Source directory: /work/wt/buildsys/tests/launch
# Build directory: /work/wt/buildsys/bx/tests/launch
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
add_test([=[launch]=] "/work/wt/buildsys/bx/bin/test_launch")
set_tests_properties([=[launch]=] PROPERTIES  LABELS "sanitize;valgrind" TIMEOUT "60" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/launch/CMakeLists.txt;2;tutti_test;/work/wt/buildsys/tests/launch/CMakeLists.txt;0;")
