// SPDX-License-Identifier: BSD-3-Clause
// One case of the matrix: a collective, an algorithm and a form on real memory, judged by the collective's contract.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/collective.hpp"
#include "tutti/group.hpp"

namespace tutti::matrix {

enum class Form { blocking, request, persistent };
inline constexpr std::array<std::string_view, 3> forms = {"blocking", "request", "persistent"};

struct Case {
  collectives::Problem problem;
  const collectives::Algorithm* algorithm = nullptr;
  Form form = Form::blocking;
  int layouts = 0;  ///< 0: everything lies side by side; else which ranks' buffers are arranged how.
  /// Ranks whose number divided by this leaves 0 have their buffers in memory of the host (tutti::allocate); 0: nobody.
  /// They give it back, and so fill it with zeros, as soon as the call is over.
  Rank lent = 0;
};

/// What a test of faults does in the middle of a case.
struct Hooks {
  std::function<void()> before_wait = {};        ///< Called between start and wait, where those are two.
  std::optional<Duration> limit = std::nullopt;  ///< Of that wait.
  std::function<void()> reducing = {};           ///< Called by the user's function of a case that is not commutative.
  /// Instead of the library's collective: a wrong one, which shows that this oracle sees what is wrong.
  std::function<void(const Group&, const Call&)> instead = {};
};

/// A value of several contributions, combined: the same on many ranks.
struct Folded {
  plan::Value value;
  std::vector<std::byte> bytes;
};

/// What all ranks of a problem call and must find. Where many ranks share a process they share it too: making it costs
/// more than running the case.
class Expected {
 public:
  explicit Expected(const collectives::Problem& problem);
  /// nullptr where there is one contribution alone.
  const Folded* find(const plan::Piece& piece) const;

  collectives::Shapes shapes;
  plan::Contract contract;

 private:
  std::vector<Folded> folded_;
};

/// Gives this very group the problem's neighbours, so that it, and no group made of it, is the one that breaks. How
/// users make graphs is tested elsewhere.
void give_neighbors(const Group& group, const collectives::Problem& problem);

/// Runs the case on this rank and compares every byte of its buffers, guards included, with what the contract says.
/// Throws std::runtime_error that names the case and the first wrong element.
void run(const Group& group, const Case& the_case, const Hooks& hooks = {});
void run(const Group& group, const Case& the_case, const Expected& expected, const Hooks& hooks = {});

/// All cases for a group: collectives x algorithms x forms x roots x counts x in place x order of reduction.
/// `roots`: how many roots to try (all when >= size), and one graph more;  `only`: of one collective; `hosts`: of each
/// rank, if there are several.
std::vector<Case> cases(Rank size, const std::vector<Count>& counts, int roots, bool board, bool single_copy,
                        std::optional<Kind> only = {}, std::span<const Rank> hosts = {});

/// The same cases on buffers whose elements lie apart, each rank's in its own way.
std::vector<Case> laid_out(std::vector<Case> cases, int layouts);

/// The same cases with buffers in memory of the host.
std::vector<Case> lent(std::vector<Case> cases, Rank every);

/// The same cases with these parameters.
std::vector<Case> with(const collectives::Parameters& parameters, std::vector<Case> cases);

std::string name(const Case& the_case);

}  // namespace tutti::matrix
