// SPDX-License-Identifier: BSD-3-Clause
#include "tutti/exchange.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "job/runtime.hpp"

namespace tutti {

using engine::Mailbox;

RawExchange::RawExchange(const Group& group, std::span<const Parcel> parcels, Type type, std::uint32_t element,
                         const void* site) {
  const Rank size = group.size();  // throws for an empty group
  std::vector<Mailbox::Outgoing> outgoing;
  for (const Parcel& parcel : parcels) {
    if (parcel.to < 0 || parcel.to >= size || parcel.count < 0 ||
        parcel.count > std::numeric_limits<Count>::max() / std::max<Count>(element, 1))
      throw Error(Cause::usage, "sparse_exchange on group " + group.name() + ": a parcel of " +
                                    std::to_string(parcel.count) + " elements for rank " + std::to_string(parcel.to) +
                                    "; name ranks from 0 to " + std::to_string(size - 1));
    if (parcel.count > 0 && parcel.data == nullptr)
      throw Error(Cause::usage, "sparse_exchange: the data for rank " + std::to_string(parcel.to) + " are NULL");
    outgoing.push_back(
        {parcel.to, static_cast<const std::byte*>(parcel.data), static_cast<std::size_t>(parcel.count) * element});
  }
  mailbox_ = std::make_shared<Mailbox>(std::move(outgoing), group.rank());
  request_ = group.member()->start_exchange(mailbox_, type, element, site);
}

std::vector<RawExchange::Delivery> RawExchange::take() {
  std::vector<Delivery> all;
  if (!mailbox_ || request_) return all;
  for (Mailbox::Incoming& one : mailbox_->take()) all.push_back({one.rank, std::move(one.bytes)});
  return all;
}

}  // namespace tutti

namespace tutti::job {

Request Member::start_exchange(const std::shared_ptr<engine::Mailbox>& mailbox, Type type, std::uint32_t element,
                               const void* site) {
  engine::Channel::Turn turn(*channel_);
  const std::shared_ptr<const engine::Bound>& barrier = planner_.prepare(Call{});
  engine::Description says = barrier->description;
  says.kind = Kind::sparse_exchange;
  says.type = type;
  says.element = element;
  const auto bound = std::make_shared<const engine::Bound>(barrier->plan, says, planner_.near());
  return Request(
      channel_->start(turn, {.buffers = {}, .bound = bound, .reduction = {}, .site = site, .mailbox = &mailbox}));
}

}  // namespace tutti::job
