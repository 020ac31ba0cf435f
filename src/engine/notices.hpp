// SPDX-License-Identifier: BSD-3-Clause
// How the members of a group on other hosts learn that it is broken, and by what: no board reaches them.
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

/// Of one group.
class Notices {
 public:
  /// `lock`: the transport's.
  Notices(transport::Transport& transport, std::mutex& lock, std::uint64_t context)
      : transport_(transport), lock_(lock), context_(context) {}
  Notices(const Notices&) = delete;
  Notices& operator=(const Notices&) = delete;
  ~Notices();

  /// Who is told: by the first of a host to know all of them, by the others those whom they are connected with. These
  /// would see no more than its end when it leaves for that.
  enum class Whom { all, connected };
  /// Tells these ranks of the world. Does not wait for them.
  void tell(std::span<const Rank> world, Whom whom, const Notice& notice);
  /// The first that has come; nothing when none has.
  std::optional<Notice> hear();

 private:
  struct Letter;
  transport::Transfer transfer(Rank world, Letter& letter) const;

  transport::Transport& transport_;
  std::mutex& lock_;
  std::uint64_t context_;
  std::list<std::pair<transport::Transfer, std::shared_ptr<Letter>>> sent_;
};

}  // namespace tutti::engine
