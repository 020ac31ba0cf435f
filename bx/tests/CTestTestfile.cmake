# CMake generated Testfile for 
# Source directory: /work/wt/buildsys/tests
# Build directory: /work/wt/buildsys/bx/tests
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
subdirs("plan")
subdirs("collectives")
subdirs("transport")
subdirs("engine")
subdirs("host")
subdirs("matrix")
subdirs("launch")
subdirs("launcher")
subdirs("c")
