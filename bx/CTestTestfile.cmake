# CMake generated Testfile for 
# Source directory: /work/wt/buildsys
# Build directory: /work/wt/buildsys/bx
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
subdirs("src")
subdirs("bindings")
subdirs("tools")
subdirs("bench")
subdirs("tests")
