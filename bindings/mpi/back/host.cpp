// SPDX-License-Identifier: BSD-3-Clause
#include "host.hpp"

#include <sched.h>

#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <vector>

#include "base/log.hpp"
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

  void begin() {
    if (real.Comm_dup(MPI_COMM_SELF, &comm) == MPI_SUCCESS) real.Irecv(nullptr, 0, MPI_BYTE, 0, 0, comm, &request);
  }
  void look() {
    int flag = 0;
    if (request != MPI_REQUEST_NULL) real.Test(&request, &flag, MPI_STATUS_IGNORE);
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

/// The MPI, while this process waits in Tutti.
struct Polling final : host::Companion {
  void visit() noexcept override { Host::poll(); }
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

/// Rank 0's selection holds for all.
job::Offer agreed_offer(MPI_Comm comm, Rank rank, const tune::Source& source, host::Segment& segment) {
  job::Offer offer;
  if (rank == 0) {
    if (const char* algorithms = std::getenv("TUTTI_ALGORITHMS")) offer.algorithms = algorithms;
    tune::lines_of(offer.algorithms);
    offer.lines = source.lines;
    offer.table = source.name;
    offer.board = job::make_world_board(segment);
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

void Host::share(MPI_Comm comm) {
  if (real.Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm_) != MPI_SUCCESS) return;
  int rank = 0;
  real.Comm_rank(comm_, &rank);
  real.Comm_size(comm_, &size_);
  rank_ = rank;
  if (size_ == 1) {
    why_ = "there is one rank on this host";
    return;
  }
  if (!enter()) return;
  const int cores = shared_cores(comm_);
  const tune::Source source = tune::find_table(job::this_machine(cores));
  job::Process process;
  const job::Offer offer = agreed_offer(comm_, rank_, source, *segment_);
  process.segment = segment_;
  process.rank = rank_;
  process.board = offer.board;
  process.cores = cores;
  process.algorithms = offer.algorithms;
  process.table = {offer.lines, offer.table, source.why, source.trouble};
  process.single_copy = job::single_copy_wanted();
  member_ = job::make_process_world(process);
  static Polling polling;
  engine().accompany(polling);
  real.Comm_group(comm_, &group_);
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
  made->share(MPI_COMM_WORLD);
  if (made->member_ == nullptr && made->rank_ == 0 && made->size_ > 1)
    base::log("all collectives inside this host are the MPI's: " + made->why_);
  // A rank of a host that shares nothing still takes part when others make their groups.
  int mine = made->member_ == nullptr ? 0 : 1, any = 0;
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
  if (host->member_ != nullptr) {
    host->engine().leave();
    host->segment_->leave(host->rank_);
    real.Group_free(&host->group_);
  }
  if (host->comm_ != MPI_COMM_NULL) real.Comm_free(&host->comm_);
}

std::vector<Rank> Host::ranks_of(MPI_Group group, int size) const {
  if (member_ == nullptr) return {};
  std::vector<int> all(static_cast<std::size_t>(size)), here(all.size());
  for (int i = 0; i < size; ++i) all[static_cast<std::size_t>(i)] = i;
  if (real.Group_translate_ranks(group, size, all.data(), group_, here.data()) != MPI_SUCCESS) return {};
  std::vector<Rank> ranks(here.begin(), here.end());
  for (const int rank : here)
    if (rank == MPI_UNDEFINED) return {};
  return ranks;
}

}  // namespace tutti::mpi
