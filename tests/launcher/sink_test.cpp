// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/sink.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <string>

namespace tutti::launcher {
namespace {

struct Pair {
  base::Descriptor reading, writing;
};

Pair make_pair_of(bool socket) {
  int ends[2] = {-1, -1};
  const int result = socket ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) : pipe2(ends, O_CLOEXEC);
  EXPECT_EQ(result, 0);
  return {base::Descriptor(ends[0]), base::Descriptor(ends[1])};
}

std::string numbered_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

class SinkTest : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(PipeAndSocket, SinkTest, testing::Bool());

TEST_P(SinkTest, NeverWaitsForItsReader) {
  launch::Loop loop;
  const Pair pair = make_pair_of(GetParam());
  Sink sink(loop, pair.writing.get());
  int changes = 0;
  sink.on_change([&] { ++changes; });
  const std::string text = numbered_lines(300000);  // more than any pipe holds, and more than `full`
  sink.write(text);
  EXPECT_TRUE(sink.is_full());
  EXPECT_EQ(fcntl(pair.writing.get(), F_GETFL) & O_NONBLOCK, 0) << "others who hold the file would see the flag";
  std::string read_back;
  char buffer[65536];
  while (read_back.size() < text.size()) {
    const ssize_t size = read(pair.reading.get(), buffer, sizeof buffer);
    ASSERT_GT(size, 0);
    read_back.append(buffer, static_cast<std::size_t>(size));
    loop.after(std::chrono::milliseconds(1), [] {});  // a socket may want more to be read before it takes more
    if (!sink.empty()) loop.turn();
  }
  EXPECT_EQ(read_back, text);
  EXPECT_TRUE(sink.empty());
  EXPECT_EQ(changes, 1);
}

TEST_P(SinkTest, BreaksWhenNobodyReads) {
  std::signal(SIGPIPE, SIG_IGN);
  launch::Loop loop;
  Pair pair = make_pair_of(GetParam());
  Sink sink(loop, pair.writing.get());
  bool told = false;
  sink.on_change([&] { told = true; });
  pair.reading.reset();
  sink.write("into the void");
  EXPECT_TRUE(sink.broken());
  EXPECT_TRUE(told);
  EXPECT_TRUE(sink.empty());
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
