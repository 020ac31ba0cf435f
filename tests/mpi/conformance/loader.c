/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads a library of Fortran (module.f90) as Python does: late, and its names for nobody else. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  void* library = argc < 2 ? NULL : dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void (*solve)(void) = library == NULL ? NULL : (void (*)(void))dlsym(library, "solve");
  if (solve == NULL) return printf("%s\n", dlerror()) > 0;
  solve();
  MPI_Finalize();
  return 0;
}
