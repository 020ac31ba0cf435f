// SPDX-License-Identifier: BSD-3-Clause
#include "tuner/rounds.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "collectives/collective.hpp"
#include "engine/reduction.hpp"
#include "tuner/bench.hpp"
#include "tuner/candidates.hpp"
#include "tuner/derive.hpp"
#include "tuner/guidelines.hpp"

namespace tutti::tuner {

namespace {

/// A candidate that is this much slower than the fastest is dropped at once, and at its first call if that is long.
constexpr double hopeless = 3, hopeless_at_once = 10, long_call = 2e-3;

std::size_t left(const std::vector<Point>& points) {
  std::size_t count = 0;
  for (const Point& point : points)
    count += static_cast<std::size_t>(std::ranges::count(point.candidates, false, &Candidate::dropped));
  return count;
}

/// Rank 0's clock decides for all.
bool time_is_over(const Group& world, Clock::time_point begin, double seconds) {
  int over[1] = {seconds_since(begin) > seconds ? 1 : 0};
  world.bcast(over);
  return over[0] != 0;
}

class Rounds {
 public:
  Rounds(const Group& world, const Plan& plan, std::vector<Point> points)
      : world_(world), plan_(plan), points_(std::move(points)), bench_(world, points_), order_(plan.seed) {}

  std::vector<Point> run(const std::function<void(int, std::size_t)>& progress) {
    std::vector<std::size_t> order(points_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int round = 0; round < plan_.rounds; ++round) {
      if (round > 0) std::ranges::shuffle(order, order_);
      for (const std::size_t which : order) {
        if (time_is_over(world_, begin_, plan_.seconds)) return std::move(points_);
        measure(points_[which], round);
      }
      if (world_.rank() == 0) progress(round + 1, left(points_));
    }
    return std::move(points_);
  }

 private:
  void measure(Point& point, int round) {
    std::vector<std::size_t> order(point.candidates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::shuffle(order, order_);
    double best = 0;
    for (const std::size_t which : order) {
      Candidate& candidate = point.candidates[which];
      if (candidate.dropped) continue;
      bench_.choose({{point.kind, point.bytes, candidate.algorithm}});
      double time = round == 0 ? bench_.time(1) : candidate.times.back() * 1e-9;
      if (round == 0 && best > 0 && time > long_call && time > hopeless_at_once * best)
        candidate.dropped = true;
      else if (round > 0 || time < plan_.batch / 2)
        time = bench_.time(std::clamp<std::int64_t>(static_cast<std::int64_t>(plan_.batch / time), 1, 100'000));
      candidate.times.push_back(time * 1e9);
      best = best == 0 ? time : std::min(best, time);
    }
    drop_losers(point);
  }

  const Group& world_;
  const Plan& plan_;
  std::vector<Point> points_;
  Bench bench_;
  std::mt19937_64 order_;  // the same on all ranks
  const Clock::time_point begin_ = Clock::now();
};

/// Rank 0's text, for all.
std::string share(const Group& world, std::string text) {
  std::uint64_t length[1] = {text.size()};
  world.bcast(length);
  text.resize(length[0]);
  world.bcast(std::span<char>(text));
  return text;
}

constexpr Count most_bytes = Count{1} << 30;  // of all ranks' blocks on one side

/// Where each rank has a block for each other, all ranks' blocks, and what algorithms keep of them meanwhile, grow with
/// the square of the ranks: on 64 they would fill 48 GiB with blocks of 2 MiB.
bool fits_memory(const Form& form, Rank ranks, Count bytes) {
  return !(form.all_input || form.all_output) || bytes <= most_bytes / ranks / ranks;
}

/// Rank 0 lists them for all: the others need not build everybody's plans again.
std::vector<Point> list(const Group& world, const Plan& plan, bool single_copy) {
  std::string text;
  if (world.rank() == 0) {
    Measurements listed;
    for (const Kind kind : plan.kinds)
      for (const Count bytes : kind == Kind::barrier ? std::vector<Count>{0} : plan.sizes)
        if (fits_memory(*form_of(kind), world.size(), bytes))
          listed.points.push_back(candidates_at(kind, world.size(), bytes, single_copy));
    text = to_json(listed);
  }
  return from_json(share(world, std::move(text))).points;
}

/// What seems to break a guideline: a side that is a sum of single times is a guess.
std::vector<Duel> list_duels(const Group& world, const Measurements& found, const tune::Machine& machine) {
  std::string text;
  if (world.rank() == 0) {
    Measurements listed;
    for (const Violation& violation : check(found, machine, derive(found, machine)))
      listed.duels.push_back({violation.ranks, {violation.left}, violation.right, {}, {}});
    text = to_json(listed);
  }
  return from_json(share(world, std::move(text))).duels;
}

/// In as many rounds as fit into a part of the time.
void fight(const Group& world, Bench& bench, const Plan& plan, std::vector<Duel>& duels) {
  constexpr double part = 0.2;
  const Clock::time_point begin = Clock::now();
  for (int round = 0; round < plan.rounds && !time_is_over(world, begin, part * plan.seconds); ++round)
    for (Duel& duel : duels)
      for (auto [parts, times] : {std::pair(&duel.left, &duel.left_times), std::pair(&duel.right, &duel.right_times)}) {
        bench.choose(*parts);
        const double once = times->empty() ? bench.time(1) : times->back() * 1e-9;
        const double calls = std::clamp(plan.batch / once, 1.0, 1e5);
        times->push_back(bench.time(static_cast<std::int64_t>(calls)) * 1e9);
      }
}

}  // namespace

void drop_losers(Point& point) {
  const Candidate* const best = point.best();
  if (best == nullptr) return;
  std::vector<Candidate*> measured;
  for (Candidate& candidate : point.candidates)
    if (!candidate.times.empty()) measured.push_back(&candidate);
  std::ranges::sort(measured, {}, &Candidate::time);
  const auto needs_of = [&](const Candidate& candidate) { return algorithm_of(point.kind, candidate.algorithm).needs; };
  const double limit = hopeless * best->time(), surely = best->spread().high;
  collectives::Needs least = needs_of(*best);
  for (std::size_t place = 0; place < measured.size(); ++place) {
    Candidate& candidate = *measured[place];
    const collectives::Needs needs = needs_of(candidate);
    const bool spare = common_needs(needs, least) < common_needs(least, least);
    if (spare) least = needs;
    if (place < 2 || spare) continue;
    const bool certain = candidate.times.size() >= 3 && candidate.spread().low > surely;
    candidate.dropped = candidate.dropped || candidate.time() > limit || certain;
  }
}

Measurements measure(const Group& world, const Plan& plan, const tune::Machine& machine,
                     const std::function<void(int rounds, std::size_t left)>& progress) {
  Measurements found;
  found.points = Rounds(world, plan, list(world, plan, machine.single_copy)).run(progress);
  found.combining = measure_combining(plan.sizes);
  found.duels = list_duels(world, found, machine);
  Bench bench(world, found.points);
  fight(world, bench, plan, found.duels);
  return found;
}

std::string left_out(const Plan& plan, Rank ranks) {
  std::string text;
  for (const Kind kind : plan.kinds)
    for (const Count bytes : plan.sizes)
      if (!fits_memory(*form_of(kind), ranks, bytes))
        text += (text.empty() ? "" : ", ") + std::string(name_of(kind)) + " of " + std::to_string(bytes);
  if (text.empty()) return text;
  return "not measured on " + std::to_string(ranks) + " ranks, whose blocks would have more than a GiB: " + text;
}

std::vector<Combining> measure_combining(const std::vector<Count>& sizes) {
  std::vector<Combining> found;
  const Reduction sum{Op::sum, true, nullptr, nullptr};
  for (const Count bytes : sizes) {
    if (bytes <= 0) continue;
    const std::vector<double> source(static_cast<std::size_t>(bytes / element));
    std::vector<double> target(source.size());
    const std::int64_t calls = std::max<std::int64_t>(1, (Count{1} << 20) / bytes);
    std::vector<double> times;
    for (int round = 0; round < 7; ++round) {
      const auto start = Clock::now();
      for (std::int64_t i = 0; i < calls; ++i)
        engine::reduce(sum, Type::float64, element, reinterpret_cast<const std::byte*>(source.data()),
                       reinterpret_cast<std::byte*>(target.data()), static_cast<Count>(source.size()),
                       plan::Side::left);
      times.push_back(seconds_since(start) * 1e9 / static_cast<double>(calls));
    }
    found.push_back({bytes, std::max(median(times), 1e-3)});
  }
  return found;
}

}  // namespace tutti::tuner
