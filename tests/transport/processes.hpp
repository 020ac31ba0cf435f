// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite's ranks as forked processes.
#pragma once

#include "conformance.hpp"

namespace tutti::transport::conformance {

class Processes : public Harness {
 public:
  explicit Processes(const char* name) : name_(name) {}
  const char* name() const override { return name_; }
  void run(int size, const Body& body) override;

 private:
  /// Before the ranks begin.
  virtual void prepare(int size) = 0;
  /// In the rank's process.
  virtual void run_rank(Rank rank, int size, Shared& shared, const Body& body) = 0;
  /// In the parent: the rank was killed.
  virtual void died(Rank rank) = 0;

  bool reap(std::vector<int>& pids, Shared& shared);

  const char* name_;
};

}  // namespace tutti::transport::conformance
