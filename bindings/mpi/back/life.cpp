// SPDX-License-Identifier: BSD-3-Clause
#include "life.hpp"

#include <mutex>
#include <vector>

#include "base/log.hpp"
#include "communicators.hpp"
#include "datatypes.hpp"
#include "finalize.hpp"
#include "host.hpp"
#include "real.hpp"
#include "report.hpp"
#include "requests.hpp"

namespace tutti::mpi::life {
namespace {

/// What operations may still combine elements with when the program is done with it.
struct Later {
  std::mutex lock;
  std::vector<MPI_Op> ops;
  std::vector<MPI_Datatype> types;
};

Later& later() {
  static Later& all = *std::make_unique<Later>().release();
  return all;
}

void free_later() {
  Later& all = later();
  const std::lock_guard lock(all.lock);
  for (MPI_Op& op : all.ops) real.Op_free(&op);
  for (MPI_Datatype& type : all.types) real.Type_free(&type);
  all.ops.clear();
  all.types.clear();
}

void end() {
  progress();
  if (report::wanted) report::print();
  free_later();
  Host::finish();
}

void begin() {
  try {
    at_finalize(&end);
    Host::start();
    prepare(MPI_COMM_WORLD);
  } catch (const std::exception& error) {
    base::log(std::string("collectives are the MPI's: ") + error.what());
  }
}

}  // namespace

int init(int* argc, char*** argv) noexcept {
  const int code = real.Init(argc, argv);
  if (code == MPI_SUCCESS) begin();
  return code;
}

int init_thread(int* argc, char*** argv, int required, int* provided) noexcept {
  const int code = real.Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) begin();
  return code;
}

int op_free(MPI_Op* op) noexcept {
  handle_generation.fetch_add(1, std::memory_order_relaxed);
  if (idle() || op == nullptr || *op == MPI_OP_NULL) return real.Op_free(op);
  const std::lock_guard lock(later().lock);
  later().ops.push_back(*op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

int type_free(MPI_Datatype* type) noexcept {
  if (idle() || type == nullptr || *type == MPI_DATATYPE_NULL) return real.Type_free(type);
  const std::lock_guard lock(later().lock);
  later().types.push_back(*type);
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

}  // namespace tutti::mpi::life
