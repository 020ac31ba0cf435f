// SPDX-License-Identifier: BSD-3-Clause
#include "host.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "base/log.hpp"
#include "carrier.hpp"
#include "host/topology.hpp"
#include "job/machine.hpp"
#include "job/offer.hpp"
#include "launch/handover.hpp"
#include "policy.hpp"
#include "real.hpp"
#include "report.hpp"
#include "requests.hpp"
#include "timing.hpp"

namespace tutti::mpi {
namespace {

Host* the_host = nullptr;
/// A message that does not come: looking for it moves on all that the MPI has to do. (MPI_Iprobe does not move
/// MPICH's I-collectives on.)
struct Awaited {
  MPI_Comm comm = MPI_COMM_NULL;  ///< Of this process alone.
  MPI_Request request = MPI_REQUEST_NULL;
  std::atomic_flag busy;  ///< Two threads may not look at one request at once; who finds the other there goes on.

  void begin() {
    if (real.Comm_dup(MPI_COMM_SELF, &comm) == MPI_SUCCESS) real.Irecv(nullptr, 0, MPI_BYTE, 0, 0, comm, &request);
  }
  void look() {
    int flag = 0;
    // Acquire and release: one look after the other.
    if (request == MPI_REQUEST_NULL || busy.test_and_set(std::memory_order_acquire)) return;
    real.Test(&request, &flag, MPI_STATUS_IGNORE);
    busy.clear(std::memory_order_release);
  }
  void end() {
    if (request != MPI_REQUEST_NULL) real.Send(nullptr, 0, MPI_BYTE, 0, 0, comm);
    if (request != MPI_REQUEST_NULL) real.Wait(&request, MPI_STATUS_IGNORE);
    if (comm != MPI_COMM_NULL) real.Comm_free(&comm);
  }
} awaited;

constexpr std::chrono::seconds patience{20};

/// What the first rank of a host tells the others.
struct News {
  std::uint64_t job = 0;
  std::uint64_t possible = 0;
  launch::Secret secret;
};

/// The MPI, while this process waits for others of its host.
struct Polling final : host::Companion {
  void visit() noexcept override {
    Host::poll();
    const Host* host = Host::get();
    Rank awaited = -1;
    if (host != nullptr && host->apart() != nullptr) host->apart()->runtime().engine().progress(awaited);
  }
};

/// What is open inside the host, while this process waits for others elsewhere. Their messages cannot wake it: it
/// sleeps for a small part of what it has waited already.
struct Listening final : host::Companion {
  void visit() noexcept override { progress(); }
  std::uint64_t longest_sleep(std::uint64_t waited) const override {
    return std::clamp<std::uint64_t>(waited / 16, 20'000, 1'000'000);
  }
};

bool all_agree(MPI_Comm comm, bool mine) {
  int one = mine ? 1 : 0, all = 0;
  return real.Allreduce(&one, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all == 1;
}

/// The cores that the ranks may use together: a launcher may have bound each to one of its own.
int shared_cores(MPI_Comm comm) {
  cpu_set_t mine, all;
  CPU_ZERO(&mine);
  CPU_ZERO(&all);
  sched_getaffinity(0, sizeof mine, &mine);
  real.Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, comm);
  std::vector<int> mask;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &all)) mask.push_back(core);
  int cores = host::usable_cores(mask, "/").usable;
  // A control group may allow one rank less than another: the smallest holds for all.
  real.Allreduce(MPI_IN_PLACE, &cores, 1, MPI_INT, MPI_MIN, comm);
  return std::max(cores, 1);
}

/// Where two ranks share a core, rank 0 goes first out of a barrier: a program that measures or balances puts one
/// before a broadcast or a scatter, whose root is then ahead. A barrier that all leave at once is cheaper alone (1.8
/// and 2.2 us on 4 ranks) and costs as much with what follows; with more ranks to a core its own gain is the larger.
std::string barrier_lines(int ranks, int cores) {
  if (ranks <= cores || ranks > 2 * cores) return {};
  return "barrier - " + std::to_string(cores) + " board\nbarrier - " + std::to_string(ranks) + " board_tree\n";
}

/// Rank 0's selection holds for all.
job::Offer agreed_offer(MPI_Comm comm, Rank rank, const tune::Source& source) {
  job::Offer offer;
  if (rank == 0) {
    if (const char* algorithms = std::getenv("TUTTI_ALGORITHMS")) offer.algorithms = algorithms;
    tune::lines_of(offer.algorithms);
    offer.lines = source.lines;
    offer.table = source.name;
  }
  std::vector<std::byte> bytes = offer.pack();
  auto length = static_cast<int>(bytes.size());
  real.Bcast(&length, 1, MPI_INT, 0, comm);
  bytes.resize(static_cast<std::size_t>(length));
  real.Bcast(bytes.data(), length, MPI_BYTE, 0, comm);
  return job::Offer::unpack(bytes);
}

}  // namespace

Host* Host::get() { return the_host; }

void Host::poll() {
  if (!report::wanted) return awaited.look();
  const std::uint64_t start = base::now();
  awaited.look();
  report::visited(since(start));
}

/// The segment: made by the first rank, handed to the others. The same answer on all ranks.
bool Host::enter() {
  News news;
  std::optional<launch::Handover> handover;
  if (rank_ == 0) {
    try {
      news.job = launch::random_job();
      news.secret = launch::random_secret();
      segment_ = host::Segment::create(size_, news.job);
      handover.emplace(*segment_, news.secret);
      news.possible = 1;
    } catch (const Error& error) {
      why_ = error.what();
    }
  }
  real.Bcast(&news, sizeof news, MPI_BYTE, 0, comm_);
  if (news.possible == 0) return false;
  bool entered = false;
  try {
    if (rank_ != 0)
      segment_ = launch::fetch_segment(news.job, news.secret, rank_, size_, patience);
    else if (handover->serve(patience) > 0)
      throw Error(Cause::timeout, "not all ranks of this host could be reached by a Unix socket");
    segment_->enter(rank_);
    entered = true;
  } catch (const Error& error) {
    why_ = error.what();
  }
  return all_agree(comm_, entered);
}

/// Ranks of one host are those that may share memory, and that have the same TUTTI_HOST.
void Host::find_neighbors() {
  MPI_Comm here = MPI_COMM_NULL;
  if (real.Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) != MPI_SUCCESS) return;
  const char* name = std::getenv("TUTTI_HOST");
  const std::size_t hash = std::hash<std::string_view>()(name == nullptr ? "" : name);
  real.Comm_split(here, static_cast<int>(hash & INT_MAX), 0, &comm_);
  real.Comm_free(&here);
  int rank = 0;
  real.Comm_rank(comm_, &rank);
  real.Comm_size(comm_, &size_);
  real.Comm_size(MPI_COMM_WORLD, &job_size_);
  rank_ = rank;
}

void Host::share() {
  if (size_ == 1) {
    why_ = "there is one rank on this host";
    return;
  }
  if (!enter()) return;
  const int cores = shared_cores(comm_);
  tune::Source source = tune::find_table(job::this_machine(cores));
  if (source.name == "standard") source.lines.insert(0, barrier_lines(size_, cores));
  const job::Offer offer = agreed_offer(comm_, rank_, source);
  host::Offset board = rank_ == 0 ? job::make_world_board(*segment_) : 0;
  real.Bcast(&board, sizeof board, MPI_BYTE, 0, comm_);
  job::Process process;
  process.segment = segment_;
  process.rank = rank_;
  process.board = board;
  process.cores = cores;
  process.algorithms = offer.algorithms;
  process.table = {offer.lines, offer.table, source.why, source.trouble};
  process.single_copy = job::single_copy_wanted();
  member_ = job::make_process_world(process);
  static Polling polling;
  member_->runtime().engine().accompany(polling);
  real.Comm_group(comm_, &group_);
}

void Host::connect() {
  if (size_ == job_size_) return;
  int rank = 0, provided = MPI_THREAD_SINGLE;
  real.Comm_rank(MPI_COMM_WORLD, &rank);
  real.Query_thread(&provided);
  has_threads_ = all_agree(MPI_COMM_WORLD, provided == MPI_THREAD_MULTIPLE);
  job::Process process;
  process.rank = rank;
  process.cores = shared_cores(comm_);
  const job::Offer offer = agreed_offer(MPI_COMM_WORLD, rank, {});
  process.algorithms = offer.algorithms;
  std::unique_ptr<Carrier> carrier;
  std::string why;
  try {
    process.segment = host::Segment::local(job_size_, 1);
    process.segment->enter(rank);
    carrier = std::make_unique<Carrier>(MPI_COMM_WORLD);
  } catch (const Error& error) {
    why = error.what();
  }
  real.Comm_group(MPI_COMM_WORLD, &world_);
  if (!all_agree(MPI_COMM_WORLD, carrier != nullptr)) {
    if (!why.empty()) base::log("all collectives between hosts are the MPI's: " + why);
    return;
  }
  carrier_ = carrier.get();
  apart_ = job::make_world_apart(process, size_, std::move(carrier));
  static Listening listening;
  apart_->runtime().engine().accompany(listening);
}

/// Rank 0's environment holds for all.
static void agree_on_policy() {
  struct {
    std::array<char, 1024> words{};
    bool report = false;
  } wanted;
  if (const char* given = std::getenv("TUTTI_MPI")) std::strncpy(wanted.words.data(), given, wanted.words.size() - 1);
  const char* asked = std::getenv("TUTTI_MPI_REPORT");
  wanted.report = asked != nullptr && *asked != '\0' && std::string_view(asked) != "0";
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
  awaited.begin();
  auto made = std::unique_ptr<Host>(new Host);
  made->find_neighbors();
  made->share();
  if (made->member_ == nullptr && made->rank_ == 0 && made->size_ > 1)
    base::log("all collectives inside this host are the MPI's: " + made->why_);
  made->connect();
  // A rank of a host that shares nothing still takes part when others make their groups.
  int mine = made->member_ == nullptr && made->apart_ == nullptr ? 0 : 1, any = 0;
  real.Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (any == 0) {
    if (made->comm_ != MPI_COMM_NULL) real.Comm_free(&made->comm_);
    return;
  }
  // Kept for ever: threads that outlive main may still be inside.
  the_host = made.release();
}

void Host::finish() {
  Host* host = std::exchange(the_host, nullptr);
  awaited.end();
  if (host == nullptr) return;
  // Nobody leaves while another still waits for what this rank has published.
  if (host->comm_ != MPI_COMM_NULL) real.Barrier(host->comm_);
  for (engine::Engine* engine : host->engines()) engine->leave();
  if (host->member_ != nullptr) {
    host->segment_->leave(host->rank_);
    real.Group_free(&host->group_);
  }
  if (host->carrier_ != nullptr) host->carrier_->close();
  if (host->world_ != MPI_GROUP_NULL) real.Group_free(&host->world_);
  if (host->comm_ != MPI_COMM_NULL) real.Comm_free(&host->comm_);
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

}  // namespace tutti::mpi
