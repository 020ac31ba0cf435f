// SPDX-License-Identifier: BSD-3-Clause
// The page on algorithms shows the files as they are, and every algorithm is where its name says.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "collectives/collective.hpp"

namespace tutti::collectives {
namespace {

std::string content(const std::string& path) {
  std::ifstream file(std::string(TUTTI_SOURCE) + "/" + path);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string path_of(const Algorithm& algorithm) {
  return "src/collectives/" + std::string(name_of(algorithm.kind)) + "/" + std::string(algorithm.name) + ".cpp";
}

TEST(Docs, TheExampleIsTheFile) {
  const std::string page = content("docs/adding-an-algorithm.md");
  const Algorithm* example = find(Kind::bcast, "binomial");
  ASSERT_NE(example, nullptr);
  EXPECT_NE(page.find("```cpp\n" + content(path_of(*example)) + "```"), std::string::npos);
  EXPECT_NE(page.find("ALGORITHM(bcast, binomial, \"" + std::string(example->sentence) + "\")"), std::string::npos);
}

TEST(Docs, EveryAlgorithmsFileSaysWhatItIs) {
  for (const Algorithm& algorithm : algorithms()) {
    const std::string text = content(path_of(algorithm));
    std::size_t lines = 0;
    for (std::size_t at = 0; text.compare(at, 2, "//") == 0; at = text.find('\n', at) + 1) ++lines;
    EXPECT_GE(lines, 2u) << path_of(algorithm);
    EXPECT_LE(lines, 13u) << path_of(algorithm) << ": the licence and 12 lines are enough";
    EXPECT_NE(text.find("plan::Plan " + std::string(algorithm.name) + "(const Shape& shape)"), std::string::npos)
        << path_of(algorithm);
  }
}

}  // namespace
}  // namespace tutti::collectives
