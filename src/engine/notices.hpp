// SPDX-License-Identifier: BSD-3-Clause
// What the members of a group write to those on other hosts, whom no board reaches: that it is broken, and by what; and
// what they called, when a wait is long.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "transport/transport.hpp"
#include "tutti/error.hpp"

namespace tutti::engine {

/// Who broke a group, and why.
struct Notice {
  Cause cause = Cause::broken;
  Rank who = 0, whom = 0;  ///< In the group: who found it, whom it concerns.
  std::uint64_t sequence = 0;
  std::string called;  ///< What `who` called as that operation.
};

/// What a rank that waits has called, for one that it waits for to compare.
struct Question {
  Rank who = 0;  ///< In the group.
  std::uint64_t sequence = 0;
  std::uint32_t chain = 0;  ///< Of all its calls up to this one.
  std::string called;
};

/// Of one group.
class Notices {
 public:
  /// `lock`: the transport's.
  Notices(transport::Transport& transport, std::mutex& lock, std::uint64_t context)
      : transport_(transport), lock_(lock), context_(context) {}
  Notices(const Notices&) = delete;
  Notices& operator=(const Notices&) = delete;
  ~Notices();

  /// Who is told at once: by the first of a host to know all of them, by the others those whom they are connected with,
  /// who would see no more than its end when it leaves for that. Whoever connects with them later is told then.
  enum class Whom { all, connected };
  /// Tells these ranks of the world. Does not wait for them.
  void tell(std::span<const Rank> world, Whom whom, const Notice& notice);
  /// The first that has come; nothing when none has.
  std::optional<Notice> hear();

  /// Does not wait for it, nor is there an answer: who finds a difference breaks the group.
  void ask(Rank world, const Question& question);
  std::optional<Question> asked();

 private:
  struct Letter;
  enum class About : std::uint64_t;
  transport::Transfer transfer(Rank world, About about, Letter& letter) const;
  void send(Rank world, About about, const std::shared_ptr<Letter>& letter, Whom whom = Whom::all);
  std::optional<Letter> receive(About about);

  transport::Transport& transport_;
  std::mutex& lock_;
  std::uint64_t context_;
  std::list<std::pair<transport::Transfer, std::shared_ptr<Letter>>> sent_;
};

}  // namespace tutti::engine
