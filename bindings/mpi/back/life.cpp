// SPDX-License-Identifier: BSD-3-Clause
#include "life.hpp"

#include "base/log.hpp"
#include "blocked.hpp"
#include "communicators.hpp"
#include "datatypes.hpp"
#include "finalize.hpp"
#include "held.hpp"
#include "host.hpp"
#include "real.hpp"
#include "report.hpp"
#include "requests.hpp"

namespace tutti::mpi::life {
namespace {

void end() {
  progress();
  if (report::wanted) report::print();
  Host::finish();
}

void begin() {
  int provided = MPI_THREAD_SINGLE;
  real.Query_thread(&provided);
  has_several_threads = provided == MPI_THREAD_MULTIPLE;
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
  if ((idle() && !has_persistent()) || op == nullptr || !keep_op(*op)) return real.Op_free(op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

int type_free(MPI_Datatype* type) noexcept {
  if ((idle() && !has_persistent()) || type == nullptr || !keep_type(*type)) return real.Type_free(type);
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

}  // namespace tutti::mpi::life
