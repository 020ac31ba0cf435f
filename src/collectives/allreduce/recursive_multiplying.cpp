// SPDX-License-Identifier: BSD-3-Clause
// Recursive multiplying: groups of k ranks (radix) exchange all they have and combine it in the order of the ranks; the
// distance grows k-fold. Fewer rounds than recursive doubling, k - 1 messages in each. Any P: fold.hpp first leaves a
// team of k^a f ranks, f < k, which go in groups of f in the last round. Everybody combines alike: the same bits
// everywhere, and reductions need not commute. Latency: for short messages. Ruefenacht, Bull, Booth 2017, Parallel
// Computing, p. 24. Cost: ceil(log_k P) (alpha + (k - 1)(beta + gamma) n), and 2 (alpha + beta n) + gamma n to fold.
//
//     P = 7    0   1   2   3   4   5   6      k = 3: a team of 6
//     fold     0>1
//     round 0      1 = 2 = 3   4 = 5 = 6
//     round 1      1 = 4   2 = 5   3 = 6
//     unfold   0<1
#include "collectives/allreduce/fold.hpp"

namespace tutti::collectives::allreduce {
namespace {

class Multiplying {
 public:
  Multiplying(const Shape& shape, const Team& team, Rank radix)
      : team_(team), b_(shape), sum_(whole(shape)), ready_(team.take_in(b_, shape)) {
    const Rank others = std::min(radix, team.size()) - 1;
    for (Rank other = 0; other < others; ++other) arrivals_.push_back({b_.scratch(shape.count), {}});
    for (Count distance = 1; distance < team.size(); distance *= radix)
      exchange(static_cast<Rank>(distance), static_cast<Rank>(std::min<Count>(radix, team.size() / distance)));
    team_.hand_out(b_, shape, {ready_});
  }

  plan::Plan build() { return b_.build(); }

 private:
  /// What comes from another rank of a group, and the step after which its place may be written again.
  struct Arrival {
    Slice place;
    Handle used;
  };

  /// One round, in groups of `size` positions that lie `distance` apart.
  void exchange(Rank distance, Rank size) {
    const Rank here = team_.position() / distance % size;
    std::vector<Handle> sent, received;
    for (Rank other = 0; other < size; ++other) {
      if (other == here) continue;
      const Rank rank = team_.rank(team_.position() + (other - here) * distance);
      const Arrival& arrival = arrivals_[received.size()];
      sent.push_back(b_.send(rank, sum_).after(ready_));
      received.push_back(b_.recv(rank, arrival.place).after(arrival.used));
    }
    combine(static_cast<std::size_t>(here), sent, received);
  }

  /// Those before this rank in the place of the first, then this rank's own, then those behind it.
  void combine(std::size_t here, const std::vector<Handle>& sent, const std::vector<Handle>& received) {
    ready_ = received.front();
    for (std::size_t i = 1; i < here; ++i)
      arrivals_[i].used = ready_ =
          b_.reduce(arrivals_[i].place, arrivals_[0].place, Side::right).after({ready_, received[i]});
    if (here > 0)
      arrivals_[0].used = ready_ = b_.reduce(arrivals_[0].place, sum_, Side::left).after(sent).after(ready_);
    for (std::size_t i = here; i < received.size(); ++i)
      arrivals_[i].used = ready_ =
          b_.reduce(arrivals_[i].place, sum_, Side::right).after(sent).after({ready_, received[i]});
  }

  const Team& team_;
  Writer b_;
  Slice sum_;
  Handle ready_;  // when sum_ holds what has been combined so far
  std::vector<Arrival> arrivals_;
};

}  // namespace

plan::Plan recursive_multiplying(const Shape& shape) {
  constexpr Rank usual = 4;
  const Rank radix = shape.parameters.radix == 0 ? usual : std::max(shape.parameters.radix, 2);
  const Team team(shape, radix);
  if (!team.sits_out()) return Multiplying(shape, team, radix).build();
  Writer b(shape);
  team.sit_out(b, shape);
  return b.build();
}

}  // namespace tutti::collectives::allreduce
