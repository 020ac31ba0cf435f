// SPDX-License-Identifier: BSD-3-Clause
#include "launch/communicator.hpp"

#include <dlfcn.h>

#include <array>
#include <map>
#include <mutex>

#include "base/words.hpp"
#include "tutti/error.hpp"
#include "tutti/version.h"

namespace tutti::launch {
namespace {

struct Abi {
  const char* soname;
  std::string_view name;
};
constexpr std::array abis{
#define TUTTI_MPI_ABI(soname, name) Abi{soname, name},
#include "launch/mpi_abis.def"
#undef TUTTI_MPI_ABI
};

struct Found {
  void* handle = nullptr;
  std::string_view abi;
};

Found find(std::string_view abi) {
  for (const Abi& one : abis) {
    if (!abi.empty() && abi != one.name) continue;
    if (void* handle = dlopen(one.soname, RTLD_LAZY | RTLD_NOLOAD)) return {handle, one.name};
  }
  std::string known;
  for (const Abi& one : abis)
    if (abi.empty() || abi == one.name) base::add_word(known, one.soname);
  throw Error(Cause::usage, "this process has loaded no MPI that Tutti knows (" + known +
                                "); link the program with its MPI's shared library, or use `tutti run`");
}

std::string reason() {
  const char* text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

/// The file stands in the folder of this library.
void* open_made_for(std::string_view abi) {
  Dl_info self;
  const bool known = dladdr(reinterpret_cast<void*>(&loaded_mpi), &self) != 0 && self.dli_fname != nullptr;
  std::string path = known ? self.dli_fname : "";
  path.erase(path.rfind('/') + 1);
  path += "libtutti-mpi-" + std::string(abi) + ".so";
  if (void* opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return opened;
  throw Error(Cause::system, "Tutti's part for this MPI cannot be opened: " + reason() +
                                 "; it is built where TUTTI_MPI_PEERS has the MPI's mpi.h (docs/mpi.md), and stands "
                                 "beside libtutti.so");
}

MpiLibrary* open(const Found& mpi) {
  void* const made = open_made_for(mpi.abi);
  const auto* version = static_cast<const char*>(dlsym(made, mpi_version_symbol));
  auto* const open = reinterpret_cast<OpenMpi*>(dlsym(made, open_mpi_symbol));
  if (version == nullptr || open == nullptr || std::string_view(version) != TUTTI_VERSION)
    throw Error(Cause::system, "libtutti-mpi-" + std::string(mpi.abi) + ".so is of another version of Tutti than " +
                                   "libtutti.so, " TUTTI_VERSION "; install both from one build");
  std::string why;
  MpiLibrary* const library = open(mpi.handle, why);
  if (library == nullptr) throw Error(Cause::system, "the MPI of this process cannot carry a group: " + why);
  return library;
}

}  // namespace

MpiLibrary& loaded_mpi(std::string_view abi) {
  static std::mutex lock;
  static std::map<std::string_view, MpiLibrary*> opened;
  const std::lock_guard guard(lock);
  const Found found = find(abi);
  MpiLibrary*& library = opened[found.abi];
  if (library == nullptr) library = open(found);
  return *library;
}

}  // namespace tutti::launch
