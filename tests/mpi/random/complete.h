/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMPLETE_H
#define COMPLETE_H

#include "operation.h"

enum { MOST_OPERATIONS = 48 };

/* Completes all of these operations that are active here, by a random member of the families Wait, Test and
 * Request_get_status. What it hands to MPI may hold null requests and inactive ones too. */
void complete(struct operation** operations, int count, struct draw* own);

#endif
