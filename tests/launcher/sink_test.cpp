// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/sink.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string>

#include "../limits.hpp"

namespace tutti::launcher {
namespace {

struct Pair {
  base::Descriptor reading, writing;
};

/// What the output is; that of another user may not be opened anew.
enum class Kind { pipe, pipe_of_another, socket };

Pair make_pair_of(Kind kind) {
  int ends[2] = {-1, -1};
  const int result =
      kind == Kind::socket ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) : pipe2(ends, O_CLOEXEC);
  EXPECT_EQ(result, 0);
  return {base::Descriptor(ends[0]), base::Descriptor(ends[1])};
}

void open_sink(std::optional<Sink>& sink, launch::Loop& loop, const Pair& pair, Kind kind) {
  std::optional<NoDescriptors> refused;
  if (kind == Kind::pipe_of_another) refused.emplace();
  sink.emplace(loop, pair.writing.get());
}

std::string numbered_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

/// As others who write there may have done; what they wrote.
std::string fill(int output) {
  const std::string text = numbered_lines(1000).substr(0, 4096);
  std::string written;
  const int flags = fcntl(output, F_GETFL);
  fcntl(output, F_SETFL, flags | O_NONBLOCK);
  for (ssize_t size = 0; (size = write(output, text.data(), text.size())) > 0;)
    written += text.substr(0, static_cast<std::size_t>(size));
  fcntl(output, F_SETFL, flags);
  return written;
}

class SinkTest : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(PipesAndSocket, SinkTest, testing::Values(Kind::pipe, Kind::pipe_of_another, Kind::socket));

TEST_P(SinkTest, NeverWaitsForItsReader) {
  launch::Loop loop;
  const Pair pair = make_pair_of(GetParam());
  std::optional<Sink> sink;
  open_sink(sink, loop, pair, GetParam());
  int changes = 0;
  sink->on_change([&] { ++changes; });
  std::string all = fill(pair.writing.get());
  const std::string text = numbered_lines(300000);  // more than any pipe holds, and more than `full`
  all += text;
  sink->write(text);
  EXPECT_TRUE(sink->is_full());
  EXPECT_EQ(fcntl(pair.writing.get(), F_GETFL) & O_NONBLOCK, 0) << "others who hold the file would see the flag";
  std::string read_back;
  char buffer[65536];
  while (read_back.size() < all.size()) {
    const ssize_t size = read(pair.reading.get(), buffer, sizeof buffer);
    ASSERT_GT(size, 0);
    read_back.append(buffer, static_cast<std::size_t>(size));
    loop.after(std::chrono::milliseconds(1), [] {});  // a socket may want more to be read before it takes more
    if (!sink->empty()) loop.turn();
  }
  EXPECT_TRUE(read_back == all);
  EXPECT_TRUE(sink->empty());
  EXPECT_EQ(changes, 1);
}

TEST_P(SinkTest, BreaksWhenNobodyReads) {
  std::signal(SIGPIPE, SIG_IGN);
  launch::Loop loop;
  Pair pair = make_pair_of(GetParam());
  std::optional<Sink> sink;
  open_sink(sink, loop, pair, GetParam());
  bool told = false;
  sink->on_change([&] { told = true; });
  pair.reading.reset();
  sink->write("into the void");
  EXPECT_TRUE(sink->broken());
  EXPECT_TRUE(told);
  EXPECT_TRUE(sink->empty());
}

TEST(Sink, WritesFilesWhereTheyStand) {
  launch::Loop loop;
  const base::Descriptor file(memfd_create("file", MFD_CLOEXEC));
  ASSERT_EQ(write(file.get(), "before ", 7), 7);
  Sink sink(loop, file.get());
  sink.write("after");
  char buffer[32] = {};
  ASSERT_EQ(pread(file.get(), buffer, sizeof buffer, 0), 12);
  EXPECT_STREQ(buffer, "before after");
}

}  // namespace
}  // namespace tutti::launcher
