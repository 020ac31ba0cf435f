// SPDX-License-Identifier: BSD-3-Clause
#include "policy.hpp"

#include <algorithm>

#include "tutti/error.hpp"

namespace tutti::mpi {
namespace {

[[noreturn]] void refuse(std::string_view word) {
  throw Error(Cause::usage,
              "TUTTI_MPI: \"" + std::string(word) +
                  "\" means nothing; write auto, always or never, and exceptions as in always,bcast:never");
}

Choice choice(std::string_view word, std::string_view all) {
  if (word == "auto") return Choice::automatic;
  if (word == "always") return Choice::always;
  if (word == "never") return Choice::never;
  refuse(all);
}

}  // namespace

Policy::Policy(std::string_view words) {
  choices_.fill(Choice::automatic);
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(','));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos) {
      choices_.fill(choice(word, word));
      continue;
    }
    const auto kind = kind_named(word.substr(0, colon));
    if (!kind) refuse(word);
    choices_[static_cast<std::size_t>(*kind)] = choice(word.substr(colon + 1), word);
  }
}

bool Policy::wants_any() const {
  return std::ranges::any_of(choices_, [](Choice one) { return one != Choice::never; });
}

}  // namespace tutti::mpi
