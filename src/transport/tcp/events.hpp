// SPDX-License-Identifier: BSD-3-Clause
// Descriptors that are watched together, each under a name, and a descriptor that becomes readable again and again.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>

#include "base/descriptor.hpp"

namespace tutti::transport::tcp {

class Events {
 public:
  /// Throws Error (system).
  Events();
  void add(int descriptor, std::uint32_t interest, std::uint64_t name = 0) const;
  void change(int descriptor, std::uint32_t interest, std::uint64_t name) const;
  void remove(int descriptor) const;
  /// What has happened, without waiting; events[i].data.u64 is the name. Valid until it is asked again.
  std::span<const epoll_event> look();
  /// Becomes readable when anything has happened.
  int descriptor() const { return set_.get(); }
  /// In a forked child: the set is the parent's, too, and stays as it is.
  void close_copy() { set_.reset(); }

 private:
  base::Descriptor set_;
  std::array<epoll_event, 64> events_;
};

class Ticker {
 public:
  /// Readable once every `nanoseconds`. Throws Error (system).
  explicit Ticker(std::uint64_t nanoseconds);
  /// Not readable any more, until the next time.
  void take() const;
  int descriptor() const { return timer_.get(); }
  void close_copy() { timer_.reset(); }

 private:
  base::Descriptor timer_;
};

}  // namespace tutti::transport::tcp
