// SPDX-License-Identifier: BSD-3-Clause
// Scans in shares of the data: what scan and exscan have in common.
#pragma once

#include "collectives/board.hpp"

namespace tutti::collectives::scan {

/// Everybody makes the results of all ranks for one share of the data; then everybody collects its own.
/// `own`: 1 if a rank's result has its own data in it (scan), else 0 (exscan).
plan::Plan by_shares(const Shape& shape, Rank own);

}  // namespace tutti::collectives::scan
