// SPDX-License-Identifier: BSD-3-Clause
#include "launch/store.hpp"

#include <algorithm>

namespace tutti::launch {

namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20, most_questions = 64;
constexpr std::size_t bookkeeping = 128;  // per value, so that many empty ones also fill the store

}  // namespace

std::string Store::put(const std::string& key, std::vector<std::byte> value) {
  if (values_.contains(key)) return "the key \"" + key + "\" is already in the store; a key can be put once in a job";
  const std::size_t cost = key.size() + value.size() + bookkeeping;
  if (bytes_ + cost > most_bytes)
    return "the store is full (64 MiB); it is for finding each other, send data with collectives";
  bytes_ += cost;
  values_.emplace(key, std::move(value));
  return {};
}

const std::vector<std::byte>* Store::find(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

bool Store::wait(const std::string& key, Question question) {
  const auto open =
      std::ranges::count_if(questions_, [&](const auto& entry) { return entry.second.asker == question.asker; });
  if (static_cast<std::size_t>(open) >= most_questions) return false;
  questions_.emplace(key, question);
  return true;
}

std::vector<Store::Question> Store::take(const std::string& key) {
  std::vector<Question> taken;
  const auto [first, last] = questions_.equal_range(key);
  for (auto entry = first; entry != last; ++entry) taken.push_back(entry->second);
  questions_.erase(first, last);
  return taken;
}

std::vector<std::pair<std::string, Store::Question>> Store::take_all() {
  std::vector<std::pair<std::string, Question>> taken(questions_.begin(), questions_.end());
  questions_.clear();
  return taken;
}

void Store::forget(std::uint64_t asker) {
  std::erase_if(questions_, [asker](const auto& entry) { return entry.second.asker == asker; });
}

}  // namespace tutti::launch
