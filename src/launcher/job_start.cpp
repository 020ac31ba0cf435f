// SPDX-License-Identifier: BSD-3-Clause
// The beginning of a job.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/clock.hpp"
#include "base/names.hpp"
#include "launch/environment.hpp"
#include "launch/system.hpp"
#include "launcher/binding.hpp"
#include "launcher/job.hpp"

extern char** environ;

namespace tutti::launcher {

namespace {

struct Pipe {
  base::Descriptor reading, writing;
};

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw launch::system_error("cannot make a pipe");
  return {base::Descriptor(ends[0]), base::Descriptor(ends[1])};
}

base::Descriptor open_nothing() {
  base::Descriptor nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing) throw launch::system_error("cannot open /dev/null");
  return nothing;
}

bool ignored(int number) {
  struct sigaction action {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Two pipes, two connections and a process descriptor a rank, and some of our own. With fewer, ranks that join would
/// be turned away one by one, and none could say why. Throws Error (system).
rlimit raise_descriptor_limit(int ranks) {
  const rlimit found = launch::allow_open_files(static_cast<rlim_t>(ranks) * 6 + 512);
  const rlim_t needed = static_cast<rlim_t>(ranks) * 5 + 16;
  if (found.rlim_max < needed)
    throw Error(Cause::system, "a job of " + std::to_string(ranks) + " ranks needs " + std::to_string(needed) +
                                   " open files here, and no more than " + std::to_string(found.rlim_max) +
                                   " are allowed; raise the limit of open files (ulimit -n), or start fewer ranks");
  return found;
}

Ground make_ground(const Options& options) {
  Ground ground{};
  sigprocmask(SIG_SETMASK, nullptr, &ground.mask);
  ground.program = find_program(options.command.front());
  ground.arguments = options.command;
  ground.files = raise_descriptor_limit(options.ranks);
  const auto take = [&](int number, sighandler_t action) {
    ground.inherited.emplace_back(number, std::signal(number, action));
  };
  take(SIGPIPE, SIG_IGN);
  take(SIGXFSZ, SIG_IGN);  // under ulimit -f the segment's file is refused by an error then, not by our death
  take(SIGTTIN, SIG_IGN);
  take(SIGCHLD, SIG_DFL);  // ignored, the kernel would bury the ranks before we learn how they have ended
  return ground;
}

bool is_set_by_us(std::string_view entry) {
  constexpr std::string_view names[] = {launch::rank_variable,   launch::size_variable,        launch::store_variable,
                                        launch::secret_variable, launch::secret_file_variable, terminal_variable};
  return std::ranges::any_of(names, [&](std::string_view name) {
    return entry.starts_with(name) && entry.substr(name.size()).starts_with('=');
  });
}

void set(std::vector<std::string>& environment, const std::string& entry) {
  const std::string name = entry.substr(0, entry.find('=') + 1);
  std::erase_if(environment, [&](const std::string& other) { return other.starts_with(name); });
  environment.push_back(entry);
}

/// The width of the terminal that standard error is; 0 = it is none.
int terminal_columns() {
  winsize size{};
  if (isatty(STDERR_FILENO) != 1) return 0;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

Job::Job(const Options& options)
    : options_(options),
      ground_(make_ground(options)),
      cores_(host::usable_cores()),
      secret_(launch::random_secret()),
      secret_text_(launch::to_hex(secret_)),
      guard_(std::in_place, secret_text_),
      segment_(host::Segment::create(options.ranks, options.job != 0 ? options.job : launch::random_job())),
      output_(loop_, STDOUT_FILENO),
      error_(loop_, STDERR_FILENO),
      nothing_(open_nothing()),
      children_(static_cast<std::size_t>(options.ranks)) {
  server_.emplace(loop_, secret_, segment_, cores_.usable);
  server_->on_lost([this](Rank rank) { rank_lost(rank); });
  output_.on_change([this] {
    adjust_outputs();
    report_lost_output();
  });
  error_.on_change([this] { adjust_outputs(); });
  take_signals();
}

void Job::take_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP})
    if (!ignored(number)) sigaddset(&signals, number);  // nohup, or a shell's background job
  sigaddset(&signals, SIGCONT);
  sigaddset(&signals, SIGCHLD);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  signals_ = base::Descriptor(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) throw launch::system_error("cannot receive signals (signalfd)");
  loop_.watch(signals_.get(), EPOLLIN, [this](std::uint32_t) { serve_signals(); });
}

std::vector<std::string> Job::environment_of(Rank rank) const {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!is_set_by_us(*entry)) environment.emplace_back(*entry);
  for (const std::string& entry : options_.environment) set(environment, entry);
  const auto add = [&](const char* name, const std::string& value) {
    environment.push_back(std::string(name) + "=" + value);
  };
  add(launch::rank_variable, std::to_string(rank));
  add(launch::size_variable, std::to_string(options_.ranks));
  add(launch::store_variable, server_->address());
  add(launch::secret_variable, secret_text_);
  if (const int columns = terminal_columns(); columns > 0) add(terminal_variable, std::to_string(columns));
  return environment;
}

void Job::start_rank(Starter& starter, Rank rank) {
  Pipe output = make_pipe(), error = make_pipe(), input;
  Start start{rank, environment_of(rank), nothing_.get(), output.writing.get(), error.writing.get()};
  const bool typed = rank == 0 && Input::needed(STDIN_FILENO);
  if (typed) {
    input = make_pipe();
    start.input = input.reading.get();
  } else if (rank == 0) {
    start.input = STDIN_FILENO;
  }
  if (options_.bind) start.cpu = processor_of(processors_, rank, options_.ranks);
  Child& self = child(rank);
  self.pid = starter.start(start);
  self.running = true;
  ++running_;
  std::string label;
  if (options_.label) label.append("[").append(std::to_string(rank)).append("] ");
  self.output = std::make_unique<Output>(loop_, std::move(output.reading), output_, label, typed);
  self.error = std::make_unique<Output>(loop_, std::move(error.reading), error_, label, typed);
  if (typed) input_ = std::make_unique<Input>(loop_, STDIN_FILENO, std::move(input.writing));
}

void Job::start_ranks() {
  if (options_.bind) processors_ = binding_order(cores_.list);
  Starter starter(ground_);
  for (Rank rank = 0; rank < options_.ranks; ++rank) start_rank(starter, rank);
  if (!input_) replace_input();
  if (const std::optional<StartFailure> failure = starter.wait()) {
    const char* const what[] = {"cannot prepare ", "cannot bind ", "cannot execute "};
    const bool no_interpreter = failure->step == StartFailure::Step::execute && failure->number == ENOENT;
    say(what[static_cast<int>(failure->step)] + base::list_ranks(std::vector{failure->rank}) + " (" + ground_.program +
        "): " + std::strerror(failure->number) +
        (no_interpreter ? "; the file is there, so look at the interpreter that its first line names" : ""));
    code_ = exit_no_program;
    first_failed_ = failure->rank;
    kill_all(true);
  }
  if (options_.timeout.count() > 0) {
    deadline_at_ = base::now() + static_cast<std::uint64_t>(options_.timeout.count());
    deadline_ = loop_.after(options_.timeout, [this] { on_timeout(); });
  }
}

/// Rank 0 has it; a copy of ours would keep a pipe's writer waiting after rank 0 has closed its own.
void Job::replace_input() { dup2(nothing_.get(), STDIN_FILENO); }

}  // namespace tutti::launcher
