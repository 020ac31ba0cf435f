// SPDX-License-Identifier: BSD-3-Clause
// Agreements of a whole group under a seeded schedule: messages in any order that connections allow, processes that end
// anywhere, also between two of the messages that they send at once, connections that fail.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "engine/agreement.hpp"

namespace tutti::engine::model {

struct World {
  int most_deaths = 0;    ///< Processes that end.
  int most_cuts = 0;      ///< Pairs that cannot reach each other any more, and both live.
  bool lossy = false;     ///< What a process sent right before its end may be lost.
  bool returning = true;  ///< Who has decided goes on with other things and answers late.
};

class Model {
 public:
  Model(std::uint64_t seed, const World& world);

  /// Until nothing happens any more. Empty, or what is wrong.
  std::string run();
  std::uint64_t events() const { return events_; }
  /// How many have decided.
  int decided() const;

 private:
  struct Item {
    std::optional<Agreement::Message> message;  ///< Nothing: the connection has ended,
    bool ended = false;                         ///< because its sender has.
  };
  struct Member {
    Agreement agreement;
    bool alive = true, begun = false;
    Opinion says;
  };

  Rank random_rank() { return static_cast<Rank>(random_.below(members_.size())); }
  Member& of(Rank rank) { return members_[static_cast<std::size_t>(rank)]; }
  std::deque<Item>& line(Rank from, Rank to) {
    return lines_[static_cast<std::size_t>(from) * members_.size() + static_cast<std::size_t>(to)];
  }
  bool step();
  bool deliver();
  bool begin();
  void flush(Rank rank);
  void kill(Rank rank);
  void cut(Rank one, Rank other);
  void close(Rank from, Rank to, bool ended);
  std::string judge();
  std::string judge_decision(const Opinion& decision);

  World world_;
  base::Random random_;
  std::vector<Member> members_;
  std::vector<std::deque<Item>> lines_;
  std::vector<bool> closed_;  // as lines_
  int deaths_ = 0, cuts_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace tutti::engine::model
