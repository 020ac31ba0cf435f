// SPDX-License-Identifier: BSD-3-Clause
#include "real.hpp"

#include <array>
#include <cctype>
#include <string_view>

#include "base/words.hpp"

namespace tutti::mpi {

Real real;

namespace {

std::string find_all(Finder find) {
  std::string missing;
#define TUTTI_MPI_REAL(name)                                             \
  real.name = reinterpret_cast<decltype(real.name)>(find("MPI_" #name)); \
  if (real.name == nullptr && missing.empty()) missing = "MPI_" #name;
#include "real.def"
#undef TUTTI_MPI_REAL
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
