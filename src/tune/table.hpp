// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm runs: a plain table, read by people and by programs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/collective.hpp"

namespace tutti::tune {

/// Parameters of an algorithm. Segments are of bytes, to be as long whatever the type.
struct Parameters {
  Count segment = 0;  ///< 0 = the algorithm's own choice, as of the radix.
  int radix = 0;
  bool operator==(const Parameters&) const = default;

  /// As a plan for elements of so many bytes takes them.
  collectives::Parameters of_elements(std::size_t bytes) const {
    return {segment > 0 ? std::max<Count>(segment / static_cast<Count>(bytes), 1) : 0, radix};
  }
};

/// What runs: a position in collectives::algorithms(), and its parameters.
struct Choice {
  std::int32_t algorithm = -1;
  Parameters parameters;
};

/// Lines "collective  bytes  ranks  algorithm[:segment=N,radix=N]": the first line of the collective whose two limits
/// are not exceeded, and whose algorithm can be used, is taken. A limit "-" is none; K, M and G are powers of 1024. The
/// bytes are those of one rank's agreed count; forms without an agreed count have 0. # starts a comment.
class Table {
 public:
  /// Throws Error (usage) that names the line.
  static Table parse(std::string_view text);
  /// Puts these lines behind those that are there; `one_host`: they hold for groups on one host alone. Throws Error
  /// (usage) that names the line.
  void add(std::string_view text, bool one_host);
  /// What the standard table asks about where a job runs.
  struct Conditions {
    std::string processor{};      ///< By its maker's name.
    std::size_t cache = 0;        ///< Bytes of the largest that cores share; 0: unknown.
    int ranks_per_core = 1;       ///< Where hosts share the cores of a machine.
    std::uint64_t link_rate = 0;  ///< Bits per second of the slowest link between hosts; 0: unknown.
    bool by_mpi = false;          ///< Messages between hosts are an MPI's.
  };
  /// The table that comes with Tutti. On processors of a maker whose caches want something else, lines for them go
  /// before the others.
  static std::string standard(const Conditions& conditions);

  struct Line {
    Kind kind;
    Count bytes;
    Count ranks;
    Choice choice;
    bool one_host = false;  ///< Was measured there, and says nothing about a group on several.
  };
  /// A limit that is none.
  static constexpr Count unlimited = std::numeric_limits<Count>::max();

  std::span<const Line> lines() const { return lines_; }
  /// The line that is taken. Throws Error (usage) when no line applies.
  const Line& line(const collectives::Shape& shape, Kind kind, Count bytes, bool single_copy) const;
  /// What it says.
  Choice choose(const collectives::Shape& shape, Kind kind, Count bytes, bool single_copy) const {
    return line(shape, kind, bytes, single_copy).choice;
  }

 private:
  std::vector<Line> lines_;
};

/// "ring" or "chain:segment=4096,radix=3" for one collective. Throws Error (usage) that lists what there is.
Choice named(Kind kind, std::string_view text);

/// The same back: "chain:segment=4096".
std::string text_of(const Choice& choice);
/// A line as a table has it, without its end.
std::string text_of(const Table::Line& line);
/// "allreduce=ring bcast=chain:segment=1024" (TUTTI_ALGORITHMS) as table lines. Throws Error (usage).
std::string lines_of(std::string_view overrides);

}  // namespace tutti::tune
