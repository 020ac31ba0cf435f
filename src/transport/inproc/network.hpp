// SPDX-License-Identifier: BSD-3-Clause
// A network inside one process: P ranks that are threads, or fibers of one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "host/waiting.hpp"
#include "transport/transport.hpp"

namespace tutti::transport::inproc {

struct Options {
  std::size_t eager = 4096;  ///< Largest message that is copied at once.
  /// Called from the sender's thread, with no lock held, when something was put before a rank.
  std::function<void(Rank)> wake;
  /// With a scheduler: each message is late by up to `delay` nanoseconds of its clock, by `seed`, so that messages of
  /// different tags overtake each other. Equal tags stay in order.
  host::Scheduler* scheduler = nullptr;
  std::uint64_t seed = 0;
  std::uint64_t delay = 0;
};

class Port;

/// Shared by all its ranks; may be used by many threads. A transport keeps what it needs of it alive.
class Network {
 public:
  explicit Network(int size, Options options = {});
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// The transport of one rank; taken once per rank.
  std::unique_ptr<Transport> transport(Rank rank);
  int size() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace tutti::transport::inproc
