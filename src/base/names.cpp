// SPDX-License-Identifier: BSD-3-Clause
#include "base/names.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace tutti::base {
namespace {

template <std::size_t N, class E>
std::string_view entry(const std::array<std::string_view, N>& names, E value) {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : "unknown";
}

constexpr std::array<std::string_view, 24> types = {
    "opaque",        "int8",           "int16",          "int32",          "int64",           "uint8",
    "uint16",        "uint32",         "uint64",         "float32",        "float64",         "bool",
    "complex64",     "complex128",     "located int8",   "located int16",  "located int32",   "located int64",
    "located uint8", "located uint16", "located uint32", "located uint64", "located float32", "located float64"};
constexpr std::array<std::string_view, 14> ops = {"none", "sum",  "prod", "min",  "max",    "land",   "lor",
                                                  "lxor", "band", "bor",  "bxor", "minloc", "maxloc", "user function"};
constexpr std::array<std::string_view, operations> collectives = {"barrier",
                                                                  "bcast",
                                                                  "reduce",
                                                                  "allreduce",
                                                                  "gather",
                                                                  "gatherv",
                                                                  "scatter",
                                                                  "scatterv",
                                                                  "allgather",
                                                                  "allgatherv",
                                                                  "alltoall",
                                                                  "alltoallv",
                                                                  "reduce_scatter_block",
                                                                  "reduce_scatter",
                                                                  "scan",
                                                                  "exscan",
                                                                  "alltoallw",
                                                                  "neighbor_allgather",
                                                                  "neighbor_allgatherv",
                                                                  "neighbor_alltoall",
                                                                  "neighbor_alltoallv",
                                                                  "neighbor_alltoallw",
                                                                  "neighbor_reduce",
                                                                  "sparse_exchange",
                                                                  "plan"};

}  // namespace

std::string_view name(Type type) { return entry(types, type); }
std::string_view name(Op op) { return entry(ops, op); }

Label label_of(std::string_view name) {
  Label label{};
  std::memcpy(label.data(), name.data(), std::min(name.size(), longest_label));
  return label;
}

std::string text_of(const Label& label) {
  std::array<char, longest_label> letters;
  std::memcpy(letters.data(), label.data(), longest_label);
  std::string text(letters.begin(), std::ranges::find(letters, '\0'));
  std::ranges::replace_if(
      text, [](char letter) { return !is_in_label(letter); }, '?');
  return text;
}

std::string name(Kind kind, const Label& label) {
  return std::string(name_of(kind)) + (kind == Kind::plan ? " " + text_of(label) : "");
}

std::string call_text(std::uint64_t call, Count count, std::string_view by) {
  const auto op = static_cast<Op>(static_cast<std::uint8_t>(call >> 16));
  const auto kind = static_cast<Kind>(static_cast<std::uint8_t>(call));
  std::string text(name_of(kind));
  text += kind == Kind::plan ? " " + std::string(by) + "(" : "(" + std::to_string(count) + " x ";
  text += name(static_cast<Type>(static_cast<std::uint8_t>(call >> 8)));
  const auto exact = static_cast<Exactness>(static_cast<std::uint8_t>(call >> 24));
  if (op != Op::none) text += exact == Exactness::none ? ", " : ", exact ";
  if (op != Op::none) text += name(op);
  if (exact == Exactness::folded) text += " of whole arrays";
  if (kind == Kind::plan) return text + ")";
  text += ", root " + std::to_string(static_cast<Rank>(call >> 32));
  if (!by.empty()) text += ", by " + std::string(by);
  return text + ")";
}

std::vector<std::string> differences(std::uint64_t call, Count count, std::uint64_t other, Count other_count) {
  const std::uint64_t changed = call ^ other;
  const auto differs = [changed](int first_bit, std::uint64_t mask) { return (changed >> first_bit & mask) != 0; };
  if (differs(0, 0xff)) return {"collective"};
  std::vector<std::string> found;
  if (differs(8, 0xff)) found.emplace_back("type");
  if (differs(16, 0xffff)) found.emplace_back("operation");  // and how exact it is
  if (differs(32, 0xffffffff)) found.emplace_back("root");
  if (count != other_count) found.emplace_back("count");
  return found;
}

std::string list_ranks(std::span<const Rank> ascending) {
  std::string text = ascending.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t end = i + 1;
    while (end < ascending.size() && ascending[end] == ascending[end - 1] + 1) ++end;
    text.append(i == 0 ? "" : ", ").append(std::to_string(ascending[i]));
    if (end - i > 1) text.append(end - i == 2 ? ", " : "-").append(std::to_string(ascending[end - 1]));
    i = end;
  }
  return text;
}

}  // namespace tutti::base

namespace tutti {

std::string_view name_of(Kind kind) { return base::entry(base::collectives, kind); }

std::optional<Kind> kind_named(std::string_view name) {
  const auto* const end = base::collectives.begin() + kinds;
  const auto* const found = std::find(base::collectives.begin(), end, name);
  return found == end ? std::nullopt : std::optional(static_cast<Kind>(found - base::collectives.begin()));
}

}  // namespace tutti
