// SPDX-License-Identifier: BSD-3-Clause
// Files are replaced as a whole, whoever else writes or reads.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "synthetic.hpp"
#include "tune/source.hpp"
#include "tuner/derive.hpp"
#include "tuner/store.hpp"
#include "tutti/error.hpp"

namespace tutti::tuner {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Store, SavesWhatIsFound) {
  const Folder folder;
  const std::string path = tune::table_path(imaginary);
  Measurements all = lawful();
  all.machine = imaginary.text();
  std::string trouble;
  add_to_saved(
      path, imaginary, all, [](const Measurements& one) { return derive(one, imaginary); }, trouble);
  const tune::Source source = tune::find_table(imaginary);
  EXPECT_EQ(source.name, path) << source.trouble;
  EXPECT_EQ(source.lines, derive(all, imaginary));
  EXPECT_EQ(read_measurements(measurements_path(path), imaginary, trouble), all);
  EXPECT_EQ(trouble, "");
  EXPECT_EQ(read_measurements(measurements_path(path), {"Other", 4, true}, trouble), Measurements{});
  EXPECT_NE(trouble, "");
  EXPECT_NE(read(path).find("# measured: 2026-01-02"), std::string::npos);
}

/// After an upgrade: what an algorithm of the old version took is no reason to lose the rest, nor to fail.
TEST(Store, AlgorithmsThatThereAreNoneOfAreLeftOut) {
  const Folder folder;
  const std::string path = (folder.path() / "m.json").string();
  Measurements all = lawful();
  all.machine = imaginary.text();
  all.duels.push_back({2, {{Kind::scan, 8, "board"}}, {{Kind::exscan, 8, "gossip"}}, {1, 2}, {3}});
  Measurements old = all;
  all.duels.clear();
  point_of(old, Kind::allreduce, 4, 128).candidates.push_back(steady("gossip", 1));
  point_of(old, Kind::bcast, 4, 8).candidates.push_back(steady("binomial:branches=3", 1));
  old.points.push_back({Kind::gather, 3, 8, {steady("gossip:radix=3", 1)}});
  write_file(path, to_json(old));
  std::string trouble;
  EXPECT_EQ(read_measurements(path, imaginary, trouble), all);
  EXPECT_NE(trouble.find(path), std::string::npos) << trouble;
  EXPECT_NE(trouble.find("(bcast, allreduce, gather, exscan)"), std::string::npos) << trouble;
}

TEST(Store, MeasurementsThatAreNoneAreToldOf) {
  const Folder folder;
  const std::string path = (folder.path() / "m.json").string();
  std::string trouble;
  EXPECT_EQ(read_measurements(path, imaginary, trouble), Measurements{});
  EXPECT_EQ(trouble, "");  // there are none, which is no trouble
  for (const char* text : {"", "{}", "[1,2", "\xff\xfe", "null"}) {
    write_file(path, text);
    EXPECT_EQ(read_measurements(path, imaginary, trouble), Measurements{});
    EXPECT_NE(trouble, "") << text;
  }
  EXPECT_EQ(read_measurements(folder.path().string(), imaginary, trouble), Measurements{});
  EXPECT_NE(trouble, "");
}

TEST(Store, WritersDoNotDisturbEachOther) {
  const Folder folder;
  const std::string path = (folder.path() / "some/where/file").string();
  constexpr int writers = 4, times = 50;
  const auto content = [](int writer) { return std::string(20'000, static_cast<char>('a' + writer)); };
  write_file(path, content(0));
  std::vector<pid_t> children;
  for (int writer = 0; writer < writers; ++writer) {
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      for (int i = 0; i < times; ++i) write_file(path, content(writer));
      _exit(0);
    }
    children.push_back(pid);
  }
  for (int i = 0; i < 200; ++i) {
    const std::string text = read(path);
    ASSERT_EQ(text.size(), content(0).size());
    EXPECT_EQ(text.find_first_not_of(text[0]), std::string::npos);
  }
  for (const pid_t pid : children) {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const auto left = std::filesystem::directory_iterator(folder.path() / "some/where");
  EXPECT_EQ(std::distance(begin(left), end(left)), 1);
}

/// Who adds while another does waits for it, and finds what it has added.
TEST(Store, WhatIsAddedAtTheSameTimeIsKept) {
  const Folder folder;
  const std::string path = tune::table_path(imaginary);
  const auto of = [](Kind kind) {
    Measurements one = lawful();
    one.machine = imaginary.text();
    std::erase_if(one.points, [kind](const Point& point) { return point.kind != kind; });
    return one;
  };
  const auto lines_of = [](const Measurements& all) { return derive(all, imaginary); };
  std::string trouble, others;
  std::jthread other;
  const auto meanwhile = [&](const Measurements& all) {
    other = std::jthread([&] { add_to_saved(path, imaginary, of(Kind::reduce), lines_of, others); });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // enough for who does not wait
    return lines_of(all);
  };
  add_to_saved(path, imaginary, of(Kind::bcast), meanwhile, trouble);
  other.join();
  const Measurements all = read_measurements(measurements_path(path), imaginary, trouble);
  for (const Kind kind : {Kind::bcast, Kind::reduce}) EXPECT_EQ(all.ranks(kind), (std::vector<Rank>{2, 4}));
  EXPECT_EQ(tune::find_table(imaginary).lines, derive(all, imaginary));
  EXPECT_EQ(trouble + others, "");
}

TEST(Store, SaysWhyItCannotWrite) {
  const Folder folder;
  write_file((folder.path() / "file").string(), "x");
  EXPECT_THROW(write_file((folder.path() / "file/below").string(), "x"), Error);
  std::filesystem::create_directory(folder.path() / "folder");
  EXPECT_THROW(write_file((folder.path() / "folder").string(), "x"), Error);
  const auto left = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(left), end(left)), 2);
}

}  // namespace
}  // namespace tutti::tuner
