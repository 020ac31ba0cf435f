// SPDX-License-Identifier: BSD-3-Clause
#include "tuner/rounds.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>

#include "collectives/collective.hpp"
#include "engine/reduction.hpp"
#include "tuner/candidates.hpp"
#include "tuner/derive.hpp"

namespace tutti::tuner {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// A candidate that is this much slower than the fastest is dropped at once, and at its first call if that is long.
constexpr double hopeless = 3, hopeless_at_once = 10, long_call = 2e-3;

/// One rank's part in all measurements: buffers for the largest of them.
class Bench {
 public:
  Bench(const Group& world, const std::vector<Point>& points) : world_(world) {
    std::size_t input = 1, output = 1;
    for (const Point& point : points) {
      const auto block = static_cast<std::size_t>(point.bytes / element), all = block * ranks();
      input = std::max(input, form_of(point.kind)->all_input ? all : block);
      output = std::max(output, form_of(point.kind)->all_output ? all : block);
    }
    input_.resize(input);
    output_.resize(output);
  }

  /// Makes the candidate ready, with one call that is not timed.
  void choose(const Point& point, const std::string& algorithm) {
    const CallShape shape(point.kind, point.ranks, point.bytes);
    Call call;
    call.kind = point.kind;
    call.input = input_.data();
    call.output = output_.data();
    call.type = Type::float64;
    call.element = element;
    call.count = shape.counts().empty() ? shape.count() : 0;
    call.send_counts = call.recv_counts = shape.counts();
    if (collectives::get(point.kind).reduces) call.reduction = {Op::sum, true, nullptr, nullptr};
    call.algorithm = algorithm;
    chosen_ = world_.init(call);
    chosen_.run();
  }

  /// Seconds of a call, one after the other, of the slowest rank: the same number on all ranks.
  double time(std::int64_t calls) {
    world_.barrier();
    const auto start = Clock::now();
    for (std::int64_t i = 0; i < calls; ++i) chosen_.run();
    const double took[1] = {seconds_since(start) / static_cast<double>(calls)};
    double slowest[1] = {0};
    world_.allreduce(took, slowest, max);
    return std::max(slowest[0], 1e-9);
  }

  std::size_t ranks() const { return static_cast<std::size_t>(world_.size()); }

 private:
  const Group& world_;
  std::vector<double> input_, output_;
  Persistent chosen_;
};

bool needs_less(const collectives::Needs& needs, const collectives::Needs& than) {
  return (than.single_copy && !needs.single_copy) || (than.commutative && !needs.commutative) ||
         (than.power_of_two && !needs.power_of_two);
}

std::size_t left(const std::vector<Point>& points) {
  std::size_t count = 0;
  for (const Point& point : points)
    count += static_cast<std::size_t>(std::ranges::count(point.candidates, false, &Candidate::dropped));
  return count;
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
        if (time_is_over()) return std::move(points_);
        measure(points_[which], round);
      }
      if (world_.rank() == 0) progress(round + 1, left(points_));
    }
    return std::move(points_);
  }

 private:
  /// Rank 0's clock decides for all.
  bool time_is_over() {
    int over[1] = {seconds_since(begin_) > plan_.seconds ? 1 : 0};
    world_.bcast(over);
    return over[0] != 0;
  }

  void measure(Point& point, int round) {
    std::vector<std::size_t> order(point.candidates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::shuffle(order, order_);
    double best = 0;
    for (const std::size_t which : order) {
      Candidate& candidate = point.candidates[which];
      if (candidate.dropped) continue;
      bench_.choose(point, candidate.algorithm);
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

/// Rank 0 lists them for all: the others need not build everybody's plans again.
std::vector<Point> list(const Group& world, const Plan& plan, bool single_copy) {
  std::string text;
  if (world.rank() == 0) {
    Measurements listed;
    for (const Kind kind : plan.kinds)
      for (const Count bytes : kind == Kind::barrier ? std::vector<Count>{0} : plan.sizes)
        listed.points.push_back(candidates_at(kind, world.size(), bytes, single_copy));
    text = to_json(listed);
  }
  std::uint64_t length[1] = {text.size()};
  world.bcast(length);
  text.resize(length[0]);
  world.bcast(std::span<char>(text));
  return from_json(text).points;
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
    const bool spare = needs_less(needs, least);
    if (spare) least = needs;
    if (place < 2 || spare) continue;
    const bool certain = candidate.times.size() >= 3 && candidate.spread().low > surely;
    candidate.dropped = candidate.dropped || candidate.time() > limit || certain;
  }
}

std::vector<Point> measure(const Group& world, const Plan& plan, bool single_copy,
                           const std::function<void(int rounds, std::size_t left)>& progress) {
  return Rounds(world, plan, list(world, plan, single_copy)).run(progress);
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
