# CMake generated Testfile for 
# Source directory: /work/wt/buildsys/tests/launcher
# Build directory: /work/wt/buildsys/bx/tests/launcher
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
add_test([=[launcher_units]=] "/work/wt/buildsys/bx/bin/test_launcher_units")
set_tests_properties([=[launcher_units]=] PROPERTIES  LABELS "sanitize" TIMEOUT "60" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/launcher/CMakeLists.txt;2;tutti_test;/work/wt/buildsys/tests/launcher/CMakeLists.txt;0;")
add_test([=[launcher_run]=] "/work/wt/buildsys/bx/bin/test_launcher_run")
set_tests_properties([=[launcher_run]=] PROPERTIES  LABELS "sanitize-asan" RUN_SERIAL "TRUE" TIMEOUT "120" _BACKTRACE_TRIPLES "/work/wt/buildsys/cmake/Tests.cmake;18;add_test;/work/wt/buildsys/tests/launcher/CMakeLists.txt;8;tutti_test;/work/wt/buildsys/tests/launcher/CMakeLists.txt;0;")
