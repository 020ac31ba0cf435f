// SPDX-License-Identifier: BSD-3-Clause
// What the kernel says of processes that sleep.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <optional>
#include <string>

#include "host/system_call.hpp"

namespace tutti::host {
namespace {

/// A child that sleeps somewhere.
class Sleeper {
 public:
  explicit Sleeper(const std::function<void()>& sleep) : pid_(fork()) {
    if (pid_ != 0) return;
    for (;;) sleep();
  }
  ~Sleeper() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  /// Asks until it sleeps in that one.
  std::optional<SystemCall> call(const std::string& name) const {
    for (int attempt = 0; attempt < 300; ++attempt) {
      const auto found = system_call_of(pid_);
      if (found && found->name() == name) return found;
      usleep(10'000);
    }
    return std::nullopt;
  }

 private:
  pid_t pid_;
};

TEST(SystemCalls, AreNamedWithTheirDescriptorAndItsFile) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Sleeper reader([&] {
    char letter = 0;
    if (read(ends[0], &letter, 1) < 0) _exit(1);
  });
  const auto found = reader.call("read");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->descriptor, ends[0]);
  EXPECT_EQ(found->file.substr(0, 6), "pipe:[");
  EXPECT_EQ(found->text(), "in read of " + found->file + " (descriptor " + std::to_string(ends[0]) + ")");
  close(ends[0]);
  close(ends[1]);
}

TEST(SystemCalls, SayWhatTheyWaitFor) {
  const Sleeper sleeper([] { pause(); });
  const auto found = sleeper.call("pause");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->descriptor, -1);
  EXPECT_EQ(found->text(), "in pause, for a signal");
}

TEST(SystemCalls, AreNoneOfWhoIsGone) {
  EXPECT_FALSE(system_call_of(0));
  EXPECT_FALSE(system_call_of(4'194'305));  // more than there can be
}

TEST(SystemCalls, ShowNothingThatATerminalObeys) {
  const SystemCall call{0, 3, "/tmp/\x1b[31m\nx"};
  EXPECT_EQ(call.text(), "in read of /tmp/?[31m?x (descriptor 3)");
  EXPECT_EQ((SystemCall{99999, -1, {}}.text()), "in system call 99999");
}

}  // namespace
}  // namespace tutti::host
