// SPDX-License-Identifier: BSD-3-Clause
// Messages to ranks that do not expect them: each rank knows to whom it sends, and none from whom it receives.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tutti/group.hpp"

namespace tutti {

namespace engine {
class Mailbox;
}

/// Elements for one rank.
template <Element T>
struct Parcel {
  Rank to;
  std::span<const T> data;
};

/// Elements from one rank.
template <Element T>
struct Delivery {
  Rank from;
  std::vector<T> data;
  bool operator==(const Delivery&) const = default;
};

/// A started sparse_exchange without its type, for the language bindings. Move-only.
class TUTTI_API RawExchange {
 public:
  struct Parcel {
    Rank to;
    const void* data;
    Count count;
  };
  struct Delivery {
    Rank from;
    std::vector<std::byte> bytes;
  };

  RawExchange() = default;
  /// Collective. Throws Error (usage) for a rank that is not in the group.
  RawExchange(const Group& group, std::span<const Parcel> parcels, Type type, std::uint32_t element, const void* site);

  Request& request() noexcept { return request_; }
  /// What came, once the request is complete, in the order of the ranks; empty when it is asked again. Throws what it
  /// failed with, each time.
  std::vector<Delivery> take();

 private:
  std::shared_ptr<engine::Mailbox> mailbox_;  // outlives the request: declared before it
  Request request_;
};

/// A started sparse_exchange: a request with a result.
template <Element T>
class Exchange {
 public:
  Exchange() = default;
  explicit Exchange(RawExchange raw) : raw_(std::move(raw)) {}

  /// For wait_all and wait_any, which do not take the result away.
  Request& request() noexcept { return raw_.request(); }
  bool test() { return request().test(); }
  /// Waits, and hands over what came, in the order of the ranks. Throws as Request::wait does, and what the exchange
  /// has failed with also when it is asked again.
  std::vector<Delivery<T>> wait() {
    request().wait();
    return take();
  }
  std::vector<Delivery<T>> wait(Duration timeout) {
    request().wait(timeout);
    return take();
  }

 private:
  std::vector<Delivery<T>> take() {
    std::vector<Delivery<T>> all;
    for (const RawExchange::Delivery& one : raw_.take()) {
      std::vector<T> data(one.bytes.size() / sizeof(T));
      if (!data.empty()) std::memcpy(data.data(), one.bytes.data(), data.size() * sizeof(T));
      all.push_back({one.from, std::move(data)});
    }
    return all;
  }

  RawExchange raw_;
};

/// Starts a sparse_exchange; the parcels' data stay where they are until it is complete.
template <Element T>
Exchange<T> isparse_exchange(const Group& group, std::span<const Parcel<T>> parcels,
                             const void* site = detail::here()) {
  std::vector<RawExchange::Parcel> raw;
  for (const Parcel<T>& one : parcels) raw.push_back({one.to, one.data.data(), static_cast<Count>(one.data.size())});
  return Exchange<T>(RawExchange(group, raw, type_of<T>, sizeof(T), site));
}
template <Element T>
Exchange<T> isparse_exchange(const Group& group, const std::vector<Parcel<T>>& parcels,
                             const void* site = detail::here()) {
  return isparse_exchange(group, std::span(parcels), site);
}

/// Hands every parcel to its rank and returns those that came for this one, in the order of the ranks; several of one
/// rank stay in the order in which it gave them. Collective; agreed: the type. Any number of parcels of any length,
/// to this rank itself too. The cost grows with the parcels of one rank and with log P, not with P.
///
///     std::vector<tutti::Parcel<double>> parcels = {{3, forces}, {5, more}};
///     for (const auto& delivery : tutti::sparse_exchange(group, parcels)) add(delivery.from, delivery.data);
template <Element T>
std::vector<Delivery<T>> sparse_exchange(const Group& group, std::span<const Parcel<T>> parcels,
                                         const void* site = detail::here()) {
  Exchange<T> exchange = isparse_exchange(group, parcels, site);
  const std::optional<Duration> limit = group.time_limit();
  return limit ? exchange.wait(*limit) : exchange.wait();
}
template <Element T>
std::vector<Delivery<T>> sparse_exchange(const Group& group, const std::vector<Parcel<T>>& parcels,
                                         const void* site = detail::here()) {
  return sparse_exchange(group, std::span(parcels), site);
}

}  // namespace tutti
