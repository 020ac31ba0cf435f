// SPDX-License-Identifier: BSD-3-Clause
// Names for addresses: in this very program, and in files that are broken.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "base/random.hpp"
#include "symbols/sites.hpp"

namespace tutti::symbols {
namespace {

[[gnu::noinline]] std::uint64_t a_place_in_this_program() {
  return reinterpret_cast<std::uint64_t>(__builtin_extract_return_addr(__builtin_return_address(0)));
}

std::string own_file() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

base::Descriptor file_with(const std::string& content) {
  base::Descriptor file(memfd_create("elf", MFD_CLOEXEC));
  if (write(file.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size())) std::abort();
  return file;
}

/// All that a reader can be asked; the sanitizers and the fuzzer watch.
void ask(const Elf& elf) {
  for (const std::uint64_t place : {std::uint64_t{0}, std::uint64_t{0x1234}, ~std::uint64_t{0}}) {
    const auto address = elf.address_of(place);
    elf.function_at(address.value_or(place));
  }
}

TEST(Sites, NamesAFunctionOfThisProgram) {
  Sites sites(getpid());
  const std::string name = sites.name(a_place_in_this_program());
  EXPECT_NE(name.find("test_symbols_elf: "), std::string::npos) << name;
  EXPECT_NE(name.find("NamesAFunctionOfThisProgram"), std::string::npos) << name;
  EXPECT_NE(name.find("+0x"), std::string::npos) << name;
}

TEST(Sites, NamesAFunctionOfALibrary) {
  Sites sites(getpid());
  EXPECT_NE(sites.name(reinterpret_cast<std::uint64_t>(&std::getenv)).find("getenv"), std::string::npos);
}

TEST(Sites, SaysTheAddressWhereThereIsNoFile) {
  Sites sites(getpid()), dead(0);
  EXPECT_EQ(sites.name(0), "");
  EXPECT_EQ(sites.name(0x10), "0x10");
  EXPECT_EQ(dead.name(0xabc), "0xabc");
}

TEST(Sites, ReadsOnlyWholeLinesOfExecutableFiles) {
  const auto modules = parse_maps(
      "1000-2000 r-xp 00000300 08:01 7                 /bin/a b\n"
      "2000-3000 rw-p 00000000 08:01 7 /bin/data\n"
      "3000-2000 r-xp 00000000 08:01 7 /bin/backwards\n"
      "zz-3000 r-xp 00000000 08:01 7 /bin/wrong\n"
      "4000-5000 r-xp 00000000 00:00 0 [vdso]\n"
      "5000-6000 r-x");
  ASSERT_EQ(modules.size(), 1U);
  EXPECT_EQ(modules[0].path, "/bin/a b");
  EXPECT_EQ(modules[0].offset, 0x300U);
}

TEST(Sites, ArePrintableWhateverFilesAreCalled) {
  Sites sites(std::string_view("1000-2000 r-xp 00000000 08:01 7 /none/\x1b[31mred\n"));
  EXPECT_EQ(sites.name(0x1010), "?[31mred+0x10");
}

TEST(Elf, KnowsNothingAboutOtherFiles) {
  for (const std::string& content : {std::string(), std::string("\177ELF"), std::string(200, 'x')}) {
    const Elf elf(file_with(content));
    EXPECT_FALSE(elf.address_of(0));
    EXPECT_FALSE(elf.function_at(0));
  }
  ask(Elf(base::Descriptor()));
}

TEST(Elf, SurvivesBrokenFiles) {
  const std::string whole = own_file();
  base::Random random(1);
  for (int round = 0; round < 100; ++round) {
    std::string broken = whole.substr(0, 8192);
    // The header and the tables' places; then the file ends early.
    for (int i = 0; i < 4; ++i) broken[24 + random.next() % 40] = static_cast<char>(random.next());
    broken.resize(64 + random.next() % 8000);
    ask(Elf(file_with(broken)));
  }
}

}  // namespace
}  // namespace tutti::symbols
