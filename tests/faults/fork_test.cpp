// SPDX-License-Identifier: BSD-3-Clause
// fork after start: the child is not a member of the job. Whatever it calls is refused, and neither its calls nor its
// end, by exit or by a signal, disturb the parent.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "job.hpp"

namespace {

using tutti::Cause;
using tutti::Error;
using tutti::Group;
using tutti::Request;
using namespace tutti::faults;

constexpr int patience = 20;  // seconds

/// 0 when the call is refused as a wrong use.
template <class Call>
int refused(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.cause() == Cause::usage ? 0 : 1;
  }
  return 1;
}

int use_everything(const Group& world, Request& pending) {
  int wrong = 0;
  std::int64_t in = 1, out = 0;
  wrong += refused([&] { world.barrier(); });
  wrong += refused([&] { world.ibarrier(); });
  wrong += refused([&] { world.allreduce(std::span(&in, 1), std::span(&out, 1), tutti::sum); });
  wrong += refused([&] { world.split(0); });
  wrong += refused([&] { world.send(std::span(&in, 1), 1 - world.rank()); });
  wrong += refused([&] { pending.wait(); });
  wrong += refused([&] { pending.test(); });
  wrong += refused([&] { pending.wait_for(tutti::Duration(1'000'000)); });
  wrong += refused([&] { pending.fileno(); });
  return wrong;
}

/// What a forked child does on rank 0 while an operation is pending there; the rest goes on as if nothing were.
void body(Seat& seat, bool progress_thread, const std::function<int(const Group&, Request&)>& child) {
  Group world = seat.world().dup();
  std::int64_t in = world.rank() + 1, out = 0;
  for (int i = 0; i < 20; ++i) {
    if (world.rank() == 1) usleep(2000);
    Request request = world.iallreduce(std::span(&in, 1), std::span(&out, 1), tutti::sum);
    if (world.rank() == 0) {
      if (progress_thread) request.fileno();
      const pid_t pid = fork();
      if (pid == 0) {
        alarm(10);
        const int status = child(world, request);
        { const Request dropped = std::move(request); }
        world = Group();  // the last handle of this group: it goes as in a child that returns from main
        _exit(status);
      }
      int status = -1;
      waitpid(pid, &status, 0);
      if (status != 0 && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
        seat.say("the child ended with status " + std::to_string(status));
    }
    request.wait();
    if (out != 3) seat.say("a wrong result");
  }
  const Group again = world.dup();
  again.barrier();
  seat.say("done");
}

void expect_undisturbed(bool progress_thread, const std::function<int(const Group&, Request&)>& child) {
  Job job(2, {}, [&](Seat& seat) { body(seat, progress_thread, child); });
  for (tutti::Rank rank = 0; rank < 2; ++rank) {
    EXPECT_TRUE(job.await_end(rank, patience, false)) << "rank " << rank << " hangs";
    EXPECT_EQ(job.said(rank), "done\n") << "rank " << rank;
  }
}

TEST(Fork, TheChildIsRefused) {
  for (const bool progress_thread : {false, true}) expect_undisturbed(progress_thread, use_everything);
}

TEST(Fork, TheChildsEndDisturbsNobody) {
  for (const bool progress_thread : {false, true}) {
    expect_undisturbed(progress_thread, [](const Group&, Request&) { return 0; });
    expect_undisturbed(progress_thread, [](const Group&, Request&) { return raise(SIGKILL); });
  }
}

}  // namespace
