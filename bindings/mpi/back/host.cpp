// SPDX-License-Identifier: BSD-3-Clause
#include "host.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "awaited.hpp"
#include "base/environment.hpp"
#include "base/log.hpp"
#include "base/numbered.hpp"
#include "blocked.hpp"
#include "carrier.hpp"
#include "communicators.hpp"
#include "inside.hpp"
#include "job/assembly.hpp"
#include "job/machine.hpp"
#include "job/settings.hpp"
#include "launch/directory.hpp"
#include "launch/secret.hpp"
#include "policy.hpp"
#include "real.hpp"
#include "report.hpp"
#include "requests.hpp"
#include "timing.hpp"
#include "windows.hpp"

namespace tutti::mpi {
namespace {

Host* the_host = nullptr;
/// The MPI, while this process waits for others of its host.
struct Polling final : host::Companion {
  void visit() noexcept override {
    Host::poll();
    const Host* host = Host::get();
    if (host != nullptr && host->apart() != nullptr) host->apart()->runtime().engine().visit();
  }
};

/// What is open inside the host, while this process waits for others elsewhere. Their messages cannot wake it: it
/// sleeps for a small part of what it has waited already.
struct Listening final : awaited::Companion {
  void visit() noexcept override { progress(); }
};

/// Where two ranks share a core, rank 0 goes first out of a barrier: a program that measures or balances puts one
/// before a broadcast or a scatter, whose root is then ahead. A barrier that all leave at once is cheaper alone (1.8
/// and 2.2 us on 4 ranks) and costs as much with what follows; with more ranks to a core its own gain is the larger.
std::string barrier_lines(int ranks, int cores) {
  if (ranks <= cores || ranks > 2 * cores) return {};
  return "barrier - " + std::to_string(cores) + " board\nbarrier - " + std::to_string(ranks) + " board_tree\n";
}

/// Of a group whose ranks agreed on this.
job::Process process_of(const job::Offer& agreed, const tune::Source& own) {
  job::Process process = job::process_from_environment(agreed, own);
  process.progress = job::ProgressThread::off;  // decided with each request that is left open
  return process;
}

}  // namespace

Host* Host::get() { return the_host; }

void Host::poll() {
  if (!report::wanted) return awaited::look();
  const std::uint64_t start = base::now();
  awaited::look();
  report::visited(since(start));
}

/// The host of each rank of the job, numbered by their first ranks. Collective.
static std::vector<Rank> hosts_of(Ranks& job, Ranks& here) {
  std::int64_t leader = job.rank();  // the first rank of this host
  job::share(here, leader);
  std::vector<std::int64_t> leaders(static_cast<std::size_t>(job.size()));
  job::expect(job.all(leader, leaders), "allgather");
  return base::numbered(leaders);
}

bool Host::read_settings() {
  cores_ = job::shared_cores(*here_);
  Ranks job(MPI_COMM_WORLD);
  job::Offer mine;
  try {
    job::together(job, [&] {
      table_ = tune::find_table(job::this_machine(cores_));
      mine = job::own_offer(table_);
      job::process_from_environment(mine, table_);
    });
  } catch (const Error& error) {
    if (job.rank() == 0) base::log("all collectives are the MPI's: " + std::string(error.what()));
    return false;
  }
  if (here_->rank() == 0) job::tell_of_trouble(table_);
  agree_on_selection(job, mine);
  return true;
}

void Host::agree_on_selection(Ranks& job, const job::Offer& mine) {
  between_ = job::agreed_offer(job, mine);
  inside_ = job::agreed_offer(*here_, mine);
  inside_.algorithms = between_.algorithms;
  if (between_.asked_for || inside_.asked_for) {
    inside_.asked_for = between_.asked_for;
    inside_.lines = between_.lines;
    inside_.table = between_.table;
  }
  job::tell_of_unused(*here_, job.rank(), mine, inside_);
  if (!between_.asked_for) between_.lines.clear();  // that group knows nothing of hosts, on which such lines would hold
}

/// All ranks record, or none.
void Host::record() {
  Ranks job(MPI_COMM_WORLD);
  std::string why = "TUTTI_TRACE is set for some ranks and not for all";
  bool failed = false;
  std::uint64_t number = job.rank() == 0 ? launch::random_job() : 0;
  job::share(job, number);
  try {
    recording_ = job::Recording::wanted(number, job.rank(), hosts_);
  } catch (const Error& error) {
    why = error.what();
    failed = true;
  }
  const bool mine = recording_ != nullptr;
  if (job::all_agree(job, mine)) return;
  if (mine || failed) base::log("nothing is recorded: " + why);
  recording_.reset();
}

void Host::record_end() {
  if (everybody() != nullptr) return recording_->end();
  recording_->end_alone();
  if (here_->rank() == 0)
    base::log("the trace stays in parts: the ranks have no group of Tutti's; tutti trace --merge");
}

job::Member* Host::everybody() const {
  return apart_ != nullptr ? apart_.get() : here_->size() == job_size_ ? member_.get() : nullptr;
}

void Host::share() {
  if (here_->size() == 1) {
    why_ = "there is one rank on this host";
    return;
  }
  std::uint64_t name = here_->rank() == 0 ? launch::random_job() : 0;
  job::share(*here_, name);
  job::Memory memory = job::share_memory(*here_, name);
  segment_ = std::move(memory.segment);
  why_ = std::move(memory.why);
  if (segment_ == nullptr) return;
  inside_.lines += barrier_lines(here_->size(), cores_);  // for what the table leaves open
  job::Process process = process_of(inside_, table_);
  process.segment = segment_;
  process.rank = here_->rank();
  if (here_->size() < job_size_) process.name = "host " + launch::network_name();
  process.board = job::shared_board(*here_, *segment_, process.name);
  process.cores = cores_;
  process.recorder = recording_ != nullptr ? &recording_->recorder() : nullptr;
  static Polling polling;
  member_ = job::make_process_world(process, {}, &polling);
  real.Comm_group(here_->comm(), &group_);
}

void Host::begin_notes() {
  const bool several = here_->size() < job_size_;
  try {
    if (several && here_->size() == 1) {
      segment_ = host::Segment::create(1, launch::random_job());
      segment_->enter(0);
    }
  } catch (const Error& error) {
    segment_ = nullptr;
    base::log(std::string("tutti why does not see this rank: ") + error.what());
  }
  Ranks job(MPI_COMM_WORLD);
  if (several) window_ = open_window(job, hosts_, segment_, here_->rank());
}

void Host::connect() {
  Ranks job(MPI_COMM_WORLD);
  if (here_->size() == job.size()) return;
  job::Process process = process_of(between_, table_);
  process.rank = job.rank();
  process.cores = cores_;
  process.ranks_on_host = here_->size();
  process.recorder = recording_ != nullptr ? &recording_->recorder() : nullptr;
  std::unique_ptr<Carrier> carrier;
  std::string why;
  try {
    process.segment = host::Segment::local(job.size(), 1);
    process.segment->enter(process.rank);
    carrier = std::make_unique<Carrier>(MPI_COMM_WORLD);
  } catch (const Error& error) {
    why = error.what();
  }
  if (!job::all_agree(job, carrier != nullptr)) {
    if (!why.empty()) base::log("all collectives between hosts are the MPI's: " + why);
    return;
  }
  carrier_ = carrier.get();
  apart_ = job::make_world_apart(process, std::move(carrier));
  static Listening listening;
  apart_->runtime().engine().accompany(listening);
}

/// Rank 0's environment holds for all.
static void agree_on_policy() {
  struct {
    std::array<char, 1024> words{};
    bool report = false;
  } wanted;
  std::string words = base::variable("TUTTI_MPI");
  const std::string asked = base::variable("TUTTI_MPI_REPORT");
  const std::size_t longest = wanted.words.size() - 1;
  if (words.size() > longest)
    words.replace(longest - 3, std::string::npos, "...");  // which means nothing, and is refused
  words.copy(wanted.words.data(), longest);
  wanted.report = !asked.empty() && asked != "0";
  real.Bcast(&wanted, sizeof wanted, MPI_BYTE, 0, MPI_COMM_WORLD);
  report::wanted = wanted.report;
  try {
    policy = Policy(wanted.words.data());
  } catch (const Error& error) {
    int rank = 0;
    real.Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) base::log(std::string(error.what()) + "; all collectives are the MPI's");
    policy = Policy();
  }
}

void Host::start() {
  agree_on_policy();
  if (!policy.wants_any()) return;
  awaited::begin();
  auto made = std::unique_ptr<Host>(new Host);
  // Ranks of one host are those that may share memory, and that have the same TUTTI_HOST.
  made->here_ = Ranks(MPI_COMM_WORLD).host_of(base::variable("TUTTI_HOST"));
  if (made->here_ == nullptr || !made->read_settings()) return;
  Ranks job(MPI_COMM_WORLD);
  made->job_size_ = job.size();
  made->hosts_ = hosts_of(job, *made->here_);
  made->has_threads_ = job::all_agree(job, has_several_threads);
  made->record();
  made->share();
  if (made->member_ == nullptr && made->here_->rank() == 0 && made->here_->size() > 1)
    base::log("all collectives inside this host are the MPI's: " + made->why_);
  made->begin_notes();
  made->connect();
  // A rank of a host that shares nothing still takes part when others make their groups.
  int mine = made->member_ == nullptr && made->apart_ == nullptr ? 0 : 1, any = 0;
  real.Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (any == 0) return;
  if (made->recording_ != nullptr && made->everybody() != nullptr) made->recording_->begin(*made->everybody());
  real.Comm_group(MPI_COMM_WORLD, &made->world_);
  if (made->segment_ != nullptr) Inside::note_at(made->segment_->process(made->here_->rank()).last.inside);
  // Kept for ever: threads that outlive main may still be inside.
  the_host = made.release();
}

void Host::finish() {
  if (the_host != nullptr && the_host->recording_ != nullptr) the_host->record_end();
  Host* host = std::exchange(the_host, nullptr);
  awaited::end();
  if (host == nullptr) return;
  forget_all();
  Inside::note_nowhere();
  // Nobody leaves while another still waits for what this rank has published. Where one is lost, nobody can wait.
  real.Barrier(host->here_->comm());
  for (engine::Engine* engine : host->engines()) engine->leave();
  host->window_.reset();
  if (host->segment_ != nullptr) host->segment_->leave(host->here_->rank());
  if (host->member_ != nullptr) real.Group_free(&host->group_);
  if (host->carrier_ != nullptr) host->carrier_->close();
  real.Group_free(&host->world_);
  host->here_.reset();
}

std::vector<engine::Engine*> Host::engines() const {
  std::vector<engine::Engine*> all;
  for (const auto* member : {&member_, &apart_})
    if (*member != nullptr) all.push_back(&(*member)->runtime().engine());
  return all;
}

std::vector<engine::Engine*> Host::engines_for_threads() const {
  std::vector<engine::Engine*> all = engines();
  if (apart_ != nullptr && !has_threads_) all.pop_back();
  return all;
}

/// Empty when one of them is not in the other group.
static std::vector<Rank> translated(MPI_Group group, int size, MPI_Group other) {
  std::vector<int> all(static_cast<std::size_t>(size)), there(all.size());
  std::iota(all.begin(), all.end(), 0);
  if (real.Group_translate_ranks(group, size, all.data(), other, there.data()) != MPI_SUCCESS) return {};
  if (std::ranges::find(there, MPI_UNDEFINED) != there.end()) return {};
  return {there.begin(), there.end()};
}

std::vector<Rank> Host::ranks_of(MPI_Group group, int size) const {
  return member_ == nullptr ? std::vector<Rank>() : translated(group, size, group_);
}

std::vector<Rank> Host::ranks_apart(MPI_Group group, int size) const {
  return apart_ == nullptr ? std::vector<Rank>() : translated(group, size, world_);
}

bool Host::has_all(MPI_Group group, int size) const { return !translated(group, size, world_).empty(); }

}  // namespace tutti::mpi
