// SPDX-License-Identifier: BSD-3-Clause
#include "held.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "real.hpp"

namespace tutti::mpi {
namespace {

/// Those of one kind that are held, by what the MPI frees them with: in some ABIs all handles are of one type.
template <auto>
class Holders;

template <class Handle, int (*Real::*own_free)(Handle*)>
class Holders<own_free> {
 public:
  static Holders& all() {
    static Holders& made = *std::make_unique<Holders>().release();  // kept for ever: requests may outlive main
    return made;
  }

  std::shared_ptr<void> hold(Handle handle) {
    const std::lock_guard guard(lock_);
    std::weak_ptr<One>& known = held_[number_of(handle)];
    std::shared_ptr<One> one = known.lock();
    if (one == nullptr) known = one = std::make_shared<One>(handle);
    return one;
  }
  bool keep(Handle handle) {
    const std::shared_ptr<One> one = find(handle);
    if (one != nullptr) one->is_freed.store(true, std::memory_order_relaxed);  // ordered by the counter of its holders
    return one != nullptr;
  }

 private:
  struct One {
    explicit One(Handle of) : handle(of) {}
    ~One() {
      all().forget(handle);
      if (is_freed.load(std::memory_order_relaxed)) (real.*own_free)(&handle);
    }
    One(const One&) = delete;
    One& operator=(const One&) = delete;

    Handle handle;
    std::atomic<bool> is_freed{false};
  };

  std::shared_ptr<One> find(Handle handle) {
    const std::lock_guard guard(lock_);
    const auto found = held_.find(number_of(handle));
    return found == held_.end() ? nullptr : found->second.lock();
  }
  /// Unless it is held anew.
  void forget(Handle handle) {
    const std::lock_guard guard(lock_);
    const auto found = held_.find(number_of(handle));
    if (found != held_.end() && found->second.expired()) held_.erase(found);
  }

  std::mutex lock_;
  std::unordered_map<std::uintptr_t, std::weak_ptr<One>> held_;
};

using HeldOps = Holders<&Real::Op_free>;
using HeldTypes = Holders<&Real::Type_free>;

}  // namespace

Held hold(const Reduction& reduction) {
  const Foreign* foreign = foreign_of(reduction);
  if (foreign == nullptr) return {};
  Held held;
  if (foreign->has_own_op) held.op = HeldOps::all().hold(foreign->op);
  if (foreign->has_own_type) held.type = HeldTypes::all().hold(foreign->type);
  return held;
}

bool keep_op(MPI_Op op) { return HeldOps::all().keep(op); }
bool keep_type(MPI_Datatype type) { return HeldTypes::all().keep(type); }

}  // namespace tutti::mpi
