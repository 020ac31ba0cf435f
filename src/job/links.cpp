// SPDX-License-Identifier: BSD-3-Clause
// How fast the links between hosts are: what is best on links of 100 Mbit/s takes twice as long as need be on those of
// 10 Gbit/s. Nobody but the way itself knows: an interface says how fast it is, and no switch or limit behind it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "job/runtime.hpp"

namespace tutti::job {
namespace {

/// Tells these messages from those that make groups.
constexpr std::uint32_t link_tag = 0x6c696e6b;
/// A few messages that all hosts send to the next. What each system says of its own is disturbed by others that share
/// its cores, so that the best of several counts; the least of all hosts' holds.
struct Trains {
  std::size_t bytes;
  int most;
  std::int64_t enough;  ///< Bits per second, at which nothing depends on more.
};
/// Slow links show by few bytes. On others these are gone before they have met a limit, and more are sent.
constexpr Trains small{64 << 10, 4, 200'000'000}, large{256 << 10, 5, 3'000'000'000};
/// A limit lets some packets pass at once, and the system may have seen those: all of it takes at most so much longer.
constexpr std::uint64_t burst = 3;
/// Where the clock alone counts, and with it all that is slow besides (with eight hosts on two cores, links of 20
/// Gbit/s show 500 to 1500 Mbit/s), what shows so much is taken for fast, and nothing is known of others.
constexpr std::int64_t surely_fast = 350'000'000;
constexpr std::uint64_t taken_for_fast = 2'000'000'001;  // more than the table's 2G
/// Nobody doubts a link on which two messages take so long, in seconds.
constexpr double long_enough = 0.03;

/// One rank of each host, in a ring. Its messages have no numbers: those of the world's operations begin with the
/// program's.
class Ring {
 public:
  Ring(Member& member, std::vector<Rank> leaders)
      : member_(member),
        leaders_(std::move(leaders)),
        mine_(static_cast<std::size_t>(std::ranges::find(leaders_, member.channel().rank()) - leaders_.begin())) {}

  /// Sends so much to the next, and hears that it has come: then the system knows how fast it went, and the clock how
  /// fast at least. Bits per second.
  std::int64_t rate(std::size_t bytes) {
    std::vector<std::byte> out(bytes), in(bytes);
    const std::uint64_t start = base::now();
    pass(1, out, in);
    pass(leaders_.size() - 1, std::span(out).first(1), std::span(in).first(1));
    const std::uint64_t least = 8'000'000'000 * bytes / (base::now() - start + 1);
    engine::Engine& engine = member_.runtime().engine();
    const std::lock_guard lock(engine.transport_lock());
    const std::uint64_t seen = engine.transport().rate(ahead(1));
    seen_ = seen_ || seen > 0;
    return static_cast<std::int64_t>(std::clamp(seen, least, burst * least));
  }

  /// Whether the transport ever said how fast it went; else the clock alone did.
  bool seen() const { return seen_; }

  /// The least of all, by dissemination.
  std::int64_t least(std::int64_t value) {
    for (std::size_t distance = 1; distance < leaders_.size(); distance *= 2) {
      std::int64_t theirs = 0;
      pass(distance, std::as_writable_bytes(std::span(&value, 1)), std::as_writable_bytes(std::span(&theirs, 1)));
      value = std::min(value, theirs);
    }
    return value;
  }

 private:
  Rank ahead(std::size_t distance) const { return leaders_[(mine_ + distance) % leaders_.size()]; }

  void pass(std::size_t distance, std::span<std::byte> out, std::span<std::byte> in) {
    const Member::Mark mark{.tag = link_tag, .lane = transport::Lane::group};
    const auto message = [&](plan::Verb verb, std::span<std::byte> data, Rank peer) {
      return member_.start_message(verb, data.data(), static_cast<Count>(data.size()), Type::opaque, 1, peer, mark);
    };
    Request receive = message(plan::Verb::recv, in, ahead(leaders_.size() - distance));
    member_.finish(message(plan::Verb::send, out, ahead(distance)));
    member_.finish(std::move(receive));
  }

  Member& member_;
  std::vector<Rank> leaders_;
  std::size_t mine_;
  bool seen_ = false;
};

/// What is known of the links, for people.
std::string rate_text(std::uint64_t link_rate) {
  std::array<char, 96> text{"have a rate that is not known"};
  if (link_rate == taken_for_fast)
    std::snprintf(text.data(), text.size(), "are taken for fast, since the clock shows more than %.3g Mbit/s",
                  static_cast<double>(surely_fast) * 1e-6);
  else if (link_rate > 0)
    std::snprintf(text.data(), text.size(), "carry %.3g Mbit/s", static_cast<double>(link_rate) * 1e-6);
  return text.data();
}

}  // namespace

std::int64_t Member::link_rate() {
  std::vector<Rank> leaders = leaders_of(hosts());
  if (!std::ranges::binary_search(leaders, channel_->rank())) return std::numeric_limits<std::int64_t>::max();
  Ring ring(*this, std::move(leaders));
  ring.least(0);  // the first messages wait for connections
  const auto slowest_of = [&](const Trains& trains) {
    std::int64_t best = 0, slowest = 0;
    for (int i = 0; i < trains.most; ++i) {
      best = std::max(best, ring.rate(trains.bytes));
      slowest = ring.least(best);
      if (slowest >= trains.enough) break;
      if (i > 0 && 8.0 * static_cast<double>(trains.bytes) >= long_enough * static_cast<double>(slowest)) break;
    }
    return slowest;
  };
  std::int64_t rate = slowest_of(small);
  if (rate >= small.enough) rate = slowest_of(large);
  if (ring.seen()) return rate;
  return rate < surely_fast ? 0 : std::max(rate, static_cast<std::int64_t>(taken_for_fast));
}

std::size_t Runtime::least_segment() {
  // A host passes a segment on when the link has brought it, so that a short one starts the next host sooner, as long
  // as the link needs as much time for it as the host does. What two frames hold is best at 100 Mbit/s, and one at 10.
  constexpr std::size_t frame = 1400;
  constexpr std::uint64_t slowest = 30'000'000;
  const std::uint64_t rate = place_.link_rate;
  if (rate == 0 || rate >= transport::slow_link) return engine_.transport().capabilities().segment;
  return rate < slowest ? frame : 2 * frame;
}

void Runtime::use(std::shared_ptr<const tune::Table> table, std::uint64_t link_rate) {
  place_.table = std::move(table);
  place_.link_rate = link_rate;
  place_.source.why += "; links between hosts " + rate_text(link_rate);
  if (const std::size_t segment = least_segment(); segment > 0)
    place_.source.why += ", in segments of " + std::to_string(segment) + " bytes or more";
  const std::lock_guard lock(engine_.transport_lock());
  if (const std::string done = engine_.transport().suit(link_rate); !done.empty()) place_.source.why += ", " + done;
}

}  // namespace tutti::job
