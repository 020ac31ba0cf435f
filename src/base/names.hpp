// SPDX-License-Identifier: BSD-3-Clause
// How types and operations are called in messages. Collectives: tutti/call.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/call.hpp"
#include "tutti/types.hpp"

namespace tutti::base {

std::string_view name(Type type);
std::string_view name(Op op);

/// The name of a user's plan, as records have it: 16 characters, zeros after its end.
using Label = std::array<std::uint64_t, 2>;
inline constexpr std::size_t longest_label = sizeof(Label);
constexpr bool is_in_label(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
         letter == '_' || letter == '.' || letter == '-';
}
Label label_of(std::string_view name);
/// Any words may stand there: what is no letter, digit or one of "_.-" becomes a question mark.
std::string text_of(const Label& label);

/// "allreduce"; "plan halo" of a user's plan.
std::string name(Kind kind, const Label& label);

/// "allreduce(4 x float64, sum, root 0, by ring)", "plan halo(float64)": what a rank called, as its records have it
/// (host::Record). Any words may stand there. `by`: the algorithm, or a plan's name.
std::string call_text(std::uint64_t call, Count count, std::string_view by);

/// In what two calls do not match: "collective", or of one collective "type", "operation", "root", "count". Nothing
/// when it is none of these.
std::vector<std::string> differences(std::uint64_t call, Count count, std::uint64_t other, Count other_count);

/// "rank 3", "ranks 0-2, 5".
std::string list_ranks(std::span<const Rank> ascending);

}  // namespace tutti::base
