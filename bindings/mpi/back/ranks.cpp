// SPDX-License-Identifier: BSD-3-Clause
#include "ranks.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <functional>

#include "base/log.hpp"
#include "messenger.hpp"
#include "real.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {

Ranks::Ranks(MPI_Comm comm) : comm_(comm) {
  real.Comm_rank(comm, &rank_);
  real.Comm_size(comm, &size_);
}

Ranks::~Ranks() {
  if (own_) real.Comm_free(&comm_);
}

std::string Ranks::name() const noexcept {
  std::array<char, MPI_MAX_OBJECT_NAME + 1> text{};
  int length = 0;
  if (real.Comm_get_name(comm_, text.data(), &length) != MPI_SUCCESS) return {};
  return text.data();
}

bool Ranks::bcast(std::span<std::byte> bytes, Rank root) noexcept {
  return real.Bcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, root, comm_) == MPI_SUCCESS;
}

bool Ranks::smallest(std::int64_t& number) noexcept {
  return real.Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT64_T, MPI_MIN, comm_) == MPI_SUCCESS;
}

bool Ranks::either(std::span<std::byte> bits) noexcept {
  const auto count = static_cast<int>(bits.size());
  return real.Allreduce(MPI_IN_PLACE, bits.data(), count, MPI_BYTE, MPI_BOR, comm_) == MPI_SUCCESS;
}

bool Ranks::all(std::int64_t mine, std::span<std::int64_t> numbers) noexcept {
  return real.Allgather(&mine, 1, MPI_INT64_T, numbers.data(), 1, MPI_INT64_T, comm_) == MPI_SUCCESS;
}

std::unique_ptr<Ranks> Ranks::host_of(std::string_view word) noexcept {
  MPI_Comm here = MPI_COMM_NULL, made = MPI_COMM_NULL;
  if (real.Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) != MPI_SUCCESS) return nullptr;
  const std::size_t hash = std::hash<std::string_view>()(word);
  const int code = real.Comm_split(here, static_cast<int>(hash & INT_MAX), 0, &made);
  real.Comm_free(&here);
  if (code != MPI_SUCCESS) return nullptr;
  // The loss of a rank that programs survive by ULFM must not end them here, whatever the world's handler is.
  real.Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  auto found = std::make_unique<Ranks>(made);
  found->own_ = true;
  return found;
}

std::unique_ptr<transport::Transport> Ranks::messages() noexcept {
  try {
    return std::make_unique<Messenger>(comm_);
  } catch (const std::exception& error) {
    base::log(error.what());
    return nullptr;
  }
}

}  // namespace tutti::mpi
