// SPDX-License-Identifier: BSD-3-Clause
// A set that forgets its oldest members when it has too many.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <unordered_set>
#include <utility>

namespace tutti::transport {

/// Of keys each of which is inserted once.
template <class Key, class Hash = std::hash<Key>>
class Recent {
 public:
  explicit Recent(std::size_t most) : most_(most) {}

  void insert(const Key& key) {
    if (!keys_.insert(key).second) return;
    order_.push_back(key);
    if (order_.size() <= most_) return;
    keys_.erase(order_.front());
    order_.pop_front();
  }
  /// True when it was there.
  bool erase(const Key& key) { return !keys_.empty() && keys_.erase(key) > 0; }
  template <class Predicate>
  void erase_if(Predicate predicate) {
    std::erase_if(keys_, std::move(predicate));
  }
  bool contains(const Key& key) const { return !keys_.empty() && keys_.contains(key); }

 private:
  std::size_t most_;
  std::unordered_set<Key, Hash> keys_;
  std::deque<Key> order_;  // with some that were erased since
};

}  // namespace tutti::transport
