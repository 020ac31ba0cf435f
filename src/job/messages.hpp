// SPDX-License-Identifier: BSD-3-Clause
// Plans of single messages, made ready: a program sends and receives the same again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/bound.hpp"
#include "plan/plan.hpp"

namespace tutti::job {

/// What sender and receiver say of a message.
struct Message {
  plan::Verb verb = plan::Verb::send;
  Rank peer = 0;
  Count count = 0;
  Type type = Type::opaque;
  std::uint32_t element = 1;
  std::uint32_t agreed = 0;  ///< What else both must have in common.
  bool operator==(const Message&) const = default;

  engine::Description description() const;
  /// Of rank `rank` of `size`; the message is in the output.
  plan::Plan plan(Rank rank, Rank size) const;
};

/// Of one rank of a group. For one thread at a time.
class Messages {
 public:
  Messages(Rank rank, Rank size) : rank_(rank), size_(size) {}
  /// Of a message whose elements lie side by side. What it returns stays until the next call.
  const std::shared_ptr<const engine::Bound>& prepare(const Message& message);

 private:
  struct Entry {
    Message message;
    std::shared_ptr<const engine::Bound> bound;
  };
  static constexpr std::size_t slots = 64;
  Rank rank_, size_;
  std::vector<Entry> entries_;  // by slot; none before the first message
};

}  // namespace tutti::job
