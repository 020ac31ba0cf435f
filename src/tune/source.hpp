// SPDX-License-Identifier: BSD-3-Clause
// Where the table comes from: what was measured on this machine, what TUTTI_TABLE names, or the one that comes with
// Tutti.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tune/table.hpp"

namespace tutti::tune {

/// What a table was measured on, as far as the choice depends on it.
struct Machine {
  std::string processor;
  int cores = 1;             ///< Usable by all ranks of a job together.
  bool single_copy = false;  ///< Processes may read each other's memory.
  std::size_t cache = 0;     ///< Bytes of the largest that its cores share, as it says with its name; 0: unknown.

  std::string text() const;  ///< "Intel(R) Xeon(R) Processor, 2 cores, single copy"
  std::string key() const;   ///< The same as a name of a file, without what is no letter or digit.
  Table::Conditions conditions() const { return {.processor = processor, .cache = cache}; }
};

/// The processor by its maker's name. `root` lets tests point at a made-up file tree.
std::string processor(const std::string& root = "/");

/// What a table is made from: lines that somebody measured or wrote, and the standard table, which holds for what they
/// leave open.
struct Source {
  std::string lines;               ///< That go before the standard ones. Without comments.
  std::string name;                ///< "standard", or the path of a file.
  std::string why;                 ///< One sentence, for `tutti info`.
  std::string trouble;             ///< What is wrong with this machine's file, which is ignored then; else empty.
  Table::Conditions conditions{};  ///< Of the standard table.
  bool asked_for = false;          ///< TUTTI_TABLE says which, not what was measured here: it holds between hosts, too.

  /// With these lines before its own.
  Table table(std::string_view first) const;
};

/// Where `tutti tune` writes what it found on such a machine: $XDG_CACHE_HOME/tutti/<key>.table, or below ~/.cache.
/// Empty where the environment names neither.
std::string table_path(const Machine& machine);

/// The whole file: says what it was measured on, and ends with a line that shows that it is complete.
std::string file_text(const Machine& machine, std::string_view remarks, std::string_view lines);

/// What the environment says, else this machine's file, else the standard table. Throws Error (usage) when TUTTI_TABLE
/// names a file that is no table; this machine's file never throws.
Source find_table(const Machine& machine);

}  // namespace tutti::tune
