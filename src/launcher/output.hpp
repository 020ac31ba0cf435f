// SPDX-License-Identifier: BSD-3-Clause
// The pipe that one rank writes its standard output or error to.
#pragma once

#include <string>

#include "base/descriptor.hpp"
#include "launch/loop.hpp"
#include "launcher/lines.hpp"
#include "launcher/sink.hpp"

namespace tutti::launcher {

class Output {
 public:
  /// `pipe` is the reading end. With `prompt`, an unfinished line is passed on after a moment of silence: somebody may
  /// be asked something.
  Output(launch::Loop& loop, base::Descriptor pipe, Sink& sink, std::string label, bool prompt);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Reads what is there now; the loop does that by itself, this is for the last moment. False when the sink was full
  /// before the pipe was empty.
  bool drain();
  /// Stops reading while the sink is full, goes on when it is not, and closes the pipe when the sink is broken: then
  /// the rank is told by its own writes.
  void adjust();
  /// All writers have closed it.
  bool ended() const { return !pipe_; }
  /// Stops reading for good; what is left of a line is passed on.
  void end();

 private:
  bool read_once();
  void expect_more();

  launch::Loop& loop_;
  base::Descriptor pipe_;
  Sink& sink_;
  Lines lines_;
  bool prompt_, watched_ = false;
  launch::Loop::Timer silence_{};
};

}  // namespace tutti::launcher
