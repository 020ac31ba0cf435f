// SPDX-License-Identifier: BSD-3-Clause
// The end of a job: grace, SIGTERM, SIGKILL, and nothing left behind.
#include <algorithm>
#include <cerrno>
#include <set>
#include <string>

#include "base/names.hpp"
#include "launcher/job.hpp"

namespace tutti::launcher {

namespace {

constexpr std::chrono::seconds terminate_time{2};
constexpr std::chrono::milliseconds kill_interval{50}, survivor_interval{20}, survivor_time{500};

}  // namespace

void Job::end_all(std::chrono::nanoseconds grace) {
  if (phase_ != Phase::running) return;
  phase_ = Phase::grace;
  next_phase_ = loop_.after(grace, [this] { terminate(); });
}

void Job::terminate() {
  if (phase_ >= Phase::asked) return;
  loop_.cancel(next_phase_);
  phase_ = Phase::asked;
  ask_groups(SIGTERM);
  next_phase_ = loop_.after(terminate_time, [this] { kill_all(false); });
}

/// SIGKILL ends everything at once, except whoever writes its core dump: that is waited for.
void Job::kill_all(bool dumping_too) {
  loop_.cancel(next_phase_);
  phase_ = Phase::killed;
  const std::vector<Survivor> survivors = find_ours();
  for (const Survivor& survivor : survivors)
    if (dumping_too || !survivor.dumping) kill(survivor.pid, SIGKILL);
  if (!said_dumping_ && std::ranges::any_of(survivors, &Survivor::dumping)) {
    said_dumping_ = true;
    say("waits for a core dump to be written; a further Ctrl-C gives it up");
  }
  // Again: a process may have been born while we looked.
  next_phase_ = loop_.after(kill_interval, [this, dumping_too] { kill_all(dumping_too || interrupts_ > 2); });
}

std::vector<pid_t> Job::groups() const {
  std::vector<pid_t> groups;
  for (const Child& child : children_)
    if (child.pid > 0) groups.push_back(child.pid);
  return groups;
}

/// The job's processes, but for those that the kernel does not let us signal: these are named once.
std::vector<Survivor> Job::find_ours() {
  std::vector<Survivor> found = find_survivors(secret_text_, groups());
  std::erase_if(found, [this](const Survivor& survivor) {
    if (kill(survivor.pid, 0) == 0 || errno != EPERM) return false;
    if (foreign_.insert(survivor.pid).second)
      say("process " + std::to_string(survivor.pid) +
          ", which a rank has started, belongs to another user and cannot be ended");
    return true;
  });
  return found;
}

/// Those that have left the ranks' process groups, and did not hear what these were asked.
void Job::ask_strangers(std::vector<Survivor> left, std::set<pid_t>& asked) const {
  const std::vector<pid_t> known = groups();
  std::erase_if(left,
                [&](const Survivor& survivor) { return std::ranges::find(known, survivor.group) != known.end(); });
  ask_to_end(left, asked);
}

void Job::signal_groups(int number) {
  for (const pid_t group : groups()) kill(-group, number);
}

void Job::ask_groups(int number) {
  signal_groups(number);
  signal_groups(SIGCONT);  // A stopped process hears nothing.
}

/// All ranks have ended; what they have started, and left running, ends too. Where nothing was ended by force one look
/// is enough: several would make every job last a tenth of a second longer.
void Job::end_survivors() {
  if (phase_ != Phase::killed) loop_.cancel(next_phase_);  // kill_all goes on: it may have missed one
  bool expired = false;
  std::set<pid_t> asked;
  const launch::Loop::Timer kill_time = loop_.after(survivor_time, [&] { expired = true; });
  for (int empty = 0; true;) {
    const std::vector<Survivor> left = find_ours();
    empty = left.empty() ? empty + 1 : 0;
    if (empty == (phase_ < Phase::asked ? 1 : empty_looks)) break;
    if (phase_ < Phase::asked) terminate();
    if (phase_ == Phase::asked) ask_strangers(left, asked);
    if (expired && phase_ != Phase::killed) kill_all(false);
    bool due = false;
    loop_.after(survivor_interval, [&] { due = true; });
    while (!due) loop_.turn();
  }
  loop_.cancel(kill_time);
  loop_.cancel(next_phase_);
}

void Job::summarise() {
  std::ranges::sort(followers_);
  std::ranges::sort(ended_by_us_);
  const std::string after = first_failed_ >= 0 ? " after " + base::list_ranks(std::vector{first_failed_}) : "";
  if (!followers_.empty()) say(base::list_ranks(followers_) + " failed" + after);
  if (!ended_by_us_.empty() && asked_ == 0) say("ended " + base::list_ranks(ended_by_us_) + after);
}

/// Whoever asks us to stop now does not want what takes longer.
void Job::finish_output() {
  for (Child& child : children_) {
    for (Output* output : {child.output.get(), child.error.get()}) {
      while (!output->drain() && !hurried_) loop_.turn();
      output->end();
    }
  }
  const auto left = [this] { return !output_.empty() || !error_.empty(); };
  while (!hurried_ && left()) loop_.turn();
  if (left() && code_ == 0) code_ = 128 + asked_;
}

}  // namespace tutti::launcher
