# CMake generated Testfile for 
# Source directory: /work/wt/buildsys/tests/c
# Build directory: /work/wt/buildsys/bx/tests/c
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
add_test([=[c_inproc]=] "/work/wt/buildsys/bx/bin/test_c_inproc")
set_tests_properties([=[c_inproc]=] PROPERTIES  LABELS "sanitize" RUN_SERIAL "TRUE" TIMEOUT "300" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/c/CMakeLists.txt;9;tutti_test;/work/wt/buildsys/tests/c/CMakeLists.txt;0;")
