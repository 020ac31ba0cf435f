// SPDX-License-Identifier: BSD-3-Clause
// Sees off what finished calls have sent and the system has not taken yet: the connection may still be in the making,
// or full. The program may compute for long now, and ranks that wait for the message shall not wait for its next call.
#pragma once

#include <condition_variable>
#include <thread>

namespace tutti::engine {

class Engine;

class Courier {
 public:
  explicit Courier(Engine& engine) : engine_(engine) {}
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  /// A call has finished that has sent messages. The first of which something is left starts a thread, which sleeps
  /// while nothing is left, and leaves the next millisecond to the program's own calls: calls in a row never meet it.
  void see_off();
  /// Ends the thread; what is left then waits for the next call.
  void stop();
  /// In a child of fork, where it is not.
  void abandon();

 private:
  void run();

  Engine& engine_;
  // All of it is guarded by the engine's transport lock, but for the thread itself once it runs.
  std::condition_variable changed_;
  bool awake_ = false, stopped_ = false;
  std::thread thread_;
};

}  // namespace tutti::engine
