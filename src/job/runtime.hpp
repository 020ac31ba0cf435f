// SPDX-License-Identifier: BSD-3-Clause
// One rank of a job: its engine, and what all ranks agreed on.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "engine/engine.hpp"
#include "engine/mailbox.hpp"
#include "host/segment.hpp"
#include "job/messages.hpp"
#include "job/offer.hpp"
#include "job/planner.hpp"
#include "job/topology.hpp"
#include "tune/source.hpp"
#include "tutti/group.hpp"

namespace tutti::job {

inline constexpr std::string_view world_name = "world";

/// What a runtime is made from; the pieces differ between real processes and ranks inside one process.
struct Place {
  engine::Setup engine;
  std::shared_ptr<const tune::Table> table;
  std::string algorithms;                      ///< Of TUTTI_ALGORITHMS, which go before the table; for `tutti info`.
  tune::Source source;                         ///< What the table is made from; for `tutti info`.
  bool boards = true;                          ///< Members of a group that share a host get a board.
  std::vector<Rank> hosts{};                   ///< Of each rank of the world; empty: all share one.
  std::string launcher{};                      ///< Who started the job, for `tutti info`.
  std::uint64_t link_rate = 0;                 ///< Of the slowest link, in bits per second; agreed; 0: unknown.
  bool single_copy = false;                    ///< All ranks may read and write each other's exposed memory; agreed.
  std::string name = std::string(world_name);  ///< Of the world, in messages.
  std::shared_ptr<void> home{};                ///< What has to live, and to end, with the runtime.
};

class Runtime {
 public:
  explicit Runtime(Place place) : place_(std::move(place)), engine_(place_.engine) {}

  engine::Engine& engine() { return engine_; }
  const Place& place() const { return place_; }
  /// Of a rank of the world.
  Rank host_of(Rank world) const { return place_.hosts.empty() ? 0 : place_.hosts[static_cast<std::size_t>(world)]; }
  void agree_on_single_copy(bool all) { place_.single_copy = all; }
  /// From now on the table for links of this rate. The transport does what suits them.
  void use(std::shared_ptr<const tune::Table> table, std::uint64_t link_rate);
  /// Bytes that pipelines between hosts cut nothing finer than; 0: neither links nor transport mind.
  std::size_t least_segment();
  /// Whether this job has a progress thread, and why; for `tutti info`.
  const std::string& progress() const { return progress_; }
  void say_progress(std::string text) { progress_ = std::move(text); }

 private:
  Place place_;
  engine::Engine engine_;
  std::string progress_;
};

class Member;

/// A call made ready: what a Persistent keeps.
struct Prepared {
  std::shared_ptr<Member> member;
  std::shared_ptr<const engine::Bound> bound;
  engine::Buffers buffers;
  Reduction reduction;
  const void* site;
};

/// One rank's membership in one group: what a Group handle points to.
class Member : public std::enable_shared_from_this<Member> {
 public:
  Member(std::shared_ptr<Runtime> runtime, engine::Membership membership);

  engine::Channel& channel() { return *channel_; }
  Runtime& runtime() { return *runtime_; }
  const std::shared_ptr<Runtime>& shared_runtime() const { return runtime_; }
  const engine::Membership& who() const { return channel_->who(); }
  /// The name of a group that is made from this one. Of a long line of them the middle is left out.
  std::string name_within(const std::string& step) const;
  /// The host of each member, numbered by their lowest members; empty: all share one.
  std::span<const Rank> hosts() const { return planner_.agreed().hosts; }

  Request start(const Call& call);
  void run(const Call& call);
  /// Makes a call ready for being started again and again.
  std::unique_ptr<const Prepared> init(const Call& call);
  Request start(const Prepared& prepared);
  void run(const Prepared& prepared);
  /// Waits as a blocking call does: no longer than the time limit, then gives the operation up.
  void finish(Request request);
  /// How a message is told from others, and where in the program it is sent or received.
  struct Mark {
    std::uint32_t tag = 0;
    const void* site = nullptr;
    const Layout* layout = nullptr;  ///< Where its elements lie; null: side by side.
    transport::Lane lane = transport::Lane::user;
    std::uint32_t agreed = 0;  ///< What else sender and receiver must have in common.
  };
  Request start_message(plan::Verb verb, std::byte* data, Count count, Type type, std::size_t element, Rank peer,
                        const Mark& mark);
  /// sparse_exchange: elements of this type go through the mailbox.
  Request start_exchange(const std::shared_ptr<engine::Mailbox>& mailbox, Type type, std::uint32_t element,
                         const void* site);
  /// The table for links of so many bits per second.
  using TableOf = std::function<std::shared_ptr<const tune::Table>(std::uint64_t)>;
  /// Collective: whether all ranks can reach each other's exposed memory, and make fences for all (host::Waiting); with
  /// a `table`, how fast the links between hosts are, which it is chosen by from now on. For a world, before its first
  /// operation.
  void agree_on_abilities(bool single_copy, const TableOf& table = nullptr);
  /// Collective, for a world: has a progress thread from now on, or not, and says so.
  void decide_on_progress_thread(ProgressThread wanted);
  /// Collective; see Group::split. nullptr for a negative colour. Throws Mismatch on all ranks when `agreed` is not the
  /// same on all.
  std::shared_ptr<Member> split(int colour, int key, const void* site, std::uint64_t agreed = 0);
  /// Called by these ranks of the group alone, this one among them; see Group::create.
  std::shared_ptr<Member> create(std::span<const Rank> ranks, const void* site);
  /// See Group::agree, Group::shrink and Group::lost.
  bool agree(bool flag, const void* site);
  std::shared_ptr<Member> shrink(const void* site);
  std::vector<Rank> lost() const;
  /// Memory for the board of a group to be, made by one of its ranks on this host; 0 where it is alone. Throws Error
  /// (system).
  host::Offset make_board(const engine::Membership& made);
  /// Gives it back when the group is not made after all.
  void free_board(host::Offset board, const engine::Membership& made);

  /// The user's plans that are kept for this group; from any thread. `keep` returns what is kept by then.
  Plan kept_plan(std::string_view key);
  Plan keep_plan(std::string_view key, const Plan& plan);

  /// Gives a new group its neighbours.
  void attach(std::shared_ptr<const Topology> topology);
  /// nullptr for a group without.
  const Topology* topology() const { return topology_.get(); }
  const std::shared_ptr<const Topology>& shared_topology() const { return topology_; }

 private:
  engine::Channel::Start prepare(const Call& call);
  /// Bits per second of the slowest link between hosts; without limit on ranks that have no part in it. Called by all
  /// ranks of a world over several hosts.
  std::int64_t link_rate();
  void allgather(const std::int64_t* mine, std::int64_t* all, Count count, const void* site);
  /// The next agreement of the group, as that call.
  engine::Opinion decide(std::uint32_t call, bool flag, std::vector<engine::Opinion::Note> notes, const void* site);
  struct Survey;
  std::shared_ptr<Survey> survey(const void* site);
  /// Those of these ranks of the group that are on this rank's host.
  std::vector<Rank> near(std::span<const Rank> ranks) const;

  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<engine::Channel> channel_;
  std::shared_ptr<const Topology> topology_;
  Planner planner_;
  Messages messages_;  // guarded by the channel's turn
  std::uint64_t splits_ = 0, created_ = 0;
  std::mutex agreeing_;             // guards what follows; held for as long as an agreement waits
  std::uint64_t agreements_ = 0;    // that are over
  std::shared_ptr<Survey> survey_;  // of a shrink that is not over
  std::optional<Error> left_out_;   // what ended this rank's part in them
  mutable std::mutex lost_lock_;    // guards what follows, beside agreeing_
  engine::Ranks lost_;              // as the last of them found
  std::mutex plans_lock_;
  std::map<std::string, Plan, std::less<>> plans_;
};

/// The name of an algorithm by its position in the registry, for messages.
std::string_view algorithm_name(std::int32_t algorithm);

/// Memory for the board of the world's ranks on a host, made by one of them before the others ask for it; 0 where it is
/// alone.
host::Offset make_world_board(host::Segment& segment, std::string_view name = world_name);

/// The world of this runtime; its ranks on this host have their board at `board`.
std::shared_ptr<Member> make_world(std::shared_ptr<Runtime> runtime, host::Offset board);

/// The first rank of each host, ascending.
std::vector<Rank> leaders_of(std::span<const Rank> hosts);

/// The place of each rank in the segment of the host of `rank`, -1 on others.
std::vector<Rank> places(std::span<const Rank> hosts, Rank rank);

/// What a process that has entered a segment brings along.
struct Process {
  std::shared_ptr<host::Segment> segment;  ///< Of its host.
  Rank rank = 0;
  host::Offset board = 0;   ///< Of its host.
  int cores = 1;            ///< Usable by all ranks together.
  std::string algorithms;   ///< Agreed; as TUTTI_ALGORITHMS.
  bool single_copy = true;  ///< False: do without.
  std::uint64_t timeout = 0;
  engine::Caches caches = engine::Caches::measured;
  tune::Source table = {};                        ///< Agreed.
  ProgressThread progress = ProgressThread::off;  ///< Agreed.
  std::vector<Rank> hosts{};                      ///< Agreed; of each rank. Empty: all share one.
  int ranks_per_core = 1;                         ///< Agreed; where hosts share a machine's cores, else 1.
  std::string launcher{};                         ///< For `tutti info`.
  std::string name = std::string(world_name);     ///< Agreed.
  int ranks_on_host = 0;                          ///< That share the cores; 0: all of the segment.
  std::shared_ptr<void> home{};                   ///< What has to live as long as the world, and to end with it.
  trace::Recorder* recorder = nullptr;            ///< Notes what this rank does; null: nobody does.
};

/// The way to processes on other hosts.
struct Far {
  std::unique_ptr<transport::Transport> transport;  ///< Its peers are ranks of the world.
  int descriptor = -1;                              ///< Readable when there is something to progress; -1: none.
};

/// The world of a real process. Collective: all ranks of the job call it. `far` where they are on several hosts.
/// `companion`, if any, is visited by those who wait.
std::shared_ptr<Member> make_process_world(const Process& process, Far far = {}, host::Companion* companion = nullptr);

/// A world of processes that share no memory: all that they say to each other goes through this transport. `segment` is
/// this process's own. Does not communicate.
std::shared_ptr<Member> make_world_apart(const Process& process, std::unique_ptr<transport::Transport> transport);

}  // namespace tutti::job
