// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmi.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/log.hpp"
#include "base/utf8.hpp"
#include "launch/cluster.hpp"
#include "launch/environment.hpp"
#include "launch/message.hpp"
#include "launch/system.hpp"

namespace tutti::launch {

namespace pmi {

std::optional<std::string> field(std::string_view line, std::string_view name) {
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(word.size() + 1, line.size()));
    if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=')
      return std::string(word.substr(name.size() + 1));
  }
  return std::nullopt;
}

bool succeeded(std::string_view line, std::string_view answer) {
  return field(line, "cmd") == answer && field(line, "rc").value_or("0") == "0";
}

}  // namespace pmi

namespace {

constexpr char rank_name[] = "PMI_RANK", size_name[] = "PMI_SIZE", slurm_name[] = "PMI_JOBID";
constexpr char space_key[] = "tutti-store";
constexpr std::uint64_t remark_after = 5'000'000'000;

Error confused() {
  const auto say = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(name) + (value == nullptr ? " is not set" : "=" + std::string(value));
  };
  return Error(Cause::usage, "the variables of the launcher (PMI-1) make no sense: " + say(pmi_variable) + ", " +
                                 say(rank_name) + ", " + say(size_name) +
                                 "; start the program with mpiexec or srun, or unset them to run it alone");
}

class Pmi final : public Cluster {
 public:
  Pmi(int descriptor, Rank rank, int size) : descriptor_(descriptor) {
    rank_ = rank;
    size_ = size;
    // Slurm's plugin pmi2 speaks PMI-1 as well, and sets one variable more than others do.
    name_ = std::string(std::getenv(slurm_name) == nullptr ? "mpiexec" : "srun") +
            ", by PMI-1 (PMI_FD=" + std::to_string(descriptor) + " is set)";
  }

  std::size_t longest() const override { return 1023; }  // the least that launchers in use take
  std::string share(const std::string& text, Deadline& deadline) override {
    deadline.await("the launcher or the other ranks (PMI-1)");
    ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init", deadline);
    const std::string own = ask("cmd=get_my_kvsname", "my_kvsname", deadline);
    const std::string space = pmi::field(own, "kvsname").value_or("");
    if (space.empty()) throw failed("cmd=get_my_kvsname", own);
    if (rank_ == 0) ask("cmd=put kvsname=" + space + " key=" + space_key + " value=" + text, "put_result", deadline);
    ask("cmd=barrier_in", "barrier_out", deadline);
    const std::string line = ask("cmd=get kvsname=" + space + " key=" + space_key, "get_result", deadline);
    // Leave can be taken once; an MPI does that by itself.
    if (mpi_here() == Mpi::none) ask("cmd=finalize", "finalize_ack", deadline);
    return pmi::field(line, "value").value_or("");
  }

 private:
  /// One line out, one line in.
  std::string ask(const std::string& question, std::string_view answer, Deadline& deadline) {
    say(question + "\n", deadline);
    const std::string line = hear(deadline);
    if (!pmi::succeeded(line, answer)) throw failed(question, line);
    return line;
  }

  void say(std::string_view text, Deadline& deadline) {
    while (!text.empty()) {
      const ssize_t n = send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n > 0)
        text.remove_prefix(static_cast<std::size_t>(n));
      else if (errno == EAGAIN)
        deadline.wait(descriptor_, POLLOUT);
      else if (errno != EINTR)
        throw gone();
    }
  }

  std::string hear(Deadline& deadline) {
    for (;;) {
      if (const std::size_t end = input_.find('\n'); end != std::string::npos) {
        std::string line = input_.substr(0, end);
        input_.erase(0, end + 1);
        return line;
      }
      if (input_.size() > pmi::longest_line) throw failed("", input_.substr(0, 80));
      if (!deadline.wait(descriptor_, POLLIN, remark_after)) {
        if (!std::exchange(told_, true))
          base::log("rank " + std::to_string(rank_) + " waits until all ranks speak to the launcher (PMI-1)");
        continue;
      }
      char buffer[4096];
      const ssize_t n = recv(descriptor_, buffer, sizeof buffer, MSG_DONTWAIT);
      if (n > 0)
        input_.append(buffer, static_cast<std::size_t>(n));
      else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        throw gone();
    }
  }

  static Error failed(const std::string& question, const std::string& line) {
    return Error(Cause::system,
                 "the launcher answered \"" + question + "\" (PMI-1) with \"" + base::printable(line) + "\"");
  }
  static Error gone() {
    return Error(Cause::system,
                 "the launcher has closed its connection (PMI-1): it has ended, or a program before this one in the "
                 "same process of the job has taken leave of it; start one program with Tutti for each process");
  }

  int descriptor_;
  std::string input_;
  bool told_ = false;
};

bool is_socket(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode);
}

}  // namespace

std::unique_ptr<Cluster> find_pmi() {
  const std::optional<int> descriptor = number_in(pmi_variable);
  if (!descriptor) return nullptr;
  check_mpi();
  const int rank = number_in(rank_name).value_or(-1), size = number_in(size_name).value_or(-1);
  if (rank < 0 || rank >= size || size > most_ranks || !is_socket(*descriptor)) throw confused();
  return std::make_unique<Pmi>(*descriptor, rank, size);
}

}  // namespace tutti::launch
