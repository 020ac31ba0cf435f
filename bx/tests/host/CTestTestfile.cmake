# CMake generated Testfile for 
# Source directory: /work/wt/buildsys/tests/host
# Build directory: /work/wt/buildsys/bx/tests/host
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
add_test([=[host_segment]=] "/work/wt/buildsys/bx/bin/test_host_segment")
set_tests_properties([=[host_segment]=] PROPERTIES  LABELS "sanitize-asan" RUN_SERIAL "TRUE" TIMEOUT "60" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/host/CMakeLists.txt;2;tutti_test;/work/wt/buildsys/tests/host/CMakeLists.txt;0;")
add_test([=[host_board]=] "/work/wt/buildsys/bx/bin/test_host_board")
set_tests_properties([=[host_board]=] PROPERTIES  LABELS "sanitize" TIMEOUT "30" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/host/CMakeLists.txt;3;tutti_test;/work/wt/buildsys/tests/host/CMakeLists.txt;0;")
add_test([=[host_protocol]=] "/work/wt/buildsys/bx/bin/test_host_protocol")
set_tests_properties([=[host_protocol]=] PROPERTIES  TIMEOUT "60" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/host/CMakeLists.txt;4;tutti_test;/work/wt/buildsys/tests/host/CMakeLists.txt;0;")
add_test([=[host_waiting]=] "/work/wt/buildsys/bx/bin/test_host_waiting")
set_tests_properties([=[host_waiting]=] PROPERTIES  LABELS "sanitize" RUN_SERIAL "TRUE" TIMEOUT "120" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/host/CMakeLists.txt;5;tutti_test;/work/wt/buildsys/tests/host/CMakeLists.txt;0;")
add_test([=[host_topology]=] "/work/wt/buildsys/bx/bin/test_host_topology")
set_tests_properties([=[host_topology]=] PROPERTIES  LABELS "sanitize" TIMEOUT "30" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/host/CMakeLists.txt;6;tutti_test;/work/wt/buildsys/tests/host/CMakeLists.txt;0;")
