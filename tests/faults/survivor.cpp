// SPDX-License-Identifier: BSD-3-Clause
#include "survivor.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "base/clock.hpp"
#include "base/names.hpp"
#include "inside.hpp"
#include "tutti/tutti.hpp"

namespace tutti::faults {
namespace {

constexpr int batches = 4, steps = 10;

class Life {
 public:
  Life(const Group& world, const Fate& fate, const std::function<void(const std::string&)>& say)
      : group_(world), say_(say), me_(world.rank()), ranks_(static_cast<std::size_t>(world.size())) {
    std::iota(ranks_.begin(), ranks_.end(), 0);
    const auto mine = std::ranges::find(fate.deaths, me_, &Fate::Death::rank);
    if (mine != fate.deaths.end()) death_ = *mine;
  }

  std::uint64_t run() {
    for (int batch = 0; batch < batches; ++batch) {
      const bool worked = work();
      meet(Fate::During::agree);
      const bool all = group_.agree(worked);
      say_(std::string("agree ") + (all ? "yes" : "no") + ", lost " + base::list_ranks(group_.lost()));
      if (!all || !group_.lost().empty()) shrink();
    }
    death_.rank = -1;
    try {
      group_.barrier();
    } catch (const PeerLost&) {  // it was to die a while ago
    }
    return longest_;
  }

 private:
  /// From here on it dies after a while, when this is where it has to.
  void meet(Fate::During during) {
    if (death_.rank != me_ || death_.during != during || death_.calls-- != 0) return;
    std::thread([delay = death_.delay] {
      usleep(static_cast<useconds_t>(delay));
      ::kill(getpid(), SIGKILL);
    }).detach();
  }

  /// False when somebody is lost.
  bool work() {
    try {
      for (int step = 0; step < steps; ++step) {
        meet(Fate::During::work);
        // The ranks in the world, so that a wrong member shows; small, large, and along a tree.
        const std::vector<double> in(step % 3 == 0 ? 5000 : 3, me_);
        std::vector<double> out(in.size());
        group_.allreduce(in, out, tutti::sum);
        const double all = std::accumulate(ranks_.begin(), ranks_.end(), 0.0);
        expect(std::ranges::all_of(out, [&](double one) { return one == all; }), "the sum of the ranks");
        Rank root = me_;
        group_.bcast(std::span(&root, 1), step % group_.size());
        expect(root == ranks_[static_cast<std::size_t>(step % group_.size())], "what the root has sent");
      }
      return true;
    } catch (const PeerLost&) {
      return false;
    }
  }

  void shrink() {
    meet(Fate::During::shrink);
    const std::uint64_t began = base::now();
    const Group left = group_.shrink();
    longest_ = std::max(longest_, base::now() - began);
    const std::vector<Rank> lost = group_.lost();
    for (auto one = lost.rbegin(); one != lost.rend(); ++one) ranks_.erase(ranks_.begin() + *one);
    group_ = left;
    say_("shrunk to " + base::list_ranks(ranks_));
    expect(group_.size() == static_cast<Rank>(ranks_.size()), "the size of the new group");
    expect(ranks_[static_cast<std::size_t>(group_.rank())] == me_, "this rank's place in the new group");
  }

  Group group_;
  const std::function<void(const std::string&)>& say_;
  const Rank me_;
  std::vector<Rank> ranks_;  // in the world, of the group's members
  Fate::Death death_{-1, Fate::During::work, 0, 0};
  std::uint64_t longest_ = 0;
};

}  // namespace

Fate::Fate(std::uint64_t from, Rank size, int most) : seed(from) {
  base::Random random(base::mix(seed + 77));
  const int count = std::min(1 + static_cast<int>(random.below(static_cast<std::uint64_t>(most))), size - 1);
  while (static_cast<int>(deaths.size()) < count) {
    const auto rank = static_cast<Rank>(random.below(static_cast<std::uint64_t>(size)));
    if (std::ranges::find(deaths, rank, &Death::rank) != deaths.end()) continue;
    // The first dies at work or in an agreement: without one there is nothing to shrink for.
    const auto during = static_cast<During>(random.below(deaths.empty() ? 2 : 3));
    const std::uint64_t calls = random.below(during == During::work ? 20 : during == During::agree ? 3 : 1);
    deaths.push_back({rank, during, calls, random.once_in(4) ? 0 : random.below(during == During::work ? 3000 : 600)});
  }
}

std::string Fate::text() const {
  constexpr const char* names[] = {"work", "agree", "shrink"};
  std::string all = "seed " + std::to_string(seed) + ":";
  for (const Death& one : deaths)
    all += " rank " + std::to_string(one.rank) + " dies " + std::to_string(one.delay) + " us into " +
           names[static_cast<int>(one.during)] + " #" + std::to_string(one.calls) + ";";
  return all;
}

std::uint64_t live(const Group& world, const Fate& fate, const std::function<void(const std::string&)>& say) {
  return Life(world, fate, say).run();
}

}  // namespace tutti::faults
