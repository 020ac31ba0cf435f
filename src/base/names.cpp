// SPDX-License-Identifier: BSD-3-Clause
#include "base/names.hpp"

#include <array>

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
constexpr std::array<std::string_view, kinds> collectives = {"barrier",
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
                                                             "exscan"};

}  // namespace

std::string_view name(Type type) { return entry(types, type); }
std::string_view name(Op op) { return entry(ops, op); }
std::string_view name(Kind kind) { return entry(collectives, kind); }

}  // namespace tutti::base
