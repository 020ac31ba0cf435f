// SPDX-License-Identifier: BSD-3-Clause
#include "timing.hpp"

#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "report.hpp"

namespace tutti::mpi {
namespace {

struct Charges {
  struct Entry {
    std::uint64_t number = 0;  ///< Another one as soon as another request has the handle.
    std::optional<Charge> charge;
    std::shared_ptr<const void> arrays;
  };

  std::mutex lock;
  std::unordered_map<std::uintptr_t, Entry> by_request;
  std::uint64_t made = 0;

  /// The MPI gives the handle of a request that ended unseen to another. To be called with the lock held.
  Entry& of(MPI_Request request);
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

Charges::Entry& Charges::of(MPI_Request request) {
  const auto [found, fresh] = by_request.try_emplace(number_of(request));
  if (fresh) timed_requests.fetch_add(1, std::memory_order_relaxed);
  if (found->second.charge) add(*std::exchange(found->second.charge, std::nullopt), 0, true);
  found->second.number = ++made;
  return found->second;
}

}  // namespace

void time_request(MPI_Request request, Charge charge) {
  if (request == MPI_REQUEST_NULL) {
    add(charge, 0, true);
    return;
  }
  const std::lock_guard guard(charges().lock);
  charges().of(request).charge = std::move(charge);
}

void keep_for(MPI_Request request, std::shared_ptr<const void> arrays) {
  if (request == MPI_REQUEST_NULL) return;
  const std::lock_guard guard(charges().lock);
  charges().of(request).arrays = std::move(arrays);
}

Stopwatch::Stopwatch(std::span<MPI_Request> requests) : requests_(requests), before_(requests.size()) {
  const std::lock_guard guard(charges().lock);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    const auto found = charges().by_request.find(number_of(requests[i]));
    if (found == charges().by_request.end()) continue;
    before_[i] = {found->first, found->second.number};
    ++measured_;
  }
  start_ = base::now();
}

Stopwatch::~Stopwatch() {
  if (measured_ == 0) return;
  const std::int64_t each = since(start_) / measured_;
  const std::lock_guard guard(charges().lock);
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (before_[i].number == 0) continue;
    const auto found = charges().by_request.find(before_[i].request);
    if (found == charges().by_request.end() || found->second.number != before_[i].number) continue;
    const bool ended = requests_[i] == MPI_REQUEST_NULL;
    if (found->second.charge) add(*found->second.charge, each, ended);
    if (!ended) continue;
    charges().by_request.erase(found);
    timed_requests.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace tutti::mpi
