// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/lines.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/random.hpp"

namespace tutti::launcher {
namespace {

TEST(Lines, PassOnWholeLinesOnly) {
  Lines lines;
  std::string out;
  lines.feed("one\ntwo\nth", out);
  EXPECT_EQ(out, "one\ntwo\n");
  lines.feed("ree", out);
  EXPECT_EQ(out, "one\ntwo\n");
  lines.feed("\n", out);
  EXPECT_EQ(out, "one\ntwo\nthree\n");
  lines.feed("end", out);
  lines.flush(out);
  EXPECT_EQ(out, "one\ntwo\nthree\nend");
  EXPECT_TRUE(lines.empty());
}

TEST(Lines, LabelEveryLineAndEndTheLast) {
  Lines lines("[3] ");
  std::string out;
  lines.feed("one\n\ntwo\r\nthr", out);
  lines.feed("ee", out);
  lines.flush(out);
  EXPECT_EQ(out, "[3] one\n[3] \n[3] two\r\n[3] three\n");
}

TEST(Lines, AProgressBarIsALine) {
  Lines lines("[0] ");
  std::string out;
  lines.feed("10%\r20%\r", out);
  EXPECT_EQ(out, "[0] 10%\r");
  lines.feed("\nx", out);
  EXPECT_EQ(out, "[0] 10%\r[0] 20%\r\n");
}

TEST(Lines, AVeryLongLineComesInPieces) {
  Lines raw, labelled("[0] ");
  const std::string line(Lines::longest, 'x');
  std::string out;
  raw.feed(line, out);
  EXPECT_EQ(out, line);
  out.clear();
  labelled.feed(line, out);
  EXPECT_EQ(out, "[0] " + line + "\n");
}

TEST(Lines, RawBytesPassUnharmed) {
  const std::uint64_t seed = 7;
  RecordProperty("seed", std::to_string(seed));
  base::Random random(seed);
  std::string sent, out;
  Lines lines;
  for (int i = 0; i < 500; ++i) {
    std::string piece;
    for (std::uint64_t n = random.below(700); n > 0; --n) piece += static_cast<char>(random.next());
    sent += piece;
    lines.feed(piece, out);
    ASSERT_LE(out.size(), sent.size());
  }
  lines.flush(out);
  EXPECT_EQ(out, sent) << "seed " << seed;
}

}  // namespace
}  // namespace tutti::launcher
