// SPDX-License-Identifier: BSD-3-Clause
// A stranger's program in C99.
#include <stdio.h>
#include <tutti/version.h>

int main(void) {
  printf("tutti %s: rank 1 is gone\n", TUTTI_VERSION);
  return 0;
}
