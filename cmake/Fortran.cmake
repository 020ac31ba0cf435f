# SPDX-License-Identifier: BSD-3-Clause
# The Fortran module is installed as source, since its compiled form fits one compiler alone. It is made here from one table.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
set(sources ${PROJECT_SOURCE_DIR}/bindings/fortran)
set(written descriptors.h descriptors.c layouts.c topology.c)
set(TUTTI_FORTRAN_SOURCES ${PROJECT_BINARY_DIR}/fortran)
file(MAKE_DIRECTORY ${TUTTI_FORTRAN_SOURCES})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources}/generate.py ${sources}/tutti.f90.in)
execute_process(COMMAND ${Python3_EXECUTABLE} ${sources}/generate.py ${sources}/tutti.f90.in
                        ${TUTTI_FORTRAN_SOURCES}/tutti.f90 ${TUTTI_FORTRAN_SOURCES}/collectives.c
                COMMAND_ERROR_IS_FATAL ANY)
foreach(file ${written})
  configure_file(${sources}/${file} ${TUTTI_FORTRAN_SOURCES}/${file} COPYONLY)
endforeach()

set(fortran_home ${CMAKE_INSTALL_DATADIR}/tutti/fortran)
list(TRANSFORM written PREPEND ${TUTTI_FORTRAN_SOURCES}/)
install(FILES ${TUTTI_FORTRAN_SOURCES}/tutti.f90 ${TUTTI_FORTRAN_SOURCES}/collectives.c ${written}
              ${sources}/CMakeLists.txt
        DESTINATION ${fortran_home} COMPONENT development)
