/* SPDX-License-Identifier: BSD-3-Clause */
/* How busy the machine is, with everything on it: hosts that are namespaces of one machine share its cores. */
#ifndef VERSUS_LOAD_H
#define VERSUS_LOAD_H

/* Processor time so far, of all cores, in ticks. */
struct load {
  double busy, all;
};

struct load load_now(void);
/* The share of all cores that was busy since then, or -1 when no tick has passed (or none can be read). */
double busy_since(const struct load* begin);

#endif
