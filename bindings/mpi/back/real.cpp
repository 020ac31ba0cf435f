// SPDX-License-Identifier: BSD-3-Clause
#include "real.hpp"

#include <array>
#include <cctype>
#include <string_view>

#include "base/words.hpp"

namespace tutti::mpi {

Real real;

namespace {

template <class Function>
bool find_one(Finder find, const char* name, Function& function) {
  function = reinterpret_cast<Function>(find(name));
  return function != nullptr;
}

std::string find_all(Finder find) {
  std::string missing;
#define TUTTI_MPI_REAL(name) \
  if (!find_one(find, "MPI_" #name, real.name) && missing.empty()) missing = "MPI_" #name;
#include "real.def"
#undef TUTTI_MPI_REAL
  // What takes a datatype apart: both of MPI 4, or both of before.
  if (!find_one(find, "MPI_Type_get_contents_c", real.Type_get_contents_c) ||
      !find_one(find, "MPI_Type_get_envelope_c", real.Type_get_envelope_c))
    real.Type_get_contents_c = nullptr;
  find_one(find, "MPI_Request_get_status_all", real.Request_get_status_all);
  find_one(find, "MPI_Request_get_status_any", real.Request_get_status_any);
  find_one(find, "MPI_Request_get_status_some", real.Request_get_status_some);
  return missing;
}

}  // namespace

const std::string& find_real(Finder find) {
  static const std::string missing = find_all(find);
  return missing;
}

/// Libraries say it at length: "Open MPI v4.1.4, package: ...", "MPICH Version:      4.0.2" and more lines.
std::string library_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  if (real.Get_library_version(text.data(), &length) != MPI_SUCCESS) return "an unknown MPI";
  std::string_view said = text.data();
  said = said.substr(0, said.find_first_of(",\n"));
  std::string name;
  while (!said.empty()) {
    std::string_view word = said.substr(0, said.find_first_of(" \t"));
    said.remove_prefix(std::min(word.size() + 1, said.size()));
    if (word.size() > 1 && word[0] == 'v' && std::isdigit(static_cast<unsigned char>(word[1])) != 0)
      word.remove_prefix(1);
    if (!word.empty() && word != "Version:") base::add_word(name, word, " ");
  }
  return name;
}

}  // namespace tutti::mpi
