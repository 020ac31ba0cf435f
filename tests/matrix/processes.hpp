// SPDX-License-Identifier: BSD-3-Clause
// Ranks as forked processes over a segment, or over one for each pretended host, without a launcher: for tests that
// look at exit statuses.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tutti/group.hpp"

namespace tutti::matrix {

struct ProcessOptions {
  std::string algorithms = {};
  bool single_copy = true;
  int cores = 2;
  /// The host of each rank, numbered by their lowest ranks; empty: all share one. Others are reached by TCP.
  std::vector<Rank> hosts = {};
};

/// Forks `size` processes, runs `body` in each, and returns what each printed as its failure ("" = none; "killed by
/// signal 9", an exception's text, or "did not end" after `seconds`, when it is killed).
std::vector<std::string> run_processes(int size, const ProcessOptions& options, int seconds,
                                       const std::function<void(Group world)>& body);

}  // namespace tutti::matrix
