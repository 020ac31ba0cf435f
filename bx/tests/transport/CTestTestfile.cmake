# CMake generated Testfile for 
# Source directory: /work/wt/buildsys/tests/transport
# Build directory: /work/wt/buildsys/bx/tests/transport
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
add_test([=[transport_parts]=] "/work/wt/buildsys/bx/bin/test_transport_parts")
set_tests_properties([=[transport_parts]=] PROPERTIES  LABELS "sanitize" TIMEOUT "60" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/transport/CMakeLists.txt;2;tutti_test;/work/wt/buildsys/tests/transport/CMakeLists.txt;0;")
add_test([=[transport_wire]=] "/work/wt/buildsys/bx/bin/test_transport_wire")
set_tests_properties([=[transport_wire]=] PROPERTIES  LABELS "sanitize-asan" TIMEOUT "60" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/transport/CMakeLists.txt;4;tutti_test;/work/wt/buildsys/tests/transport/CMakeLists.txt;0;")
add_test([=[transport_inproc]=] "/work/wt/buildsys/bx/bin/test_transport_inproc")
set_tests_properties([=[transport_inproc]=] PROPERTIES  LABELS "sanitize" RUN_SERIAL "TRUE" TIMEOUT "120" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/transport/CMakeLists.txt;8;tutti_test;/work/wt/buildsys/tests/transport/CMakeLists.txt;0;")
add_test([=[transport_shm]=] "/work/wt/buildsys/bx/bin/test_transport_shm")
set_tests_properties([=[transport_shm]=] PROPERTIES  LABELS "sanitize-asan" RUN_SERIAL "TRUE" TIMEOUT "120" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/transport/CMakeLists.txt;9;tutti_test;/work/wt/buildsys/tests/transport/CMakeLists.txt;0;")
