// SPDX-License-Identifier: BSD-3-Clause
// tutti.h is also a header for C++ of any standard; compiled, and never run.
#include "tutti/tutti.h"

tutti_status sum_of_one(tutti_group group, const double* in, double* out);

tutti_status sum_of_one(tutti_group group, const double* in, double* out) {
  tutti_request request = {NULL};
  const tutti_status started = tutti_iallreduce(group, in, out, 1, TUTTI_FLOAT64, TUTTI_SUM, &request);
  return started == TUTTI_OK ? tutti_wait(&request, -1) : started;
}
