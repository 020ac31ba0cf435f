// SPDX-License-Identifier: BSD-3-Clause
// What the environment says of a process.
#include "job/settings.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "../refusal.hpp"

namespace tutti::job {
namespace {

std::uint64_t timeout_of(const char* text) {
  setenv("TUTTI_TIMEOUT", text, 1);
  return timeout_from_environment();
}

TEST(Timeout, IsANumberOfSeconds) {
  EXPECT_EQ(timeout_of(""), 0u);
  EXPECT_EQ(timeout_of("2.5"), 2'500'000'000u);
  EXPECT_EQ(timeout_of("0.001"), 1'000'000u);
  EXPECT_EQ(timeout_of("1e9"), 1'000'000'000'000'000'000u);
  // As nanoseconds, what is too small would be none, which means that there is no limit.
  for (const char* text : {"1e-10", "0.0009", "0", "-1", "1e10", "1e999", "nan", "inf", "soon", "2.5s", "2,5", " 2"})
    expect_refused("is not a number of seconds from 0.001 to 1e9", [&] { timeout_of(text); });
  unsetenv("TUTTI_TIMEOUT");
}

/// A locale with a decimal comma, as glibc keeps it: there may be none on this machine.
class CommaLocale {
 public:
  CommaLocale() {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    std::filesystem::create_directory(folder_ + "/comma");
    // The places of the decimal point, the mark of thousands, groups, both as wide letters, and the name of the code.
    constexpr std::uint32_t words[] = {0x20031114, 6, 32, 34, 35, 36, 40, 44, ',', ',', 0};
    std::ofstream file(folder_ + "/comma/LC_NUMERIC", std::ios::binary);
    file.write(reinterpret_cast<const char*>(words), sizeof words).write("UTF-8", sizeof "UTF-8");
    file.close();
    setenv("LOCPATH", folder_.c_str(), 1);
    EXPECT_NE(std::setlocale(LC_NUMERIC, "comma"), nullptr);
  }
  ~CommaLocale() {
    std::setlocale(LC_NUMERIC, "C");
    unsetenv("LOCPATH");
    std::filesystem::remove_all(folder_);
  }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;

 private:
  std::string folder_ = (std::filesystem::temp_directory_path() / "tutti-test-XXXXXX").string();
};

/// Programs may have set the user's locale before they begin.
TEST(Timeout, DoesNotDependOnTheLocale) {
  const CommaLocale locale;
  EXPECT_EQ(std::strtod("2.5", nullptr), 2);
  EXPECT_EQ(timeout_of("2.5"), 2'500'000'000u);
  unsetenv("TUTTI_TIMEOUT");
}

}  // namespace
}  // namespace tutti::job
