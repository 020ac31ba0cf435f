// SPDX-License-Identifier: BSD-3-Clause
// How a plan that combines elements makes sums that are rounded once. Either each element's contributions are combined
// at one place, one after the other: then they are kept until the last has come. Or the plan carries words that are
// summed as integers (exact/sums.hpp): then they are made before its first step and read after its last.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/layouts.hpp"
#include "tutti/types.hpp"

namespace tutti::engine {

struct Instruction;

/// What a call asks for.
struct ExactCall {
  enum class Way : std::uint8_t { at_one_place, as_words, folded };
  Way way = Way::at_one_place;
  Type type = Type::float64;  ///< A floating-point or complex type.
  Rank rank = 0, size = 1;
  Count gives = 0;         ///< Elements that this rank contributes; of a fold, where a layout says how they lie.
  Count takes = 0;         ///< Elements of its result, 0 where it has none.
  Count contributors = 1;  ///< Whose numbers are in its result.
  bool in_place = false;
  Layouts layouts{};  ///< The plan knows nothing of them: it works on packed copies.

  static constexpr Rank most_ranks = (1 << 20) - 1;
  static constexpr std::uint32_t word_bytes = 8;

  /// Numbers in an element.
  Count parts() const { return type == Type::complex64 || type == Type::complex128 ? 2 : 1; }
  /// Words of an element, where words travel.
  Count words() const;
  /// Of `elements` of the user's.
  std::size_t bytes(Count elements) const;
};

/// The same for one plan, with room in an operation's scratch memory.
class Exact {
 public:
  /// Adds what it needs to `scratch_bytes`. Throws Error (system) when the plan combines at more than one place.
  Exact(const ExactCall& call, const std::vector<Instruction>& instructions, std::size_t& scratch_bytes);

  /// Where the plan's input and output are: the user's, or in scratch.
  struct Ends {
    std::byte *input, *output;
  };
  /// Before the first step. `own`: elements of a fold.
  Ends begin(Ends ends, Count own, std::byte* scratch) const;
  /// A reduce step, or a piece of it that begins `done` bytes into its target.
  void reduce(std::size_t step, std::size_t done, const std::byte* source, std::byte* target, std::size_t bytes,
              std::byte* scratch) const;
  /// After the last step.
  void end(std::byte* scratch, std::byte* users) const;

 private:
  /// A reduce step's turn among those with the same target.
  struct Turn {
    std::uint32_t place = 0, of = 0;
    std::size_t kept = 0;   ///< Where what came before is kept, one after the other.
    std::size_t bytes = 0;  ///< Of each.
  };
  /// Words travel instead of the user's elements.
  bool travels() const { return call_.way != ExactCall::Way::at_one_place; }
  void find_turns(const std::vector<Instruction>& instructions, std::size_t& scratch_bytes);

  ExactCall call_;
  std::size_t input_ = 0, output_ = 0;  // of words that travel
  std::size_t given_ = 0, made_ = 0;    // packed copies of what is laid out
  std::vector<Turn> turns_;             // by step
};

}  // namespace tutti::engine
