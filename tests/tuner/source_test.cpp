// SPDX-License-Identifier: BSD-3-Clause
// Where the table comes from: a file that is not quite one is never used, and always told of.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <numeric>
#include <random>
#include <vector>

#include "job/settings.hpp"
#include "synthetic.hpp"
#include "tune/source.hpp"
#include "tune/table.hpp"
#include "tuner/derive.hpp"
#include "tuner/store.hpp"
#include "tutti/error.hpp"

namespace tutti::tuner {
namespace {

using tune::find_table;
using tune::Source;

const tune::Machine machine{"Imaginary (R) CPU", 4, true};
constexpr char lines[] = "bcast 4K 2 linear\nbcast - - binomial:radix=3\n";

std::string whole() { return tune::file_text(machine, "# a remark\n", lines); }
void put(const std::string& text) { write_file(tune::table_path(machine), text); }

TEST(Source, IsThisMachinesFile) {
  const Folder folder;
  EXPECT_EQ(find_table(machine).name, "standard");
  EXPECT_EQ(find_table(machine).trouble, "");
  put(whole());
  const Source source = find_table(machine);
  EXPECT_EQ(source.name, (folder.path() / "tutti/imaginary-r-cpu-4-cores-single-copy.table").string());
  EXPECT_EQ(source.lines, lines);
  EXPECT_EQ(source.trouble, "");
  tune::Machine other = machine;
  other.cores = 2;
  EXPECT_EQ(find_table(other).name, "standard");
}

TEST(Source, BrokenFilesAreToldOf) {
  const Folder folder;
  tune::Machine other = machine;
  other.single_copy = false;
  for (const std::string& text : std::vector<std::string>{
           "", "\n", "garbage", std::string(300'000, 'x'), std::string(10'000, '\0'), "# tutti table 3\n" + whole(),
           tune::file_text(other, "", lines), tune::file_text(machine, "", "bcast - - gossip\n"),
           tune::file_text(machine, "", "bcast 1T - linear\n"), tune::file_text(machine, "", "gossip - - linear\n"),
           tune::file_text(machine, "", "bcast - -\n"), tune::file_text(machine, "", "bcast - - \x1b[31m\n"),
           tune::file_text(machine, std::string(60'000, '#') + "\n", ""), tune::file_text(machine, "", [] {
             std::string many;
             for (int i = 0; i < 4000; ++i) many += "bcast - - linear\n";
             return many;
           }())}) {
    put(text);
    const Source source = find_table(machine);
    if (text.find("####") != std::string::npos) {  // long remarks alone are no harm
      EXPECT_EQ(source.trouble, "");
      continue;
    }
    EXPECT_EQ(source.name, "standard") << text.substr(0, 100);
    EXPECT_EQ(source.lines, "");
    EXPECT_NE(source.trouble, "") << text.substr(0, 100);
    EXPECT_EQ(source.trouble.find('\x1b'), std::string::npos);
  }
}

TEST(Source, EveryTruncationIsToldOf) {
  const Folder folder;
  const std::string text = whole();
  for (std::size_t length = 0; length < text.size(); ++length) {
    put(text.substr(0, length));
    EXPECT_NE(find_table(machine).trouble, "") << length;
  }
}

TEST(Source, RandomDamageNeverHurts) {
  const Folder folder;
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    std::string text = whole();
    for (int j = 0; j < 3; ++j) text[random() % text.size()] = static_cast<char>(random());
    put(text);
    const Source source = find_table(machine);
    EXPECT_NO_THROW(tune::Table::parse(source.lines + tune::Table::standard({})));
    EXPECT_EQ(source.trouble.empty(), source.name != "standard");
  }
}

TEST(Source, WhatIsNoFileIsToldOf) {
  const Folder folder;
  const std::string path = tune::table_path(machine);
  std::filesystem::create_directories(path);
  EXPECT_NE(find_table(machine).trouble, "");
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_NE(find_table(machine).trouble, "");  // and does not wait for a writer
}

TEST(Standard, SendsFewMessagesWhereHostsShareCores) {
  std::vector<Rank> hosts(16);
  std::iota(hosts.begin(), hosts.end(), 0);
  collectives::Shape apart{.size = 16, .count = 1}, together = apart;
  apart.hosts = hosts;
  together.cell.small = together.cell.large = 64;
  const auto chosen = [](int ranks_per_core, const collectives::Shape& shape, Kind kind) {
    return tune::text_of(
        tune::Table::parse(tune::Table::standard({.ranks_per_core = ranks_per_core})).choose(shape, kind, 8, true));
  };
  EXPECT_EQ(chosen(1, apart, Kind::barrier), "recursive_doubling");
  EXPECT_EQ(chosen(2, apart, Kind::barrier), "tree");
  EXPECT_EQ(chosen(8, apart, Kind::barrier), "tree:radix=16") << "who sleeps wakes once";
  EXPECT_EQ(chosen(1, apart, Kind::allreduce), "recursive_doubling");
  EXPECT_EQ(chosen(2, apart, Kind::allreduce), "reduce_bcast");
  EXPECT_EQ(chosen(8, apart, Kind::allreduce), "reduce_bcast:radix=4");
  EXPECT_EQ(chosen(8, apart, Kind::allgather), "gather_bcast:radix=4");
  for (const Kind kind : {Kind::barrier, Kind::allreduce, Kind::allgather})
    EXPECT_EQ(chosen(8, together, kind), chosen(1, together, kind));
}

TEST(Standard, KnowsThatAnMpiCarriesTheMessages) {
  std::vector<Rank> hosts(8);
  std::iota(hosts.begin(), hosts.end(), 0);
  const auto chosen = [&](bool by_mpi, std::uint64_t link_rate) {
    const tune::Table::Conditions conditions{.link_rate = link_rate, .by_mpi = by_mpi};
    const collectives::Shape shape{.size = 8, .count = 1, .hosts = hosts};
    const auto table = tune::Table::parse(tune::Table::standard(conditions));
    return tune::text_of(table.choose(shape, Kind::allreduce, 1 << 20, true));
  };
  constexpr std::uint64_t fast = 10'000'000'000;
  EXPECT_EQ(chosen(true, fast), "rabenseifner");
  EXPECT_EQ(chosen(false, fast), "two_trees:segment=524288");
  EXPECT_EQ(chosen(true, 0), chosen(false, 0)) << "where nobody knows how fast links are";
}

TEST(Standard, KnowsHowFastLinksAre) {
  std::vector<Rank> hosts(8);
  std::iota(hosts.begin(), hosts.end(), 0);
  const auto chosen = [&](std::uint64_t link_rate, Kind kind, Count bytes) {
    collectives::Shape shape{.size = 8, .count = 1};
    shape.hosts = hosts;
    const tune::Table table = tune::Table::parse(tune::Table::standard({.link_rate = link_rate}));
    return tune::text_of(table.choose(shape, kind, bytes, true));
  };
  constexpr std::uint64_t unknown = 0, slow = 100'000'000, usual = 1'000'000'000, fast = 10'000'000'000;
  EXPECT_EQ(chosen(slow, Kind::allreduce, 8192), "rabenseifner") << "few bytes go before few messages";
  EXPECT_EQ(chosen(slow, Kind::bcast, 8192), "two_trees");
  EXPECT_EQ(chosen(fast, Kind::bcast, 1 << 20), "two_trees:segment=524288") << "a message costs more than its bytes";
  for (const Kind kind : {Kind::allreduce, Kind::bcast, Kind::reduce})
    for (const Count bytes : {8, 8192, 1 << 20}) EXPECT_EQ(chosen(usual, kind, bytes), chosen(unknown, kind, bytes));
  EXPECT_EQ(chosen(usual, Kind::allreduce, 8192), chosen(fast, Kind::allreduce, 8192));
  EXPECT_NE(chosen(usual, Kind::bcast, 1 << 20), chosen(fast, Kind::bcast, 1 << 20));
}

TEST(Source, TheEnvironmentGoesFirst) {
  const Folder folder;
  put(whole());
  setenv("TUTTI_TABLE", "standard", 1);
  EXPECT_EQ(find_table(machine).name, "standard");
  EXPECT_EQ(find_table(machine).lines, "");
  const std::string own = (folder.path() / "own").string();
  write_file(own, "# no heading needed\nallreduce - - ring # fast here\n");
  setenv("TUTTI_TABLE", own.c_str(), 1);
  EXPECT_EQ(find_table(machine).lines, "allreduce - - ring\n");
  write_file(own, "allreduce - - gossip\n");
  EXPECT_THROW(find_table(machine), Error);
  write_file(own, std::string(300'000, '#') + "\nbcast - - chain\n");  // of which the end is not just left out
  EXPECT_THROW(find_table(machine), Error);
  setenv("TUTTI_TABLE", "/no/such/file", 1);
  EXPECT_THROW(find_table(machine), Error);
  unsetenv("TUTTI_TABLE");
}

const tune::Machine amd{"AMD EPYC 9654 96-Core Processor", 4, true};

/// What a source has for a large alltoall on the cores of one host.
std::string alltoall_by(const Source& source) {
  const collectives::Shape shape{.size = 4, .count = 1, .cell = {64, 0, 64}};
  return tune::text_of(source.table("").choose(shape, Kind::alltoall, 1 << 20, true));
}

TEST(Source, TheStandardTableKnowsMakersOfProcessors) {
  const Folder folder;
  const Source source = find_table(amd);
  EXPECT_EQ(source.name, "standard");
  EXPECT_EQ(source.lines, "");
  EXPECT_EQ(alltoall_by(source), "board_pipeline");
  EXPECT_EQ(alltoall_by(find_table(machine)), "single_copy") << machine.processor;
}

/// A table that says something of one collective leaves the others to the standard table with all that it knows.
TEST(Source, TheStandardTableHoldsForWhatATableLeavesOpen) {
  const Folder folder;
  const std::string allreduce = "allreduce - - ring\n";
  write_file(tune::table_path(amd), tune::file_text(amd, "", allreduce));
  const Source measured = find_table(amd);
  EXPECT_EQ(measured.lines, allreduce) << measured.trouble;
  EXPECT_EQ(alltoall_by(measured), "board_pipeline");
  const std::string own = (folder.path() / "own").string();
  write_file(own, allreduce);
  setenv("TUTTI_TABLE", own.c_str(), 1);
  EXPECT_EQ(alltoall_by(find_table(amd)), "board_pipeline");
  unsetenv("TUTTI_TABLE");
  // Rank 0's holds for all, wherever they run.
  const job::Offer offer = job::Offer::unpack(job::own_offer(measured).pack());
  const Source agreed = job::process_from_environment(offer, find_table(machine)).table;
  EXPECT_EQ(agreed.lines, allreduce);
  EXPECT_EQ(alltoall_by(agreed), "board_pipeline");
}

/// What was measured on one host goes before nothing that the standard table has for links between hosts.
TEST(Source, MeasuredLinesHoldOnOneHost) {
  const Folder folder;
  Measurements all;
  all.points.push_back({Kind::bcast, 4, 1 << 20, {steady("linear", 100)}});
  const std::string derived = derive(all, machine), own = (folder.path() / "own").string();
  put(tune::file_text(machine, "", derived));
  write_file(own, derived);
  const auto chosen = [](Rank size, std::span<const Rank> hosts, Count bytes) {
    job::Offer offer = job::Offer::unpack(job::own_offer(find_table(machine)).pack());
    Source source = job::process_from_environment(offer, find_table(machine)).table;
    source.conditions.link_rate = 10'000'000'000;
    const collectives::Shape shape{.size = size, .count = 1, .hosts = hosts};
    return tune::text_of(source.table("").choose(shape, Kind::bcast, bytes, true));
  };
  const std::vector<Rank> apart{0, 1, 2, 3};
  EXPECT_EQ(chosen(4, {}, 1 << 20), "linear");
  for (const Rank size : {2, 4})
    EXPECT_EQ(chosen(size, std::span(apart).first(static_cast<std::size_t>(size)), 1 << 20), "binomial");
  // The user's own are for what the user runs.
  setenv("TUTTI_TABLE", own.c_str(), 1);
  EXPECT_EQ(chosen(4, apart, 1 << 20), "linear");
  unsetenv("TUTTI_TABLE");
}

/// Where two copies would not stay in it, the kernel makes one.
TEST(Source, TheStandardTableKnowsSmallCaches) {
  constexpr std::size_t mebi = std::size_t{1} << 20;
  const auto chosen = [](std::size_t cache, Count bytes) {
    const tune::Table table = tune::Table::parse(tune::Table::standard({.processor = "AMD EPYC", .cache = cache}));
    const collectives::Shape shape{.size = 2, .count = 1, .cell = {64, 0, 64}};
    return tune::text_of(table.choose(shape, Kind::alltoall, bytes, true));
  };
  for (const std::size_t cache : {std::size_t{0}, 16 * mebi})
    for (const Count bytes : {8, 4096, 1 << 20})
      EXPECT_EQ(chosen(cache, bytes), bytes < 96 ? "board" : "board_pipeline");
  EXPECT_EQ(chosen(8 * mebi, 8), "board");
  EXPECT_EQ(chosen(8 * mebi, 256 << 10), "board_pipeline");
  EXPECT_EQ(chosen(8 * mebi, 1 << 20), "single_copy");
  EXPECT_EQ(chosen(8 * mebi, 4 << 20), "board_pipeline");
  EXPECT_EQ(tune::Table::standard({.processor = "Intel", .cache = 8 * mebi}), tune::Table::standard({}));
}

TEST(Source, ProcessorsHaveNames) {
  const Folder folder;
  const std::string root = folder.path().string();
  EXPECT_EQ(tune::processor(root), "unknown processor");
  write_file(root + "/proc/cpuinfo", "processor\t: 0\nmodel name\t: A  CPU\nmodel\t: 7\n\nprocessor: 1\n");
  EXPECT_EQ(tune::processor(root), "A  CPU");
  write_file(root + "/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
  EXPECT_EQ(tune::processor(root), "implementer 0x41 part 0xd0c");
  EXPECT_FALSE(tune::processor().empty());
}

}  // namespace
}  // namespace tutti::tuner
