// SPDX-License-Identifier: BSD-3-Clause
#include "plan/values.hpp"

#include <algorithm>
#include <limits>

#include "base/hash.hpp"

namespace tutti::plan {

void Values::reset(std::uint32_t leaves) {
  leaves_ = leaves;
  if (!pairs_.empty() || table_.empty()) table_.assign(std::max<std::size_t>(table_.size(), 256), 0);
  pairs_.clear();
  flat_first_.clear();
  flat_.clear();
}

std::size_t Values::slot(const Pair& pair) const {
  const std::uint64_t hash =
      base::mix(static_cast<std::uint64_t>(pair.left) << 32 | pair.right) + static_cast<std::uint64_t>(pair.shift);
  std::size_t at = base::mix(hash) & (table_.size() - 1);
  while (table_[at] != 0 && !(pairs_[table_[at] - 1 - leaves_] == pair)) at = (at + 1) & (table_.size() - 1);
  return at;
}

void Values::grow() {
  table_.assign(table_.size() * 2, 0);
  for (std::size_t i = 0; i < pairs_.size(); ++i) table_[slot(pairs_[i])] = static_cast<std::uint32_t>(i) + leaves_ + 1;
}

Symbol Values::combine(Symbol left, Symbol right) {
  const std::uint32_t left_length = length(left.id), right_length = length(right.id);
  constexpr std::uint32_t longest = std::numeric_limits<std::uint32_t>::max();
  const std::uint32_t both = left_length > longest - right_length ? longest : left_length + right_length;
  const Pair pair{left.id, right.id, right.shift - left.shift, both};
  std::size_t at = slot(pair);
  if (table_[at] == 0) {
    pairs_.push_back(pair);
    if (pairs_.size() * 2 > table_.size()) {
      grow();
      at = slot(pair);
    }
    table_[at] = static_cast<std::uint32_t>(pairs_.size()) + leaves_;
  }
  return {table_[at] - 1, left.shift};
}

Symbol Values::make(const Value& value, Count offset) {
  Symbol made;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const Symbol next{static_cast<std::uint32_t>(value[i].rank), value[i].offset - offset};
    made = i == 0 ? next : combine(made, next);
  }
  return made;
}

void Values::flatten(std::uint32_t id, std::vector<Flat>& out, std::size_t most) const {
  std::vector<Symbol> open{{id, 0}};
  while (!open.empty() && out.size() < most) {
    const Symbol symbol = open.back();
    open.pop_back();
    if (symbol.id < leaves_) {
      out.push_back({static_cast<Rank>(symbol.id), symbol.shift});
      continue;
    }
    const Pair& pair = pairs_[symbol.id - leaves_];
    open.push_back({pair.right, symbol.shift + pair.shift});
    open.push_back({pair.left, symbol.shift});
  }
}

/// The contributions of an id, kept: many ranks end with the same value.
std::span<const Values::Flat> Values::flat(std::uint32_t id, bool commutative) {
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  if (flat_first_.size() < leaves_ + pairs_.size()) flat_first_.resize(leaves_ + pairs_.size(), none);
  if (flat_first_[id] == none) {
    flat_first_[id] = flat_.size();
    flatten(id, flat_, flat_.max_size());
    if (commutative) std::sort(flat_.begin() + static_cast<std::ptrdiff_t>(flat_first_[id]), flat_.end());
  }
  return std::span(flat_).subspan(flat_first_[id], length(id));
}

bool Values::equals(Symbol symbol, const Value& value, Count offset, bool commutative) {
  if (length(symbol.id) != value.size()) return false;
  expected_.clear();
  for (const Contribution& contribution : value)
    expected_.push_back({contribution.rank, contribution.offset - offset - symbol.shift});
  if (commutative && !std::ranges::is_sorted(expected_)) std::ranges::sort(expected_);
  return std::ranges::equal(flat(symbol.id, commutative), expected_);
}

std::string Values::describe(Symbol symbol, Count x) const {
  constexpr std::size_t most = 40;  // more than the text has room for; there may be any number, in few pairs
  std::vector<Flat> contributions;
  flatten(symbol.id, contributions, most);
  std::string text;
  for (const Flat& contribution : contributions) {
    if (text.size() > 200) return text + " · …";
    text += (text.empty() ? "rank " : " · rank ") + std::to_string(contribution.rank) + "'s " +
            std::to_string(contribution.offset + symbol.shift + x);
  }
  return text;
}

}  // namespace tutti::plan
