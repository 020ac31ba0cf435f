// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms and TUTTI_ALGORITHMS. Input: the overrides, a line with "===", the table.
#include <cstdint>
#include <cstdlib>

#include "tune/table.hpp"
#include "tutti/error.hpp"

namespace {

using namespace tutti;

/// A line that is written as a table has it is read back as the same line.
void write(const tune::Table& table) {
  for (const tune::Table::Line& line : table.lines()) {
    const std::string text = tune::text_of(line);
    const tune::Table again = tune::Table::parse(text + "\n");
    if (again.lines().size() != 1 || tune::text_of(again.lines().front()) != text) std::abort();
  }
}

/// Whatever a table says, what it chooses can be used.
void choose(const tune::Table& table) {
  for (const Rank size : {1, 2, 5, 8})
    for (const Count count : {Count{0}, Count{10}, Count{100'000}})
      for (const collectives::Collective& collective : collectives::all()) {
        collectives::Shape shape;
        shape.size = size;
        shape.count = count;
        shape.cell.small = 12;
        shape.cell.large = 2048;
        try {
          const tune::Choice choice = table.choose(shape, collective.kind, 8 * count, true);
          const auto& algorithm = collectives::algorithms()[static_cast<std::size_t>(choice.algorithm)];
          if (algorithm.kind != collective.kind || !collectives::applies(algorithm, shape, true)) std::abort();
        } catch (const Error& error) {
          if (error.cause() != Cause::usage) std::abort();
        }
      }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view cut = "\n===\n";
  const std::size_t at = std::min(text.find(cut), text.size());
  try {
    std::string lines = tune::lines_of(text.substr(0, at));
    tune::Table::parse(lines);
    lines += text.substr(std::min(at + cut.size(), text.size()));
    const tune::Table table = tune::Table::parse(lines);
    write(table);
    choose(table);
  } catch (const Error& error) {
    if (error.cause() != Cause::usage) std::abort();
  }
  return 0;
}
