// SPDX-License-Identifier: BSD-3-Clause
// Groups made from communicators of all kinds: their ranks, their collectives, the program's own messages at the same
// time, and that they end in any order.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "tutti/mpi.hpp"
#include "tutti/tutti.hpp"

namespace {

int wrong = 0;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  ++wrong;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

/// Larger than what goes without asking, and odd.
constexpr std::size_t counts[] = {0, 1, 999, 40'001};

void check_collectives(const tutti::Group& group, const std::string& what) {
  const auto rank = group.rank(), size = group.size();
  for (const std::size_t count : counts) {
    std::vector<long> in(count), out(count, -1);
    for (std::size_t i = 0; i < count; ++i) in[i] = static_cast<long>(i) * 3 + rank;
    group.allreduce(in, out, tutti::sum);
    bool same = true;
    for (std::size_t i = 0; i < count; ++i)
      same = same && out[i] == static_cast<long>(i) * 3 * size + size * (size - 1) / 2;
    expect(same, what + ": allreduce of " + std::to_string(count));
    for (tutti::Rank root = 0; root < size; ++root) {
      std::vector<int> data(count, rank == root ? 17 + root : -1);
      group.bcast(data, root);
      expect(std::ranges::all_of(data, [&](int one) { return one == 17 + root; }),
             what + ": bcast of " + std::to_string(count) + " from " + std::to_string(root));
    }
    std::vector<int> to(count * static_cast<std::size_t>(size)), from(to.size(), -1);
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = rank * 1000 + static_cast<int>(i / std::max<std::size_t>(count, 1));
    group.alltoall(to, from);
    same = true;
    for (std::size_t i = 0; i < from.size(); ++i)
      same = same && from[i] == static_cast<int>(i / std::max<std::size_t>(count, 1)) * 1000 + rank;
    expect(same, what + ": alltoall of " + std::to_string(count));
  }
  group.barrier();
}

/// Its messages have Tutti's tags, and are there before and after Tutti's.
class Traffic {
 public:
  explicit Traffic(MPI_Comm comm)
      : comm_(comm), size_(size_of(comm)), heard_(static_cast<std::size_t>(size_) * tags, -1) {
    MPI_Request request = MPI_REQUEST_NULL;
    for (int peer = 0; peer < size_; ++peer)
      for (int tag = 0; tag < tags; ++tag) {
        MPI_Irecv(&heard_[static_cast<std::size_t>(peer * tags + tag)], 1, MPI_INT, peer, tag, comm, &request);
        requests_.push_back(request);
      }
  }
  void send() {
    MPI_Request request = MPI_REQUEST_NULL;
    said_.resize(tags);
    for (int tag = 0; tag < tags; ++tag) said_[static_cast<std::size_t>(tag)] = rank_in(comm_) * 100 + tag;
    for (int peer = 0; peer < size_; ++peer)
      for (int tag = 0; tag < tags; ++tag) {
        MPI_Isend(&said_[static_cast<std::size_t>(tag)], 1, MPI_INT, peer, tag, comm_, &request);
        requests_.push_back(request);
      }
  }
  void end(const std::string& what) {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    for (int peer = 0; peer < size_; ++peer)
      for (int tag = 0; tag < tags; ++tag)
        expect(heard_[static_cast<std::size_t>(peer * tags + tag)] == peer * 100 + tag,
               what + ": a message of its own");
  }

 private:
  static constexpr int tags = 3;
  MPI_Comm comm_;
  int size_;
  std::vector<int> heard_, said_;
  std::vector<MPI_Request> requests_;
};

tutti::Group check(MPI_Comm comm, const std::string& what) {
  Traffic traffic(comm);
  const tutti::Group group = tutti::from_mpi(comm);
  expect(group.rank() == rank_in(comm) && group.size() == size_of(comm), what + ": another rank or size");
  check_collectives(group, what);
  traffic.send();
  check_collectives(group, what + ", messages under way");
  traffic.end(what);
  return group;
}

void check_freed(MPI_Comm& comm, const std::string& what) {
  tutti::Group group = check(comm, what);
  MPI_Comm_free(&comm);
  check_collectives(group, what + ", its communicator freed");
  const tutti::Group part = group.split(group.rank() % 2, -group.rank());
  group = tutti::Group();
  check_collectives(part, what + ", split");
}

/// Groups of two worlds whose operations are completed in another order on each rank.
void check_two() {
  const tutti::Group one = tutti::from_mpi(MPI_COMM_WORLD), two = tutti::from_mpi(MPI_COMM_WORLD);
  for (int round = 0; round < 8; ++round) {
    std::vector<long> in(40'000, one.rank() + round), first(in.size()), second(in.size());
    tutti::Request a = one.iallreduce(in, first, tutti::sum), b = two.iallreduce(in, second, tutti::max);
    (one.rank() + round) % 2 == 0 ? a.wait() : b.wait();
    (one.rank() + round) % 2 == 0 ? b.wait() : a.wait();
    const long size = one.size();
    expect(first.front() == size * (size - 1) / 2 + size * round && first.back() == first.front(), "the first of two");
    expect(second.back() == size - 1 + round, "the second of two");
  }
}

/// A request keeps what it needs.
void check_request_alone() {
  std::vector<int> data(50'000, rank_in(MPI_COMM_WORLD) == 0 ? 5 : -1);
  tutti::Request request = tutti::from_mpi(MPI_COMM_WORLD).ibcast(data);
  request.wait();
  expect(data.back() == 5, "the bcast of a group without handles");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  tutti::Group world = check(MPI_COMM_WORLD, "world");
  expect(world.name() == "MPI_COMM_WORLD", "the name is " + world.name());
  tutti::Group self = check(MPI_COMM_SELF, "self");
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  check_freed(comm, "dup");
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
  check_freed(comm, "split");
  MPI_Comm_split(MPI_COMM_WORLD, 0, (rank + 1) % size, &comm);
  check_freed(comm, "another order");
  check_two();
  check_request_alone();
  // Ended in another order on each rank, and some not before MPI_Finalize.
  for (int i = 0; i < 6; ++i) {
    std::vector<tutti::Group> groups{tutti::from_mpi(MPI_COMM_WORLD), tutti::from_mpi(MPI_COMM_WORLD)};
    groups[1].barrier();
    groups.erase(groups.begin() + (rank + i) % 2);
    groups.front().name();
  }
  if (rank == 0) std::printf("%s\n", world.transport().c_str());
  if (argc > 1) self = world = tutti::Group();
  MPI_Finalize();
  std::printf("rank %d: %d wrong\n", rank, wrong);
  return wrong == 0 ? 0 : 1;
}
