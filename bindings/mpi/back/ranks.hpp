// SPDX-License-Identifier: BSD-3-Clause
// A communicator's own collectives, for those who come together through it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "abi.hpp"
#include "launch/communicator.hpp"

namespace tutti::mpi {

class Ranks final : public launch::Communicator {
 public:
  /// Of somebody else's communicator, which stays.
  explicit Ranks(MPI_Comm comm);
  ~Ranks() override;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  MPI_Comm comm() const { return comm_; }
  Rank rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  std::string name() const noexcept override;
  bool bcast(std::span<std::byte> bytes, Rank root) noexcept override;
  bool smallest(std::int64_t& number) noexcept override;
  bool either(std::span<std::byte> bits) noexcept override;
  bool all(std::int64_t mine, std::span<std::int64_t> numbers) noexcept override;
  std::unique_ptr<launch::Communicator> neighbors(std::string_view word) noexcept override { return host_of(word); }
  std::unique_ptr<transport::Transport> messages() noexcept override;

  /// The neighbours as such; their communicator ends with them.
  std::unique_ptr<Ranks> host_of(std::string_view word) noexcept;

 private:
  MPI_Comm comm_;
  bool own_ = false;
  int rank_ = 0, size_ = 1;
};

}  // namespace tutti::mpi
