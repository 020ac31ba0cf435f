// SPDX-License-Identifier: BSD-3-Clause
#include "communicators.hpp"

#include <link.h>

#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "base/hash.hpp"
#include "base/log.hpp"
#include "blocking.hpp"
#include "edges.hpp"
#include "host.hpp"
#include "real.hpp"
#include "report.hpp"
#include "requests.hpp"

namespace tutti::mpi {
namespace {

struct Kept {
  std::shared_mutex lock;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Communicator>> communicators;

  /// Nothing is known of this one from now on; `only`: unless another has come in its place.
  void erase(MPI_Comm comm, const Communicator* only = nullptr) {
    const std::unique_lock guard(lock);
    const auto found = communicators.find(number_of(comm));
    if (found == communicators.end() || (only != nullptr && found->second.get() != only)) return;
    communicator_generation.fetch_add(1, std::memory_order_relaxed);
    communicators.erase(found);
  }
};

Kept& kept() {
  static Kept& all = *std::make_unique<Kept>().release();  // kept for ever: communicators may be freed after main
  return all;
}

/// For communicators that are freed in a way that is not seen: the MPI deletes their attributes.
int forget(MPI_Comm comm, int, void*, void*) {
  if (!Leaving::has(comm)) kept().erase(comm);
  return MPI_SUCCESS;
}

int look_for_gpu(dl_phdr_info* info, std::size_t, void* found) {
  const char* name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  for (const char* runtime : {"/libcuda.so", "/libamdhip64.so", "/libze_loader.so"})
    if (std::strstr(name, runtime) != nullptr) *static_cast<bool*>(found) = true;
  return 0;
}

/// Buffers may be on a device, which only the MPI knows how to read.
bool has_gpu_runtime() {
  bool found = false;
  dl_iterate_phdr(&look_for_gpu, &found);
  return found;
}

/// What the first rank of a communicator tells the others.
struct News {
  bool possible = false;
  std::uint64_t context = 0;
  host::Offset board = 0, starting_board = 0;
};

/// The MPI's own collectives, while operations of Tutti's may be open: others may need this rank for them.
template <class Start>
bool complete(const Start& start) {
  MPI_Request request = MPI_REQUEST_NULL;
  return start(&request) == MPI_SUCCESS && blocking::finish(request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

engine::Membership made_for_starting(engine::Membership made) {
  made.context = base::combine(made.context, 1);
  made.name += " (I)";
  return made;
}

/// Whose group a communicator's becomes a part of.
struct Home {
  std::shared_ptr<job::Member> world;
  std::vector<Rank> ranks;  ///< There; none: the communicator is the MPI's.
  bool has_starting = true;
};

/// Both groups of a communicator, or none.
void add_members(const Home& home, Communicator& to, engine::Membership made) {
  static std::atomic<std::uint64_t> made_here{0};  // relaxed: only has to differ from call to call
  News news;
  if (made.rank == 0) {
    const std::uint64_t own = made_here.fetch_add(1, std::memory_order_relaxed) << 16 | 0x6d70;
    news.context = made.context =
        base::combine(base::combine(home.world->who().context, own), static_cast<std::uint64_t>(made.world.front()));
    try {
      if (home.world->runtime().place().boards) {
        if (home.has_starting) news.starting_board = home.world->make_board(made_for_starting(made));
        news.board = home.world->make_board(made);
      }
      news.possible = true;
    } catch (const Error& error) {
      if (news.starting_board != 0) home.world->free_board(news.starting_board, made);
      base::log(std::string("a communicator's collectives are the MPI's: ") + error.what());
    }
  }
  if (!complete(
          [&](MPI_Request* request) { return real.Ibcast(&news, sizeof news, MPI_BYTE, 0, to.handle, request); }) ||
      !news.possible) {
    report::passed_on(report::Reason::no_memory);
    return;
  }
  made.context = news.context;
  engine::Membership starting = made_for_starting(made);
  starting.board = news.starting_board;
  made.board = news.board;
  std::shared_ptr<job::Member> member, member_for_starting;
  try {
    member = std::make_shared<job::Member>(home.world->shared_runtime(), std::move(made));
    if (home.has_starting)
      member_for_starting = std::make_shared<job::Member>(home.world->shared_runtime(), std::move(starting));
  } catch (const Error& error) {  // no memory to map the boards into, for one; theirs is then lost
    base::log(std::string("a communicator's collectives are the MPI's: ") + error.what());
    member = nullptr;
  }
  int mine = member != nullptr ? 1 : 0, all = 0;
  if (!complete([&](MPI_Request* request) {
        return real.Iallreduce(&mine, &all, 1, MPI_INT, MPI_MIN, to.handle, request);
      }) ||
      all == 0) {
    report::passed_on(report::Reason::no_memory);
    return;
  }
  to.member = std::move(member);
  to.starting = std::move(member_for_starting);
}

/// Where Tutti can serve a communicator of more than one rank, no GPU in any: on its host, or between hosts. One with
/// ranks of another world, which may know nothing of Tutti, is the MPI's: nobody there would take part in what follows,
/// and all ranks of this world see it alike.
Home home_of(const Host& host, MPI_Comm comm, int size) {
  enum : int { nowhere, between, here };
  MPI_Group group = MPI_GROUP_NULL;
  std::vector<Rank> ranks, ranks_apart;
  bool inside = false;
  if (real.Comm_group(comm, &group) == MPI_SUCCESS) {
    inside = host.has_all(group, size);
    ranks = host.ranks_of(group, size);
    ranks_apart = host.ranks_apart(group, size);
    real.Group_free(&group);
  }
  if (!inside) {
    report::passed_on(report::Reason::other_worlds);
    return {};
  }
  const bool gpu = has_gpu_runtime();
  struct {
    int where = nowhere, ends_with_world = 1;
  } mine, all;
  mine.where = gpu ? nowhere : !ranks.empty() ? here : !ranks_apart.empty() ? between : nowhere;
  mine.ends_with_world = has_session_communicators.load(std::memory_order_relaxed) ? 0 : 1;
  if (!complete([&](MPI_Request* request) { return real.Iallreduce(&mine, &all, 2, MPI_INT, MPI_MIN, comm, request); }))
    return {};
  const bool has_starting = all.ends_with_world != 0;
  if (all.where == here) return {host.member(), std::move(ranks), has_starting};
  if (all.where == between) return {host.apart(), std::move(ranks_apart), has_starting && host.has_threads()};
  if (gpu)
    report::passed_on(report::Reason::gpu);
  else if (ranks.empty())
    report::passed_on(report::Reason::between_hosts);
  return {};
}

void add_neighbors(Communicator& made) {
  try {
    made.member = with_edges(Group(made.member), made.handle).member();
    if (made.starting != nullptr) made.starting = with_edges(Group(made.starting), made.handle).member();
    if (const job::Topology* topology = made.member->topology()) made.place.neighbors = &topology->neighbors;
  } catch (const Error& error) {
    base::log(std::string("a communicator's collectives along edges are the MPI's: ") + error.what());
  }
}

std::unique_ptr<Communicator> make(const Host& host, MPI_Comm comm, bool between) {
  auto made = std::make_unique<Communicator>();
  made->handle = comm;
  int rank = 0, size = 1;
  if (between) {
    report::passed_on(report::Reason::between_groups);
    return made;
  }
  real.Comm_rank(comm, &rank);
  real.Comm_size(comm, &size);
  made->place.rank = rank;
  made->place.size = size;
  if (size < 2) {
    report::passed_on(report::Reason::one_rank);
    return made;
  }
  engine::Membership who;
  who.rank = rank;
  const Home home = home_of(host, comm, size);
  who.world = home.ranks;
  who.name = comm == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "a communicator of " + std::to_string(size);
  if (!home.ranks.empty()) add_members(home, *made, std::move(who));
  if (made->member == nullptr) return made;
  add_neighbors(*made);
  made->choices = std::make_shared<Choices>();
  return made;
}

/// So that it is forgotten with the communicator.
void watch(MPI_Comm comm) {
  static const int keyval = [] {
    int made = MPI_KEYVAL_INVALID;
    real.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &forget, &made, nullptr);
    return made;
  }();
  real.Comm_set_attr(comm, keyval, nullptr);
}

}  // namespace

Leaving::Leaving(MPI_Comm comm) : handle_(comm), outer_(innermost) {
  innermost = this;
  Kept& all = kept();
  const std::shared_lock lock(all.lock);
  const auto found = all.communicators.find(number_of(comm));
  if (found != all.communicators.end()) communicator_ = found->second;
}

Leaving::~Leaving() {
  innermost = outer_;
  if (is_gone_ && communicator_ != nullptr) kept().erase(handle_, communicator_.get());
}

bool Leaving::has(MPI_Comm comm) {
  for (const Leaving* one = innermost; one != nullptr; one = one->outer_)
    if (one->handle_ == comm) return true;
  return false;
}

Communicator* look_up(MPI_Comm comm, std::uint64_t generation) {
  Kept& all = kept();
  const std::shared_lock lock(all.lock);
  const auto found = all.communicators.find(number_of(comm));
  last_communicator = {generation, comm, found == all.communicators.end() ? nullptr : found->second.get()};
  return last_communicator.communicator;
}

void forget_all() {
  Kept& all = kept();
  const std::unique_lock lock(all.lock);
  communicator_generation.fetch_add(1, std::memory_order_relaxed);
  all.communicators.clear();
}

void prepare(MPI_Comm comm) {
  const Host* host = Host::get();
  int between = -1;
  if (host == nullptr || Leaving::has(comm) || real.Comm_test_inter(comm, &between) != MPI_SUCCESS) return;
  // Where the program's own error handler goes on, MPICH calls that a success.
  if (between < 0) return;
  auto made = make(*host, comm, between != 0);
  watch(comm);
  Kept& all = kept();
  const std::unique_lock lock(all.lock);
  communicator_generation.fetch_add(1, std::memory_order_relaxed);
  all.communicators[number_of(comm)] = std::move(made);
}

}  // namespace tutti::mpi
