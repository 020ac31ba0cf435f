// SPDX-License-Identifier: BSD-3-Clause
// Everything about one job, for people and for programs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diagnose/findings.hpp"
#include "diagnose/jobs.hpp"
#include "symbols/sites.hpp"

namespace tutti::diagnose {

class Report {
 public:
  /// Looks at the job. Throws Error (system) when its memory is none.
  Report(const Job& job, std::string_view (*algorithm)(std::int32_t));
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  std::string text();
  std::string json();

 private:
  /// What the members of a group have called last, and who.
  using Calls = std::map<std::string, std::vector<Rank>>;

  std::string site(Rank rank, std::uint64_t address);
  std::string heading() const;
  std::string doing(Rank rank);
  Calls calls_of(const Group& group) const;
  std::string rank_json(Rank rank);
  std::string wait_json(Rank rank, const host::Wait& wait);

  std::uint64_t job_;
  pid_t launcher_;
  Situation situation_;
  std::map<Rank, symbols::Sites> sites_;
  std::vector<Finding> findings_;
};

/// One line per job, or one array.
std::string list_text(const std::vector<Job>& jobs);
std::string list_json(const std::vector<Job>& jobs);

}  // namespace tutti::diagnose
