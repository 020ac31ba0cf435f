// SPDX-License-Identifier: BSD-3-Clause
// Cores under made-up control groups and processors.
#include "host/topology.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <numeric>

namespace tutti::host {
namespace {

class Topology : public testing::Test {
 protected:
  Topology() {
    char name[] = "/tmp/tutti-topology-XXXXXX";
    root_ = mkdtemp(name);
  }
  ~Topology() override { std::filesystem::remove_all(root_); }

  void file(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  Cores cores(int count) const {
    std::vector<int> mask(static_cast<std::size_t>(count));
    std::iota(mask.begin(), mask.end(), 0);
    return usable_cores(mask, root_);
  }

  std::string root_;
};

TEST_F(Topology, NothingLimitsABareMachine) {
  EXPECT_EQ(cores(8).usable, 8);
  EXPECT_EQ(cores(8).why, "affinity 8, cpuset none, cpu.max none -> 8");
}

TEST_F(Topology, TheSecondVersionOfControlGroups) {
  file("/proc/self/cgroup", "0::/a/b\n");
  file("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  file("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  file("/sys/fs/cgroup/a/cpuset.cpus.effective", "0-1\n");
  EXPECT_EQ(cores(4).why, "affinity 4, cpuset 2, cpu.max 1.5 -> 1");
  EXPECT_EQ(cores(4).usable, 1);
  EXPECT_EQ(cores(4).list, (std::vector<int>{0, 1}));
  file("/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
  EXPECT_EQ(cores(4).why, "affinity 4, cpuset 2, cpu.max 0.5 -> 1");
  file("/sys/fs/cgroup/a/cpu.max", "350000 100000\n");
  file("/sys/fs/cgroup/a/b/cpu.max", "325000 100000\n");
  file("/sys/fs/cgroup/a/b/cpuset.cpus.effective", "0-3,6,8-9\n");
  EXPECT_EQ(cores(16).why, "affinity 16, cpuset 7, cpu.max 3.25 -> 3");
}

TEST_F(Topology, TheFirstVersionOfControlGroups) {
  file("/proc/self/cgroup", "9:cpuset:/job\n4:cpu,cpuacct:/job/x\n1:name=systemd:/job\n0::/\n");
  file("/sys/fs/cgroup/cpuset/job/cpuset.effective_cpus", "1-3\n");
  file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "200000\n");
  file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  file("/sys/fs/cgroup/cpu,cpuacct/job/x/cpu.cfs_quota_us", "-1\n");
  file("/sys/fs/cgroup/cpu,cpuacct/job/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores(8).why, "affinity 8, cpuset 3, cpu.max 2 -> 2");
  EXPECT_EQ(cores(8).list, (std::vector<int>{1, 2, 3}));
}

TEST_F(Topology, AContainerSeesItsLimitsAtTheRootOfItsTree) {
  file("/proc/self/cgroup", "4:cpu,cpuacct:/docker/0123\n3:cpuset:/docker/0123\n");
  file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
  file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  file("/sys/fs/cgroup/cpuset/cpuset.cpus", "2,3\n");
  EXPECT_EQ(cores(4).why, "affinity 4, cpuset 2, cpu.max 1 -> 1");
}

TEST_F(Topology, NonsenseLimitsNothing) {
  file("/proc/self/cgroup", "nonsense\n::\n0::\n");
  file("/sys/fs/cgroup/cpu.max", "much\n");
  file("/sys/fs/cgroup/cpuset.cpus.effective", "all\n");
  EXPECT_EQ(cores(4).usable, 4);
  file("/sys/fs/cgroup/cpu.max", "100000 0\n");
  file("/sys/fs/cgroup/cpuset.cpus.effective", "5-2\n");
  EXPECT_EQ(cores(4).usable, 4);
}

TEST_F(Topology, ACpusetElsewhereIsNotBelieved) {
  file("/proc/self/cgroup", "0::/\n");
  file("/sys/fs/cgroup/cpuset.cpus.effective", "60-61\n");
  EXPECT_EQ(cores(4).list.size(), 4u);
}

TEST_F(Topology, ThisMachineHasACore) {
  const Cores here = usable_cores();
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_GE(here.usable, 1);
  EXPECT_LE(here.usable, CPU_COUNT(&set));
  EXPECT_EQ(static_cast<int>(affinity().size()), CPU_COUNT(&set));
  std::printf("%s\n", here.why.c_str());
}

}  // namespace
}  // namespace tutti::host
