// SPDX-License-Identifier: BSD-3-Clause
// The MPI that this process has loaded, as far as a group needs it to come about and to talk. What knows the MPI's ABI
// is a library of its own (bindings/mpi/back), which is opened at run time; nothing here throws across that border.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "host/waiting.hpp"
#include "transport/transport.hpp"
#include "tutti/types.hpp"

namespace tutti::launch {

/// Processes that can talk already. All but the first three are collective, and false or empty where the MPI fails.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual Rank rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  /// As the MPI calls it: "MPI_COMM_WORLD"; "" without a name.
  virtual std::string name() const noexcept = 0;
  /// The root's bytes, on all.
  virtual bool bcast(std::span<std::byte> bytes, Rank root) noexcept = 0;
  /// The smallest of all ranks' numbers.
  virtual bool smallest(std::int64_t& number) noexcept = 0;
  /// The bits that some rank has set.
  virtual bool either(std::span<std::byte> bits) noexcept = 0;
  /// Everybody's number, by rank.
  virtual bool all(std::int64_t mine, std::span<std::int64_t> numbers) noexcept = 0;
  /// Those that may share memory and have the same word, in the same order.
  virtual std::unique_ptr<Communicator> neighbors(std::string_view word) noexcept = 0;
  /// Messages between the ranks, through a duplicate that the MPI gives back when all ranks have let go of theirs.
  virtual std::unique_ptr<transport::Transport> messages() noexcept = 0;
};

/// The library. It lives as long as the process.
class MpiLibrary {
 public:
  /// "Open MPI 5.0.11".
  virtual std::string name() noexcept = 0;
  /// Any thread may call it, also one of Tutti's own.
  virtual bool has_threads() noexcept = 0;
  /// What is at this address, a communicator in its ABI. Empty, with the reason and what to do, where Tutti can do
  /// nothing with it.
  virtual std::unique_ptr<Communicator> communicator(const void* address, std::string& why) noexcept = 0;
  /// Moves the MPI on while a rank waits in Tutti. `far`: for what only looking at it finds out.
  virtual host::Companion& companion(bool far) noexcept = 0;
  /// Called by MPI_Finalize while the MPI still works, the last one first. Returns a name for `forget`.
  virtual std::uint64_t at_finalize(std::function<void()> end) noexcept = 0;
  virtual void forget(std::uint64_t end) noexcept = 0;

 protected:
  ~MpiLibrary() = default;
};

/// What such a library exports as tutti_mpi_open: the MPI behind this handle of dlopen. nullptr, with the reason, where
/// it lacks something.
using OpenMpi = MpiLibrary*(void* handle, std::string& why) noexcept;
/// The version of Tutti that it was made for: tutti_mpi_version, a text.
inline constexpr const char* open_mpi_symbol = "tutti_mpi_open";
inline constexpr const char* mpi_version_symbol = "tutti_mpi_version";

/// The MPI with this ABI, "" for any, that is loaded here. Throws Error (usage): there is none; (system): what is made
/// for it cannot be used.
MpiLibrary& loaded_mpi(std::string_view abi);

}  // namespace tutti::launch
