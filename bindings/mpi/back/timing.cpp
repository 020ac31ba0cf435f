// SPDX-License-Identifier: BSD-3-Clause
#include "timing.hpp"

#include <mutex>
#include <unordered_map>
#include <utility>

#include "report.hpp"

namespace tutti::mpi {
namespace {

struct Charges {
  std::mutex lock;
  std::unordered_map<std::uintptr_t, Charge> by_request;
};

Charges& charges() {
  static Charges& all = *std::make_unique<Charges>().release();  // kept for ever: threads may outlive main
  return all;
}

void add(const Charge& charge, std::int64_t elapsed, bool ended) {
  if (charge.choices != nullptr) {
    const std::lock_guard guard(charge.choices->lock);
    charge.watched->trials.measured(charge.sample, elapsed);
    if (ended) --charge.watched->open;
  }
  if (report::wanted) report::more(charge.kind, Form::starting, charge.size_class, charge.side, elapsed);
}

}  // namespace

void time_request(MPI_Request request, Charge charge) {
  if (request == MPI_REQUEST_NULL) {
    add(charge, 0, true);
    return;
  }
  const std::lock_guard guard(charges().lock);
  // The MPI gives the handle of a request that ended unseen to another.
  const auto [found, fresh] = charges().by_request.try_emplace(number_of(request), charge);
  if (fresh) {
    timed_requests.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  add(found->second, 0, true);
  found->second = std::move(charge);
}

Stopwatch::Stopwatch(std::span<MPI_Request> requests) : requests_(requests), before_(requests.size()) {
  const std::lock_guard guard(charges().lock);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const bool measured = requests[i] != MPI_REQUEST_NULL && charges().by_request.contains(number_of(requests[i]));
    before_[i] = measured ? requests[i] : MPI_REQUEST_NULL;
    measured_ += measured ? 1 : 0;
  }
  start_ = base::now();
}

Stopwatch::~Stopwatch() {
  if (measured_ == 0) return;
  const std::int64_t each = since(start_) / measured_;
  const std::lock_guard guard(charges().lock);
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (before_[i] == MPI_REQUEST_NULL) continue;
    const auto found = charges().by_request.find(number_of(before_[i]));
    if (found == charges().by_request.end()) continue;
    const bool ended = requests_[i] == MPI_REQUEST_NULL;
    add(found->second, each, ended);
    if (!ended) continue;
    charges().by_request.erase(found);
    timed_requests.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace tutti::mpi
