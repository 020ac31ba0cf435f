// SPDX-License-Identifier: BSD-3-Clause
// The launcher's own standard output or error: written to without ever waiting for whoever reads it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "launch/loop.hpp"

namespace tutti::launcher {

class Sink {
 public:
  /// Above this many waiting bytes, producers should stop.
  static constexpr std::size_t full = std::size_t{1} << 20;

  /// `descriptor` stays the caller's. The loop must outlive the sink.
  Sink(launch::Loop& loop, int descriptor);
  ~Sink();
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  void write(std::string_view bytes);
  bool is_full() const { return queue_.size() - written_ >= full; }
  bool empty() const { return queue_.empty(); }
  /// Nobody reads any more: whatever is written vanishes.
  bool broken() const { return broken_; }
  /// Why not (errno); 0 = it works, or never did.
  int problem() const { return problem_; }
  /// Called when a full sink has room again, and when it breaks.
  void on_change(std::function<void()> action) { on_change_ = std::move(action); }

 private:
  void flush();
  long write_piece(std::string_view piece) const;

  launch::Loop& loop_;
  base::Descriptor own_;  // a description of our own, so that our O_NONBLOCK is not seen by others who hold the file
  int descriptor_;
  bool socket_ = false, never_blocks_ = false, waiting_ = false, broken_ = false;
  int problem_ = 0;
  std::string queue_;
  std::size_t written_ = 0;
  std::function<void()> on_change_;
};

}  // namespace tutti::launcher
