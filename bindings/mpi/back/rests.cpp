// SPDX-License-Identifier: BSD-3-Clause
#include "rests.hpp"

#include "blocked.hpp"
#include "report.hpp"

namespace tutti::mpi {
namespace {

void give_back(Rest& rest) {
  if (rest.trials == nullptr) return;
  rest.trials->give_back(rest.left);
  rest = {};
}

}  // namespace

void lend(const Communicator& with, Kind kind, Count bytes, Trials& trials) {
  const Choices& choices = *with.choices;
  if (has_several_threads || report::wanted || choices.due() || choices.last.watched != nullptr) return;
  if (trials.side() != Side::mpi) return;
  Rest& rest = rests[static_cast<std::size_t>(kind)];
  give_back(rest);
  const std::int64_t left = trials.lend();
  if (left == 0) return;
  rest = {left,
          communicator_generation.load(std::memory_order_relaxed),
          with.handle,
          &with,
          size_class(bytes),
          &trials,
          with.choices};
}

void give_back(Kind kind) { give_back(rests[static_cast<std::size_t>(kind)]); }

void give_back_all(const Choices& choices) {
  for (Rest& rest : rests)
    if (rest.choices.get() == &choices) give_back(rest);
}

}  // namespace tutti::mpi
