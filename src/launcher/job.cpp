// SPDX-License-Identifier: BSD-3-Clause
// The middle of a job: signals, ranks that end, the deadline.
#include "launcher/job.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>

#include "base/clock.hpp"
#include "base/names.hpp"
#include "launch/system.hpp"

namespace tutti::launcher {

namespace {

constexpr std::chrono::seconds grace_time{1};
/// A wrapper (`sh -c`) that ends because of its program's death does so within this; then one line is enough.
constexpr std::chrono::milliseconds wrapper_time{200};
/// So many milliseconds are waited for the end of a rank that has died: of a wrapper's program it never comes.
constexpr int most_patience = 50;

std::string seconds(std::chrono::nanoseconds time) {
  std::string text = std::to_string(std::chrono::duration<double>(time).count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

/// A key of the terminal stops nobody whom no shell could continue: that rule (of orphaned process groups) is the
/// kernel's, for SIGTSTP alone.
void stop_launcher(bool typed) {
  if (!typed) {
    ::raise(SIGSTOP);
    return;
  }
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  ::raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &stop, nullptr);  // it arrives here
  sigprocmask(SIG_BLOCK, &stop, nullptr);
}

}  // namespace

int run(const Options& options) { return Job(options).run(); }

/// Only after an error: `run` leaves nothing. What ranks have started is the guard's then.
Job::~Job() {
  if (!guard_) return;
  guard_->abandon();
  // Memory may be what is lacking: nothing here takes any.
  for (const Child& child : children_) {
    if (child.pid <= 0) continue;
    kill(-child.pid, SIGKILL);
    if (kill(child.pid, SIGKILL) == 0) waitpid(child.pid, nullptr, 0);  // it may have gone to another group
  }
}

int Job::run() {
  start_ranks();
  while (running_ > 0) loop_.turn();
  loop_.cancel(deadline_);
  deadline_at_ = 0;
  end_survivors();
  summarise();
  finish_output();
  for (const Child& child : children_) waitpid(child.pid, nullptr, 0);
  guard_.reset();
  if (timed_out_) return exit_timeout;
  return code_;
}

void Job::say(const std::string& text) { error_.write("tutti: " + text + "\n"); }

void Job::adjust_outputs() {
  for (Child& child : children_) {
    if (child.output) child.output->adjust();
    if (child.error) child.error->adjust();
  }
}

/// Nobody reads any more: that is often meant (`| head`), and the ranks learn it by SIGPIPE. All else is a failure.
void Job::report_lost_output() {
  if (said_lost_ || output_.problem() == 0 || output_.problem() == EPIPE) return;
  said_lost_ = true;
  say(std::string("cannot write standard output: ") + std::strerror(output_.problem()) + "; the rest of it is lost");
  if (code_ == 0) code_ = exit_no_output;
}

/// "rank 2 (process 4711)".
std::string Job::who(Rank rank) {
  const pid_t joined = server_->pid(rank), started = child(rank).pid;
  return "rank " + std::to_string(rank) + " (process " + std::to_string(joined != 0 ? joined : started) +
         (joined != 0 && joined != started ? ", started by " + std::to_string(started) : "") + ")";
}

std::string Job::doing(Rank rank) {
  switch (server_->seat(rank)) {
    case Seat::empty:
      return "before it joined";
    case Seat::joining:
    case Seat::ready:
      return "while it joined";
    case Seat::left:
      return "after it had left";
    default:
      return server_->pid(rank) == 0 ? "before it joined" : last_collective(*segment_, rank, options_.is_world);
  }
}

void Job::serve_signals() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info))
    on_signal(static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL);
}

/// `typed`: by a key of the terminal, not by kill().
void Job::on_signal(int number, bool typed) {
  switch (number) {
    case SIGCHLD:
      return reap();
    case SIGINT:
      return on_interrupt();
    case SIGTSTP:
      return stop_all(typed);
    case SIGCONT:
      signal_groups(SIGCONT);
      if (input_) input_->adjust();
      return;
    case SIGTERM:
    case SIGHUP:
    case SIGQUIT:
      // The first asks, as batch systems do that then let programs save what they have; after a second one ranks have
      // as long as at any other end.
      return note_request(number) ? terminate() : ask_groups(number);
    default:
      return signal_groups(number);
  }
}

/// True when the last one was the same. After the end of all ranks, it means that nobody wants the rest of their
/// output; the kernel names a request (a lower number) before an end that was there first, so that the ends are looked
/// for.
bool Job::note_request(int number) {
  const bool again = asked_ == number;
  asked_ = number;
  reap();
  hurried_ = running_ == 0;
  return again;
}

/// Ctrl-C once asks, twice kills, three times kills even those that write their core dump.
void Job::on_interrupt() {
  note_request(SIGINT);
  if (++interrupts_ == 1) {
    say("asks all ranks to stop; Ctrl-C again kills them");
    ask_groups(SIGINT);
  } else {
    kill_all(interrupts_ > 2);
  }
}

/// Ctrl-Z. The ranks are in process groups of their own, which the terminal does not reach.
void Job::stop_all(bool typed) {
  signal_groups(SIGSTOP);
  const std::uint64_t stopped = base::now();
  stop_launcher(typed);
  // Continued, here, or not stopped at all: process 1 of a container is not either. The time in between is not counted.
  signal_groups(SIGCONT);
  if (deadline_at_ == 0) return;
  deadline_at_ += base::now() - stopped;
  loop_.cancel(deadline_);
  const auto rest = static_cast<std::int64_t>(deadline_at_) - static_cast<std::int64_t>(base::now());
  deadline_ = loop_.after(std::chrono::nanoseconds(rest), [this] { on_timeout(); });
}

void Job::on_timeout() {
  deadline_at_ = 0;
  timed_out_ = true;
  say("the time is over (--timeout " + seconds(options_.timeout) + ")");
  std::vector<std::pair<std::string, std::vector<Rank>>> doings;
  for (Rank rank = 0; rank < options_.ranks; ++rank) {
    if (!child(rank).running) continue;
    const std::string what = doing(rank);
    auto entry = std::ranges::find(doings, what, [](const auto& pair) { return pair.first; });
    if (entry == doings.end()) entry = doings.insert(entry, {what, {}});
    entry->second.push_back(rank);
  }
  for (const auto& [what, ranks] : doings) say(base::list_ranks(ranks) + " still running, " + what);
  terminate();
}

/// Some failed, none was killed, and a further one has died whose end cannot be had yet: the kernel gives up a
/// process's locks before it says how it ended. Others may have failed because of it.
bool Job::misses_cause(std::span<const std::pair<Rank, End>> ended) {
  if (std::ranges::none_of(ended, [](const auto& entry) { return entry.second.code() != 0; }) ||
      std::ranges::any_of(ended, [](const auto& entry) { return entry.second.killed; }))
    return false;
  for (Rank rank = 0; rank < options_.ranks; ++rank)
    if (child(rank).running && segment_->probe(rank) == host::Life::dead &&
        std::ranges::find(ended, rank, [](const auto& entry) { return entry.first; }) == ended.end())
      return true;
  return false;
}

void Job::reap() {
  std::vector<std::pair<Rank, End>> ended;
  std::vector<bool> seen(static_cast<std::size_t>(options_.ranks));
  // Until there is none: a rank may end because of one that ended just after we had looked at it.
  std::size_t known = 0;
  int patience = most_patience;
  do {
    known = ended.size();
    for (Rank rank = 0; rank < options_.ranks; ++rank) {
      siginfo_t info{};
      // The zombie stays until the end of the job: its number must not come to mean another process group.
      if (!child(rank).running || seen[static_cast<std::size_t>(rank)] ||
          waitid(P_PID, static_cast<id_t>(child(rank).pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
          info.si_pid == 0)
        continue;
      seen[static_cast<std::size_t>(rank)] = true;
      ended.push_back({rank, End{info.si_code != CLD_EXITED, info.si_code == CLD_DUMPED, info.si_status}});
    }
  } while (ended.size() > known || (misses_cause(ended) && patience-- > 0 && poll(nullptr, 0, 1) == 0));
  // Several may have ended since we looked. One that was killed is rather the cause than one that exited.
  std::ranges::stable_sort(ended, {}, [](const auto& entry) { return entry.second.killed ? 0 : 1; });
  for (const auto& [rank, end] : ended) rank_ended(rank, end);
}

void Job::rank_ended(Rank rank, const End& end) {
  Child& self = child(rank);
  self.running = false;
  --running_;
  self.output->drain();
  self.error->drain();
  const std::string what = doing(rank);
  server_->ended(rank, self.pid);
  well_ = well_ || end.code() == 0;
  if (end.code() == 0) return;
  const bool by_us = end.killed && ((phase_ == Phase::killed && end.number == SIGKILL) ||
                                    (phase_ >= Phase::asked && end.number == SIGTERM));
  const bool as_asked = asked_ != 0 && (!end.killed || end.number == asked_);
  if (by_us) {
    ended_by_us_.push_back(rank);
    if (code_ == 0) code_ = asked_ != 0 ? 128 + asked_ : end.code();
  } else if (as_asked) {
    if (code_ == 0) code_ = end.code();
  } else {
    rank_failed(rank, end, what);
  }
}

void Job::rank_failed(Rank rank, const End& end, const std::string& what) {
  child(rank).missed = false;
  report_missed();
  if (options_.keep_going && end.killed && (running_ > 0 || well_))
    return say(who(rank) + " " + end.text() + ", " + what);
  const bool for_lack_of_readers = output_.problem() != 0 && end.code() == 128 + SIGPIPE;
  if (for_lack_of_readers || rank == first_failed_) {
    // There is nothing to add.
  } else if (first_failed_ < 0 || end.killed)
    say(who(rank) + " " + end.text() + ", " + what);
  else
    followers_.push_back(rank);
  if (code_ == 0) code_ = end.code();
  if (first_failed_ < 0) first_failed_ = rank;
  end_all(grace_time);
}

void Job::rank_lost(Rank rank) {
  child(rank).missed = true;
  loop_.after(wrapper_time, [this, rank] {
    if (child(rank).running) report_missed();
  });
}

/// Members that ended without leaving, and whose started process has not said why.
void Job::report_missed() {
  for (Rank rank = 0; rank < options_.ranks; ++rank) {
    if (!child(rank).missed) continue;
    child(rank).missed = false;
    say(who(rank) + " ended without leaving the job, " + last_collective(*segment_, rank, options_.is_world));
  }
}

}  // namespace tutti::launcher
