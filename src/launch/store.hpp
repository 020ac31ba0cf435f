// SPDX-License-Identifier: BSD-3-Clause
// The values that ranks give each other, and who waits for one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::launch {

class Store {
 public:
  /// Somebody who waits for a key.
  struct Question {
    std::uint64_t asker = 0;  ///< The connection.
    std::uint32_t number = 0;
  };

  /// An empty text, or why the value cannot be taken: the key is taken, or the store is full.
  std::string put(const std::string& key, std::vector<std::byte> value);
  /// nullptr when nobody has put it.
  const std::vector<std::byte>* find(const std::string& key) const;

  /// Remembers a question. False when this asker has too many open ones.
  bool wait(const std::string& key, Question question);
  /// Takes all questions for a key.
  std::vector<Question> take(const std::string& key);
  void forget(std::uint64_t asker);
  /// Takes all questions, with their keys.
  std::vector<std::pair<std::string, Question>> take_all();

 private:
  std::map<std::string, std::vector<std::byte>> values_;
  std::multimap<std::string, Question> questions_;
  std::size_t bytes_ = 0;
};

}  // namespace tutti::launch
