// SPDX-License-Identifier: BSD-3-Clause
// The world of the ranks of an MPI's communicator: shared memory on each host, the MPI's messages between hosts.
#include "launch/communicator.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "base/log.hpp"
#include "base/numbered.hpp"
#include "job/assembly.hpp"
#include "job/machine.hpp"
#include "job/runtime.hpp"
#include "job/settings.hpp"
#include "launch/secret.hpp"
#include "tutti/mpi_group.hpp"

namespace tutti {
namespace job {
namespace {

using launch::Communicator;
using launch::MpiLibrary;

/// The worlds made here: who waits in one moves the others on as well, for the ranks that they wait for may be waiting
/// in another.
struct Worlds {
  std::mutex lock;
  std::vector<std::weak_ptr<Runtime>> all;

  void add(const std::shared_ptr<Runtime>& made) {
    const std::lock_guard guard(lock);
    std::erase_if(all, [](const auto& one) { return one.expired(); });
    all.push_back(made);
  }
  /// The caller's, so that a world that ends meanwhile does so without the lock.
  std::vector<std::shared_ptr<Runtime>> now() {
    std::vector<std::shared_ptr<Runtime>> alive;
    const std::lock_guard guard(lock);
    for (const auto& one : all)
      if (auto runtime = one.lock()) alive.push_back(std::move(runtime));
    return alive;
  }
};

Worlds& worlds() {
  static Worlds& made = *std::make_unique<Worlds>().release();  // kept for ever: groups may end after main
  return made;
}

/// Visited by who waits: the MPI, and the other worlds.
class Visits final : public host::Companion {
 public:
  explicit Visits(host::Companion& mpi) : mpi_(mpi) {}
  void visit() noexcept override {
    mpi_.visit();
    for (const auto& runtime : worlds().now()) runtime->engine().visit();
  }
  std::uint64_t longest_sleep(std::uint64_t waited) const override { return mpi_.longest_sleep(waited); }
  std::uint64_t yield_for() const override { return mpi_.yield_for(); }

 private:
  host::Companion& mpi_;
};

/// What ends with a world.
class Home {
 public:
  Home(MpiLibrary& mpi, std::shared_ptr<host::Segment> segment, Rank place, bool far)
      : mpi_(mpi), segment_(std::move(segment)), place_(place), visits_(mpi.companion(far)) {}
  ~Home() {
    if (end_ != 0) mpi_.forget(end_);
    segment_->leave(place_);
  }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  host::Companion& companion() { return visits_; }
  /// MPI_Finalize ends the world.
  void end_with_mpi(const std::shared_ptr<Runtime>& runtime, const std::string& name) {
    end_ = mpi_.at_finalize([weak = std::weak_ptr(runtime), name] {
      if (const auto still = weak.lock())
        still->engine().end(
            Error(Cause::broken, "group " + name +
                                     " was made from an MPI communicator, and MPI_Finalize has been called; "
                                     "call it after the group's last operation"));
    });
  }

 private:
  MpiLibrary& mpi_;
  std::shared_ptr<host::Segment> segment_;
  Rank place_;
  Visits visits_;
  std::uint64_t end_ = 0;
};

/// What rank 0 tells all.
struct JobNews {
  std::uint64_t job = 0;
  std::array<char, 128> name{};
};

JobNews agreed_news(Communicator& ranks) {
  JobNews news;
  together(ranks, [&] {
    if (ranks.rank() != 0) return;
    news.job = launch::random_job();
    const std::string name = ranks.name();
    std::copy_n(name.begin(), std::min(name.size(), news.name.size() - 1), news.name.begin());
  });
  share(ranks, news);
  news.name.back() = '\0';
  return news;
}

/// Whose memory this rank is in, and everybody's host by number.
struct Hosts {
  std::unique_ptr<Communicator> here;  ///< The ranks of this host.
  std::shared_ptr<host::Segment> segment;
  Rank place = 0;
  host::Offset board = 0;
  int cores = 1, ranks_here = 1;
  std::vector<Rank> of{};  ///< Each rank; empty: all are on one.
};

Hosts find_hosts(Communicator& ranks, const JobNews& news) {
  Hosts found;
  found.here = ranks.neighbors(base::variable("TUTTI_HOST"));
  Communicator* const here = found.here.get();
  expect(all_agree(ranks, here != nullptr), "split by hosts");
  found.place = here->rank();
  found.ranks_here = here->size();
  found.cores = shared_cores(*here);
  std::int64_t name = ranks.rank();
  if (found.ranks_here > 1) {
    Memory memory = share_memory(*here, news.job);
    found.segment = std::move(memory.segment);
    if (found.segment != nullptr) {
      try {
        found.board = shared_board(*here, *found.segment, news.name.data());
      } catch (const Error& error) {  // on all ranks of this host, and on none of the others, who go on
        memory.why = error.what();
        found.segment->leave(found.place);
        found.segment = nullptr;
      }
    }
    if (found.segment != nullptr) {
      share(*here, name);
    } else if (!memory.why.empty()) {
      base::log("the ranks of this host share no memory, and send each other messages of the MPI: " + memory.why);
    }
  }
  together(ranks, [&] {
    if (found.segment != nullptr) return;
    found.place = 0;
    found.segment = host::Segment::create(1, news.job);
    found.segment->enter(0);
  });
  std::vector<std::int64_t> names(static_cast<std::size_t>(ranks.size()));
  expect(ranks.all(name, names), "gathering");
  if (std::vector<Rank> hosts = base::numbered(names); std::ranges::max(hosts) > 0) found.of = std::move(hosts);
  return found;
}

Offer agreed_settings(Communicator& ranks, Communicator& here, const tune::Source& source) {
  Offer mine;
  together(ranks, [&] { mine = own_offer(source); });
  const Offer theirs = agreed_offer(ranks, mine);
  tell_of_unused(here, ranks.rank(), mine, theirs);
  return theirs;
}

/// A recording begins with the world, whose ranks end together.
void tell_of_no_recording() {
  static std::once_flag told;
  if (!base::variable("TUTTI_TRACE").empty())
    std::call_once(told, [] {
      base::log(
          "TUTTI_TRACE records the ranks of `tutti run` and of `tutti mpi`; groups that a program makes from its "
          "MPI's communicators are not recorded");
    });
}

/// A thread of Tutti's own would call the MPI between hosts.
constexpr std::string_view no_thread =
    "a thread that moves operations on between hosts would call the MPI, which all ranks have to allow; start it with "
    "MPI_Init_thread and MPI_THREAD_MULTIPLE, or wait without a descriptor and without TUTTI_PROGRESS_THREAD";

std::shared_ptr<Member> make_world_of(MpiLibrary& mpi, Communicator& ranks) {
  const JobNews news = agreed_news(ranks);
  Hosts hosts = find_hosts(ranks, news);
  const bool far = !hosts.of.empty();
  const auto home = std::make_shared<Home>(mpi, hosts.segment, hosts.place, far);
  tune::Source source;
  together(ranks, [&] { source = tune::find_table(this_machine(hosts.cores)); });
  if (ranks.rank() == 0) {
    tell_of_trouble(source);
    tell_of_no_recording();
  }
  const Offer offer = agreed_settings(ranks, *hosts.here, source);
  hosts.here.reset();
  Process process;
  together(ranks, [&] {
    process = process_from_environment(offer, source);
    process.timeout = timeout_from_environment();
  });
  process.segment = hosts.segment;
  process.rank = ranks.rank();
  process.board = hosts.board;
  process.hosts = hosts.of;
  process.cores = hosts.cores;
  process.ranks_on_host = hosts.ranks_here;
  process.launcher = mpi.name();
  process.table.conditions.by_mpi = far;
  process.name = news.name.data();
  process.home = home;
  const bool threads = !far || all_agree(ranks, mpi.has_threads());
  if (!threads && offer.progress != ProgressThread::off) throw Error(Cause::usage, std::string(no_thread));
  Far carrier;
  if (far) carrier.transport = ranks.messages();
  expect(all_agree(ranks, !far || carrier.transport != nullptr), "duplication of a communicator");
  auto world = make_process_world(process, std::move(carrier), &home->companion());
  engine::Engine& engine = world->runtime().engine();
  if (!threads) engine.forbid_progress_thread(std::string(no_thread));
  home->end_with_mpi(world->shared_runtime(), process.name);
  worlds().add(world->shared_runtime());
  return world;
}

}  // namespace
}  // namespace job

Group detail::from_mpi(const void* communicator, std::string_view abi) {
  launch::MpiLibrary& mpi = launch::loaded_mpi(abi);
  std::string why;
  const auto ranks = mpi.communicator(communicator, why);
  if (ranks == nullptr) throw Error(Cause::usage, "a group cannot be made from this MPI communicator: " + why);
  return Group(job::make_world_of(mpi, *ranks));
}

}  // namespace tutti
