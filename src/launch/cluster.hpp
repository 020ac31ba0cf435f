// SPDX-License-Identifier: BSD-3-Clause
// What the launcher of a cluster is asked for: who this process is, and to carry one text from rank 0 to all others. It
// serves nothing after that.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "launch/conversation.hpp"
#include "tutti/types.hpp"

namespace tutti::launch {

/// What such a launcher sets.
inline constexpr char pmi_variable[] = "PMI_FD", pmix_variable[] = "PMIX_NAMESPACE";

class Cluster {
 public:
  /// Takes leave of the launcher, which would otherwise end the others when this process ends.
  virtual ~Cluster() = default;
  Rank rank() const { return rank_; }
  int size() const { return size_; }
  /// How it is spoken to and why so, for people.
  const std::string& name() const { return name_; }
  /// The longest text that it carries.
  virtual std::size_t longest() const = 0;
  /// Rank 0 gives a text, the others an empty one; all get rank 0's. All ranks of the job call it, once.
  /// Throws Error (system, timeout, interrupted).
  virtual std::string share(const std::string& text, Deadline& deadline) = 0;

 protected:
  Rank rank_ = 0;
  int size_ = 1;
  std::string name_;
};

/// The launcher that speaks PMI-1 over the descriptor PMI_FD: hydra (mpiexec of MPICH and Intel MPI), Slurm (pmi2).
/// nullptr when there is none. Throws Error (usage) when its variables make no sense.
std::unique_ptr<Cluster> find_pmi();

/// The launcher that PMIx reaches: Open MPI's mpirun, Slurm. nullptr when there is none. Throws Error (system) when
/// there is one and its library cannot be used.
std::unique_ptr<Cluster> find_pmix();

/// An MPI speaks to the launcher as well.
enum class Mpi {
  none,
  loaded,       ///< There is one in this process, and it may still be initialised.
  initialized,  ///< It takes leave of the launcher by itself.
};
Mpi mpi_here();
/// Throws Error (usage) when there is an MPI that is not initialised: some cannot be, once another has spoken to the
/// launcher.
void check_mpi();

}  // namespace tutti::launch
