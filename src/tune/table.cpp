// SPDX-License-Identifier: BSD-3-Clause
#include "tune/table.hpp"

#include <charconv>
#include <optional>
#include <utility>

#include "base/words.hpp"
#include "collectives/hosts.hpp"
#include "tutti/error.hpp"

namespace tutti::tune {

using collectives::Algorithm;
using collectives::algorithms;

namespace {

constexpr std::string_view blanks = " \t";

[[noreturn]] void refuse(const std::string& text) { throw Error(Cause::usage, text); }

/// Cuts the first word off.
std::string_view word(std::string_view& rest) {
  const std::size_t begin = std::min(rest.find_first_not_of(blanks), rest.size());
  const std::size_t end = std::min(rest.find_first_of(blanks, begin), rest.size());
  const std::string_view found = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return found;
}

std::optional<Count> number(std::string_view text) {
  Count value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const int shift = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : unit.empty() ? 0 : -1;
  if (shift < 0 || value > (Table::unlimited >> shift)) return std::nullopt;
  return value << shift;
}

std::optional<Count> limit(std::string_view text) { return text == "-" ? Table::unlimited : number(text); }

std::string text_of_limit(Count value) {
  if (value == Table::unlimited) return "-";
  int shift = 0;
  while (shift < 30 && value != 0 && value % 1024 == 0) value /= 1024, shift += 10;
  constexpr std::string_view units[] = {"", "K", "M", "G"};
  return std::to_string(value) + std::string(units[shift / 10]);
}

std::string names(Kind kind) {
  std::string list;
  for (const Algorithm& algorithm : algorithms())
    if (algorithm.kind == kind) base::add_word(list, algorithm.name);
  return list;
}

}  // namespace

Choice named(Kind kind, std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const Algorithm* found = collectives::find(kind, name);
  const std::string collective(name_of(kind));
  if (found == nullptr)
    refuse(collective + " has no algorithm \"" + std::string(name) + "\"; there are " + names(kind));
  Choice choice{static_cast<std::int32_t>(found - algorithms().data()), {}};
  std::string_view rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    const std::size_t equals = std::min(item.find('='), item.size());
    const auto value = number(item.substr(std::min(equals + 1, item.size())));
    if (item.substr(0, equals) == "segment" && value)
      choice.parameters.segment = *value;
    else if (item.substr(0, equals) == "radix" && value && *value >= 1 && *value <= 1024)
      choice.parameters.radix = static_cast<int>(*value);
    else
      refuse("\"" + std::string(item) + "\" is no parameter of " + collective +
             "; write segment=N or radix=N (1..1024)");
  }
  return choice;
}

std::string text_of(const Choice& choice) {
  std::string text(algorithms()[static_cast<std::size_t>(choice.algorithm)].name);
  const auto [segment, radix] = choice.parameters;
  if (segment != 0) text += ":segment=" + std::to_string(segment);
  if (radix != 0) text += (segment != 0 ? ",radix=" : ":radix=") + std::to_string(radix);
  return text;
}

std::string text_of(const Table::Line& line) {
  return std::string(name_of(line.kind)) + " " + text_of_limit(line.bytes) + " " + text_of_limit(line.ranks) + " " +
         text_of(line.choice);
}

std::string lines_of(std::string_view overrides) {
  std::string text;
  while (overrides.find_first_not_of(" \t,") != std::string_view::npos) {
    overrides.remove_prefix(overrides.find_first_not_of(" \t,"));
    const std::string_view item = word(overrides);
    const std::size_t equals = item.find('=');
    const collectives::Collective* collective = collectives::find(item.substr(0, equals));
    if (equals == std::string_view::npos || collective == nullptr)
      refuse("TUTTI_ALGORITHMS: \"" + std::string(item) + "\" is not collective=algorithm, as in allreduce=ring");
    named(collective->kind, item.substr(equals + 1));
    text += std::string(name_of(collective->kind)) + " - - " + std::string(item.substr(equals + 1)) + "\n";
  }
  return text;
}

Table Table::parse(std::string_view text) {
  Table table;
  table.add(text, false);
  return table;
}

void Table::add(std::string_view text, bool one_host) {
  for (int number_of_line = 1; !text.empty(); ++number_of_line) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = line.substr(0, line.find('#'));
    const std::string_view name = word(line);
    if (name.empty()) continue;
    const collectives::Collective* collective = collectives::find(name);
    const auto bytes = limit(word(line)), ranks = limit(word(line));
    const std::string_view algorithm = word(line);
    if (collective == nullptr || !bytes || !ranks || algorithm.empty() || !word(line).empty())
      refuse("line " + std::to_string(number_of_line) +
             " of the table of algorithms is not \"collective bytes ranks algorithm\", as in \"bcast 32K - binomial\"");
    lines_.push_back({collective->kind, *bytes, *ranks, named(collective->kind, algorithm), one_host});
  }
}

const Table::Line& Table::line(const collectives::Shape& shape, Kind kind, Count bytes, bool single_copy) const {
  for (const Line& line : lines_)
    if (line.kind == kind && bytes <= line.bytes && shape.size <= line.ranks &&
        !(line.one_host && collectives::spans_hosts(shape)) &&
        collectives::applies(algorithms()[static_cast<std::size_t>(line.choice.algorithm)], shape, single_copy))
      return line;
  refuse("the table of algorithms has no line for " + std::string(name_of(kind)) + " of " + std::to_string(bytes) +
         " bytes on " + std::to_string(shape.size) + " ranks; add one with limits \"-\"");
}

}  // namespace tutti::tune
