// SPDX-License-Identifier: BSD-3-Clause
// Through it `tutti why` on another host looks at this host's part of the job, also when the ranks here compute, hang
// or have been stopped, as long as one of them can still answer. It costs a thread that sleeps, and is there only in
// jobs over several hosts. Who looks has to know the job's secret.
//
// A question is a Get of the rendezvous' messages, its answer a Value, or a Failed:
//
//     host                   this host's name
//     now                    its monotonic clock, in nanoseconds
//     bytes                  of the segment
//     memory/OFFSET/SIZE     that part of it
//     data/OFFSET            the first offset from there on where anything was ever written
//     holder/PLACE           "1 PID STATE" of the process in that place; "0" where there is none
//     system/PLACE           "NUMBER DESCRIPTOR FILE" of the system call that it is in; "-1" when that cannot be told
//     maps/PLACE             of /proc/PID/maps, the lines of files that are run
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "base/descriptor.hpp"
#include "base/forks.hpp"
#include "host/holder.hpp"
#include "host/segment.hpp"
#include "launch/conversation.hpp"
#include "launch/entrance.hpp"
#include "launch/secret.hpp"

namespace tutti::launch {

class Window {
 public:
  /// Listens at these places ("tcp:10.77.0.1:0") until it is closed; where that cannot be done it says so, and stays
  /// shut. `place`: of this process in the segment. Throws Error (system).
  Window(std::shared_ptr<host::Segment> segment, Rank place, const Secret& secret,
         const std::vector<std::string>& listen);
  ~Window() { close(); }

  /// Where it can be called.
  std::string addresses() const;
  /// Nobody looks any more when this returns. No effect in a forked child.
  void close();

 private:
  void after_fork(bool in_child);
  void run();
  void accept_from(int listener);
  /// False when this guest is to go.
  bool attend();
  bool answer();
  std::string answer_to(std::string_view question) const;
  std::string memory(host::Offset offset, std::size_t size) const;
  std::string holder(Rank place) const;
  std::string system_call(Rank place) const;
  std::string maps(Rank place) const;
  host::Holder holder_of(Rank place) const;

  const std::shared_ptr<host::Segment> segment_;
  const Rank place_;
  const Secret secret_;
  const pid_t pid_;
  base::Descriptor stop_;
  std::mutex turning_;  // of what follows
  std::vector<base::Descriptor> listeners_;
  /// Who looks: one at a time, others wait.
  std::variant<std::monostate, Entrance, Conversation> guest_;
  std::uint64_t guest_until_ = 0;
  std::uint64_t deaf_until_ = 0;  ///< No descriptor was left for the next one.
  std::thread thread_;
  const base::AtFork at_fork_{[this] { turning_.lock(); }, [this](bool in_child) { after_fork(in_child); }};
};

}  // namespace tutti::launch
