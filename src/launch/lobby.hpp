// SPDX-License-Identifier: BSD-3-Clause
// The rendezvous of a job over several hosts: strangers at the door, ranks that join, the roster that all get.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "launch/entrance.hpp"
#include "launch/rendezvous.hpp"

namespace tutti::launch {

class Lobby final : public Rendezvous {
 public:
  /// Serves at these sockets, which listen and do not block, while the loop turns. `gone` is called when a rank has
  /// left or is lost.
  Lobby(Loop& loop, std::vector<base::Descriptor> listeners, const Secret& secret, int size,
        std::function<void()> gone);
  /// Whoever still waits to join is told that nobody serves any more, and members are told who was lost.
  ~Lobby() override;

  /// Somebody who has proved already who he is.
  void receive(base::Descriptor socket) { admit(std::move(socket)); }
  void close_copies() override;

 private:
  struct Caller {
    Entrance entrance;
    Loop::Timer deadline;
  };

  void accepted(base::Descriptor socket) override;
  bool make_room() override;
  void greet(Id id, Guest& guest, const Message& message) override;
  void vacated(Rank rank) override;

  void advance(Id caller);
  void dismiss(Id caller);
  void log_refusal(const std::string& why);
  void begin();
  void remind();
  /// Who is waited for, by this rank.
  std::string missing(Rank waiting = -1) const;

  const Secret secret_;
  const std::function<void()> gone_;
  std::map<Id, Caller> callers_;  // who have not proved who they are, in order of arrival
  Id last_caller_ = 0;
  bool told_ = false;
  std::vector<Card> cards_;
  int joined_ = 0;
};

}  // namespace tutti::launch
