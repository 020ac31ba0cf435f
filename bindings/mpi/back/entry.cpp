// SPDX-License-Identifier: BSD-3-Clause
// What the front finds here: for each name that it exports, what to call.
#include <cctype>
#include <string>
#include <unordered_map>

#include "base/log.hpp"
#include "blocking.hpp"
#include "collectives.hpp"
#include "completion.hpp"
#include "forms.hpp"
#include "inside.hpp"
#include "life.hpp"
#include "memory.hpp"
#include "narrow.hpp"
#include "real.hpp"
#include "slots.h"
#include "timing.hpp"

namespace tutti::mpi {
namespace {

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

class Table {
 public:
  explicit Table(Finder find) : find_(find) {}

  /// All forms of a collective. SmallD: displacements of its plain forms.
  template <class C, class SmallD = int>
  void add(const std::string& name) {
    using Plain = Forms<C, int, SmallD>;
    using Large = Forms<C, MPI_Count, MPI_Aint>;
    using Emulated = Narrowed<C, SmallD>;
    std::string starting = "I" + name;
    starting[1] = static_cast<char>(std::tolower(starting[1]));
    find_forms<Plain>(name, starting, "");
    find_forms<Large>(name, starting, "_c");
    if (Large::real_blocking == nullptr) Large::real_blocking = &Emulated::blocking;
    if (Large::real_starting == nullptr) Large::real_starting = &Emulated::starting;
    if (Large::real_preparing == nullptr) Large::real_preparing = &Emulated::preparing;
    put(name, address(&Plain::blocking));
    put(starting, address(&Plain::starting));
    if (Plain::real_preparing != nullptr) put(name + "_init", address(&Plain::preparing));
    put(name + "_c", address(&Large::blocking));
    put(starting + "_c", address(&Large::starting));
    put(name + "_init_c", address(&Large::preparing));
  }

  void put(const std::string& name, void* function) { functions_["MPI_" + name] = function; }

  template <auto function>
  void put_noted(const std::string& name) {
    Noted<function>::name = host::Inside::name_of("MPI_" + name);
    put(name, address(&Noted<function>::call));
  }

  /// Where a call of this name goes: to us, else to the MPI itself; null where neither knows it.
  void* target(const char* name) const {
    const auto found = functions_.find(name);
    return found != functions_.end() ? found->second : find_(name);
  }

 private:
  template <class Some>
  void find_forms(const std::string& name, const std::string& starting, const std::string& suffix) {
    Some::name = host::Inside::name_of("MPI_" + name + suffix);
    Some::real_blocking = reinterpret_cast<decltype(Some::real_blocking)>(find_(("MPI_" + name + suffix).c_str()));
    Some::real_starting = reinterpret_cast<decltype(Some::real_starting)>(find_(("MPI_" + starting + suffix).c_str()));
    Some::real_preparing =
        reinterpret_cast<decltype(Some::real_preparing)>(find_(("MPI_" + name + "_init" + suffix).c_str()));
  }

  Finder find_;
  std::unordered_map<std::string, void*> functions_;
};

void add_collectives(Table& table) {
  using namespace collectives;
  table.add<Barrier>("Barrier");
  table.add<Bcast>("Bcast");
  table.add<Gather>("Gather");
  table.add<Gatherv>("Gatherv");
  table.add<Scatter>("Scatter");
  table.add<Scatterv>("Scatterv");
  table.add<Allgather>("Allgather");
  table.add<Allgatherv>("Allgatherv");
  table.add<Alltoall>("Alltoall");
  table.add<Alltoallv>("Alltoallv");
  table.add<Alltoallw>("Alltoallw");
  table.add<Reduce>("Reduce");
  table.add<Allreduce>("Allreduce");
  table.add<ReduceScatter>("Reduce_scatter");
  table.add<ReduceScatterBlock>("Reduce_scatter_block");
  table.add<Scan>("Scan");
  table.add<Exscan>("Exscan");
  table.add<NeighborAllgather>("Neighbor_allgather");
  table.add<NeighborAllgatherv>("Neighbor_allgatherv");
  table.add<NeighborAlltoall>("Neighbor_alltoall");
  table.add<NeighborAlltoallv>("Neighbor_alltoallv");
  table.add<NeighborAlltoallw, MPI_Aint>("Neighbor_alltoallw");
}

void add_others(Table& table) {
  table.put("Init", address(&life::init));
  table.put("Init_thread", address(&life::init_thread));
  table.put("Alloc_mem", address(&memory::alloc_mem));
  table.put("Free_mem", address(&memory::free_mem));
  table.put("Op_free", address(&life::op_free));
  table.put("Type_free", address(&life::type_free));
  table.put_noted<&Timed<&completion::wait>::call>("Wait");
  table.put_noted<&Timed<&completion::waitall>::call>("Waitall");
  table.put_noted<&Timed<&completion::waitany>::call>("Waitany");
  table.put_noted<&Timed<&completion::waitsome>::call>("Waitsome");
  table.put("Test", address(&Timed<&completion::test>::call));
  table.put("Testall", address(&Timed<&completion::testall>::call));
  table.put("Testany", address(&Timed<&completion::testany>::call));
  table.put("Testsome", address(&Timed<&completion::testsome>::call));
  table.put("Request_get_status", address(&completion::request_get_status));
  table.put("Request_get_status_all", address(&completion::request_get_status_all));
  table.put("Request_get_status_any", address(&completion::request_get_status_any));
  table.put("Request_get_status_some", address(&completion::request_get_status_some));
  table.put("Request_free", address(&Timed<&completion::request_free>::call));
  table.put("Start", address(&completion::start));
  table.put("Startall", address(&completion::startall));
}

/// A function that this MPI lacks is an error of the program's, not to be passed over.
int absent(const char* name) {
  base::log("the program calls " + std::string(name) + ", which its MPI does not have");
  int initialized = 0, finalized = 0;
  real.Initialized(&initialized);
  real.Finalized(&finalized);
  if (initialized != 0 && finalized == 0) real.Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_UNSUPPORTED_OPERATION);
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

}  // namespace
}  // namespace tutti::mpi

extern "C" __attribute__((visibility("default"))) tutti_mpi_absent_function* tutti_mpi_fill(
    struct tutti_mpi_slot* slots, size_t count, void* (*find)(const char*)) {
  using namespace tutti::mpi;
  const std::string missing = find_real(find);
  is_revoked = reinterpret_cast<decltype(is_revoked)>(find("MPIX_Comm_is_revoked"));
  Table table(find);
  if (missing.empty()) {
    add_collectives(table);
    add_others(table);
    blocking::find(find);
    blocking::find_messages(find);
    const auto put = [&](const std::string& name, void* function) { table.put(name, function); };
    blocking::tell(put);
    blocking::tell_messages(put);
  } else {
    tutti::base::log("all calls are passed on: this MPI has no " + missing);
  }
  for (size_t i = 0; i < count; ++i)
    if (void* target = table.target(slots[i].name)) slots[i].target = target;
  return missing.empty() ? &absent : nullptr;
}
