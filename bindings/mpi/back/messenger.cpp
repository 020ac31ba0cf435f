// SPDX-License-Identifier: BSD-3-Clause
#include "messenger.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "finalize.hpp"

namespace tutti::mpi {
namespace {

/// All carriers of messengers that are not closed.
struct Carriers {
  std::mutex lock;
  std::vector<std::shared_ptr<Carrier>> lent, left;

  void close_some() {
    const std::lock_guard guard(lock);
    std::erase_if(left, [](const auto& carrier) { return carrier->close_soon(); });
  }
  /// In MPI_Finalize, where all ranks come.
  void close_all() {
    {
      const std::lock_guard guard(lock);
      left.insert(left.end(), lent.begin(), lent.end());
      lent.clear();
    }
    while (!left.empty()) close_some();
  }
};

Carriers& carriers() {
  static Carriers& all = *std::make_unique<Carriers>().release();  // kept for ever: groups may end after main
  static const std::uint64_t closing = at_finalize([] { all.close_all(); });
  static_cast<void>(closing);
  return all;
}

}  // namespace

Messenger::Messenger(MPI_Comm over) {
  carriers().close_some();
  carrier_ = std::make_shared<Carrier>(over);
  const std::lock_guard guard(carriers().lock);
  carriers().lent.push_back(carrier_);
}

Messenger::~Messenger() {
  const std::lock_guard guard(carriers().lock);
  // After MPI_Finalize it is closed already.
  if (std::erase(carriers().lent, carrier_) > 0) carriers().left.push_back(std::move(carrier_));
}

}  // namespace tutti::mpi
