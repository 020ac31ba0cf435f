// SPDX-License-Identifier: BSD-3-Clause
// The agreements of all groups of a process: their messages, near and far by the one transport, and who is lost.
//
// They have a lane of their own, which a group's end does not close: a broken group agrees like any other, and whoever
// has decided still answers those that have not, also when it has given the group back.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/agreement_message.hpp"
#include "host/waits.hpp"
#include "transport/transport.hpp"

namespace tutti::engine {

class Engine;
struct Membership;

class Agreements {
 public:
  explicit Agreements(Engine& engine) : engine_(engine) {}
  Agreements(const Agreements&) = delete;
  Agreements& operator=(const Agreements&) = delete;
  ~Agreements();

  struct Outcome {
    Agreement::State state = Agreement::State::waiting;  ///< waiting: the time is over; join again.
    Opinion decision;
    std::vector<Rank> awaited;
  };
  /// Takes part in the group's agreement of that number and waits for its end until then (0: no limit). Each number is
  /// for one agreement, and comes after the one before it. `told` is what is said of it while it waits: as what, and
  /// where.
  Outcome join(const Membership& who, std::uint64_t number, const Opinion& mine, std::uint64_t until,
               const host::Wait& told);
  /// Answers others; true when anything moved.
  bool serve();
  /// Adds those that threads of this process wait in.
  void tell(std::vector<host::Wait>& waits);
  /// A member that others say is lost, who are in an agreement of that group already, when this one has begun none.
  std::optional<Rank> lost_to_others(std::uint64_t context);

 private:
  struct Session {
    std::vector<Rank> world;  ///< World rank of each member.
    Agreement agreement;
    std::optional<host::Wait> waits;                 ///< While a thread waits in it: what is told.
    std::uint64_t alarm_seen = 0, looked_after = 0;  ///< At the last look for the lost: the alarm, and when.
  };
  struct Letter {
    Rank peer = -1;  ///< In the world; a transport may rename that of the transfer.
    transport::Transfer transfer;
    std::vector<std::byte> bytes;
  };
  struct Early {
    Rank from = -1;  ///< In the world.
    AgreementMessage said;
  };

  // All of these run under the lock.
  Session& open(const Membership& who, const AgreementName& name);
  void begin(const AgreementName& name, Session& session, const Opinion& mine);
  bool move(const AgreementName& name, Session& session);
  void look_for_lost(Session& session);
  bool hear_all();
  void hear(Rank from, const AgreementMessage& said);
  void tell_stray(Rank from, const AgreementMessage& said);
  void post(const AgreementName& name, Session& session);
  void send(Rank to, const AgreementMessage& said);
  std::unique_ptr<Letter> letter(Rank peer, std::vector<std::byte> bytes) const;

  Engine& engine_;
  std::atomic<bool> used_{false};
  std::mutex mutex_;
  std::map<AgreementName, Session> sessions_;  ///< The last of each group stays.
  std::vector<Early> early_;                   ///< Of agreements that this process has not begun.
  std::list<std::unique_ptr<Letter>> sent_, received_;
};

}  // namespace tutti::engine
