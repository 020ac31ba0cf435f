// SPDX-License-Identifier: BSD-3-Clause
// Plans as text, one verb a line, in the spirit of GOAL:
//
//   rank 2 of 5 scratch 10 ring small cells 1
//   s0: recv 10 from 0 #0 -> output[0..10)
//   s1: send output[0..10) to 3 #0 after s0
//   s2: publish 0 shared[2]#0[0..8)
//   s3: await all 0 expects 8
//   s4: reduce shared[1]#0[0..8) -> scratch[0..8) right after s0 s3
//   s5: copy scratch[0..8) -> output[0..8) after any s4 s1
//   s6: release 0 after s4
//
// Empty lines and lines that begin with // are skipped. A label is any word; it must stand before its use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace tutti::plan {

/// The plan as text. parse(print(plan)) is the same plan.
std::string print(const Plan& plan);

/// One step as text, without label and edges.
std::string print(const Step& step);

/// The plan that the text describes. Throws Error (usage) that names the line for anything malformed: unknown words,
/// numbers that overflow, ranks, cells and labels that do not exist. Takes memory in proportion to the text alone.
Plan parse(std::string_view text);

/// The plans of several ranks, one after the other; each begins with its line "rank ...". Throws as parse.
std::vector<Plan> parse_all(std::string_view text);

/// The words of the text form.
std::string_view word(Verb verb);
std::string_view word(Buffer buffer);
std::string_view word(Ring ring);

}  // namespace tutti::plan
