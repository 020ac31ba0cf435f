# CMake generated Testfile for 
# Source directory: /work/wt/buildsys/tests/matrix
# Build directory: /work/wt/buildsys/bx/tests/matrix
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
add_test([=[matrix_inproc]=] "/work/wt/buildsys/bx/bin/test_matrix_inproc")
set_tests_properties([=[matrix_inproc]=] PROPERTIES  RUN_SERIAL "TRUE" TIMEOUT "300" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/matrix/CMakeLists.txt;4;tutti_test;/work/wt/buildsys/tests/matrix/CMakeLists.txt;0;")
add_test([=[matrix_shm]=] "/work/wt/buildsys/bx/bin/test_matrix_shm")
set_tests_properties([=[matrix_shm]=] PROPERTIES  RUN_SERIAL "TRUE" TIMEOUT "600" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/matrix/CMakeLists.txt;5;tutti_test;/work/wt/buildsys/tests/matrix/CMakeLists.txt;0;")
