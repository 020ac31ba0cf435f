// SPDX-License-Identifier: BSD-3-Clause
// One case of the matrix: a collective, an algorithm and a form on real memory, judged by the collective's contract.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/collective.hpp"
#include "tutti/group.hpp"

namespace tutti::matrix {

enum class Form { blocking, request };

struct Case {
  collectives::Problem problem;
  const collectives::Algorithm* algorithm = nullptr;
  Form form = Form::blocking;
};

/// Runs the case on this rank and compares every byte of its buffers, guards included, with what the contract says.
/// Throws std::runtime_error that names the case and the first wrong element.
void run(const Group& group, const Case& the_case);

/// All cases for a group: collectives x algorithms x forms x roots x counts x in place x order of reduction.
/// `roots`: how many roots to try (all when >= size).
std::vector<Case> cases(Rank size, const std::vector<Count>& counts, int roots, bool board, bool single_copy);

std::string name(const Case& the_case);

}  // namespace tutti::matrix
