// SPDX-License-Identifier: BSD-3-Clause
// What the shared library shows to the outside.
#pragma once

#define TUTTI_API __attribute__((visibility("default")))
