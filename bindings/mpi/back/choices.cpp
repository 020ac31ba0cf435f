// SPDX-License-Identifier: BSD-3-Clause
#include "choices.hpp"

#include <algorithm>
#include <bit>

#include "base/hash.hpp"

namespace tutti::mpi {
namespace {

/// From here on blocks have one call, which is long enough. Below, what a call finds in the caches is what the one
/// before has left there: an allgather of 64 KiB on two ranks takes Tutti 23 us among those of MPICH, which take 18,
/// and 5.5 among its own.
constexpr Count large = 16 << 20;
/// From here on fewer pairs have to do: of two that are alike each change costs some per cent, as what the other side
/// left in the caches is of no use, and the more so the larger it is.
constexpr Count medium = 64 << 10;

}  // namespace

int size_class(Count bytes) {
  if (bytes < 0) return 0;
  return std::min(1 + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes))), size_classes - 1);
}

Choices::Row Choices::make_row(std::size_t number) {
  Row row;
  row.reserve(size_classes);
  for (std::size_t i = 0; i < size_classes; ++i) {
    const Count smallest = smallest_of(static_cast<int>(i));
    const bool few = smallest >= medium && smallest < large;
    row.push_back({Trials(smallest < large ? 4 : 1, base::combine(number, i), few ? 32 : 64), 0});
  }
  return row;
}

bool Choices::gains(Kind kind, Count bytes) {
  return of(kind, Form::blocking, bytes).trials.side() == Side::tutti ||
         of(kind, Form::starting, bytes).trials.side() == Side::tutti;
}

void Choices::take_back(Watched& watched, Form form, const Before& before) {
  const bool was_due = watched.trials.due();
  stages_[static_cast<std::size_t>(form)] = before.stage;
  watched.trials.take_back(before.mark);
  if (was_due && !watched.trials.due()) std::erase_if(due_, [&](const Due& due) { return due.watched == &watched; });
}

void Choices::agree(job::Member& member, int ranks) {
  std::vector<std::int64_t> sums;
  std::vector<Due*> asked;
  {
    const std::lock_guard guard(lock);
    for (Due& due : due_) {
      if (due.waiting-- > 0) continue;
      asked.push_back(&due);
      sums.push_back(due.watched->open);
      const auto times = due.watched->trials.times();
      sums.insert(sums.end(), times.begin(), times.end());
    }
  }
  if (asked.empty()) return;
  Call call;
  call.kind = Kind::allreduce;
  call.type = Type::int64;
  call.element = sizeof(std::int64_t);
  call.reduction = {Op::sum, true, nullptr, nullptr};
  call.count = static_cast<Count>(sums.size());
  call.in_place = true;
  call.output = sums.data();
  member.run(call);
  const std::lock_guard guard(lock);
  const std::int64_t* next = sums.data();
  for (Due* due : asked) {
    const std::int64_t open = *next++;
    const auto times = due->watched->trials.times();
    if (open == 0) {
      std::copy_n(next, times.size(), times.begin());
      due->watched->trials.decide(ranks);
      due->watched = nullptr;
    } else {
      due->waiting = due->delay = 2 * due->delay + 1;
    }
    next += times.size();
  }
  std::erase_if(due_, [](const Due& due) { return due.watched == nullptr; });
}

}  // namespace tutti::mpi
