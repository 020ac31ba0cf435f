// SPDX-License-Identifier: BSD-3-Clause
#include "job/messages.hpp"

#include "base/hash.hpp"
#include "plan/builder.hpp"

namespace tutti::job {

engine::Description Message::description() const {
  engine::Description says;
  says.type = type;
  says.element = element;
  says.agreed_hash = agreed;
  return says;
}

plan::Plan Message::plan(Rank rank, Rank size) const {
  plan::Builder builder(rank, size);
  const plan::Slice whole = plan::Builder::output(0, count);
  if (verb == plan::Verb::send)
    builder.send(peer, whole);
  else
    builder.recv(peer, whole);
  return builder.build();
}

const std::shared_ptr<const engine::Bound>& Messages::prepare(const Message& message) {
  if (entries_.empty()) entries_.resize(slots);
  const std::uint64_t hash = base::combine(
      static_cast<std::uint64_t>(message.peer) << 1 | static_cast<std::uint64_t>(message.verb == plan::Verb::send),
      static_cast<std::uint64_t>(message.count));
  Entry& entry = entries_[hash % slots];
  if (entry.bound == nullptr || entry.message != message)
    entry = {message, std::make_shared<const engine::Bound>(message.plan(rank_, size_), message.description())};
  return entry.bound;
}

}  // namespace tutti::job
