/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERSUS_CLOCK_H
#define VERSUS_CLOCK_H

/* Seconds of the machine's clock, which all ranks of a host share, and all hosts that are namespaces of one machine. */
double now(void);

#endif
