// SPDX-License-Identifier: BSD-3-Clause
#include "words.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "tutti/error.hpp"

namespace tutti::command {

namespace {

constexpr Count largest = Count{1} << 30;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Digits alone; what stands behind them is left in `rest`.
std::optional<Count> digits(std::string_view text, std::string_view& rest) {
  Count value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return std::nullopt;
  rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return value;
}

template <class T>
std::vector<T> ascending(std::vector<T> values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  return values;
}

}  // namespace

Count read_size(const std::string& text) {
  std::string_view unit;
  const std::optional<Count> value = digits(text, unit);
  const Count factor = unit.empty() ? 1 : unit == "K" || unit == "k" ? 1 << 10 : unit == "M" ? 1 << 20 : 0;
  if (!value || factor == 0 || *value > largest / factor || *value * factor % 8 != 0)
    throw Error(Cause::usage, "\"" + text + "\" is not a size: a multiple of 8 bytes up to 1024M, as in 8, 64K or 4M");
  return *value * factor;
}

std::vector<Count> read_sizes(const std::string& text) {
  std::vector<Count> sizes;
  if (text.find(':') == std::string::npos) {
    for (const std::string& part : split(text, ',')) sizes.push_back(read_size(part));
    return ascending(std::move(sizes));
  }
  const std::vector<std::string> parts = split(text, ':');
  Count factor = 4;
  if (parts.size() == 3) {
    std::string_view rest;
    factor = digits(parts[2], rest).value_or(0);
    if (!rest.empty()) factor = 0;
  }
  if (parts.size() > 3 || factor < 2)
    throw Error(Cause::usage, "\"" + text + "\" is not FIRST:LAST or FIRST:LAST:FACTOR, as in 8:4M or 8:4M:2");
  const Count last = read_size(parts[1]);
  for (Count size = std::max<Count>(8, read_size(parts[0])); size < last; size *= factor) sizes.push_back(size);
  sizes.push_back(last);
  return ascending(std::move(sizes));
}

std::vector<Rank> read_ranks(const std::string& text) {
  std::vector<Rank> ranks;
  for (const std::string& part : split(text, ',')) {
    std::string_view rest;
    const std::optional<Count> value = digits(part, rest);
    if (!value || !rest.empty() || *value < 2 || *value > 1024)
      throw Error(Cause::usage, "\"" + text + "\" is not a list of numbers of ranks from 2 to 1024, as in 2,4,8");
    ranks.push_back(static_cast<Rank>(*value));
  }
  return ascending(std::move(ranks));
}

const collectives::Collective& read_collective(const std::string& name) {
  if (const collectives::Collective* collective = collectives::find(name)) return *collective;
  throw Error(Cause::usage, "no collective \"" + name + "\"; see tutti plan list");
}

}  // namespace tutti::command
