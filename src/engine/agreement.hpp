// SPDX-License-Identifier: BSD-3-Clause
// One agreement of a group, as one of its members sees it: the protocol alone, without transport, clock or waiting.
//
//     contribution   member > coordinator     what it says, and what it has accepted before
//     proposal       coordinator > members    what all say together
//     acceptance     member > coordinator
//     decision       coordinator > members
//
// The coordinator is the lowest member that is not lost; its rank numbers its proposal. docs/faults.md has the proof.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tutti/types.hpp"

namespace tutti::engine {

/// Of a group: which of its ranks are meant.
using Ranks = std::vector<bool>;

/// What members say, and what they say together.
struct Opinion {
  /// A number that one of them hands to all.
  struct Note {
    Rank from = -1;
    std::uint64_t number = 0;
    bool operator==(const Note&) const = default;
  };
  std::uint32_t calls = 0;  ///< Which calls were made, a bit each: one, unless they do not match.
  bool flag = true;         ///< Together: whether all say so.
  Ranks lost;
  std::vector<Note> notes;
  bool operator==(const Opinion&) const = default;
};

class Agreement {
 public:
  enum class Word : std::uint8_t { call, contribution, proposal, acceptance, decision };
  struct Message {
    Word word = Word::call;  ///< `call`: the coordinator waits; or its sender tells who is lost.
    Ranks lost, ended;       ///< What its sender knows. `ended`: those that certainly are no more.
    Opinion opinion;         ///< contribution: the sender's; proposal, decision: that of all.
    Rank proposer = -1;      ///< contribution: whose proposal the sender has accepted, and what it was; -1: none.
    Opinion accepted;
    bool operator==(const Message&) const = default;
  };
  struct Letter {
    Rank to = -1;
    Message message;
  };
  enum class State : std::uint8_t {
    absent,   ///< This member has not begun.
    waiting,  ///< For others.
    decided,
    expelled,  ///< The others have declared this member lost.
    outvoted,  ///< Too few are left to decide: the others may be alive behind a network that has failed.
  };

  Agreement(Rank me, Rank size);

  /// This member takes part.
  void begin(Opinion mine);
  /// That member is lost to this one. `ended`: its process is certainly no more; otherwise nothing comes from it.
  /// After the last message of it that there is.
  void lose(Rank member, bool ended);
  void hear(Rank from, const Message& message);

  State state() const { return state_; }
  /// Once decided.
  const Opinion& decision() const { return *decision_; }
  const Ranks& lost() const { return lost_; }
  /// What is to be sent, in this order; empty afterwards.
  std::vector<Letter> take();
  /// Whom it waits for.
  std::vector<Rank> awaited() const;

 private:
  struct Said {
    bool contributed = false, accepted = false;
    Opinion opinion;
    Rank proposer = -1;
    Opinion before;
  };

  Said& of(Rank member) { return said_[static_cast<std::size_t>(member)]; }
  const Said& of(Rank member) const { return said_[static_cast<std::size_t>(member)]; }
  bool is_lost(Rank member) const { return lost_[static_cast<std::size_t>(member)]; }
  Rank coordinator() const;
  bool enough() const;
  void learn(const Message& message);
  void advance();
  void give_up(State why);
  void contribute(Rank to);
  void coordinate();
  Opinion together() const;
  void decide(const Opinion& opinion);
  void send(Rank to, Word word, const Opinion& opinion = {});
  void send_all(Word word, const Opinion& opinion = {});
  template <class Predicate>
  bool everybody(Predicate predicate) const;

  Rank me_, size_;
  State state_ = State::absent;
  Ranks lost_, ended_;
  std::vector<Said> said_;  // by member; of this one what it says and has accepted itself
  Rank called_ = -1;        // the last coordinator that has this member's contribution
  bool news_ = false;       // that it has not: more are lost
  std::optional<Opinion> proposal_, decision_;
  bool calling_ = false;  // it coordinates, and the others know
  std::vector<Letter> letters_;
};

}  // namespace tutti::engine
