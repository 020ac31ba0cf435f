// SPDX-License-Identifier: BSD-3-Clause
#include "tutti/exchange.hpp"

#include <memory>
#include <vector>

#include "c/guard.hpp"

using namespace tutti;
using namespace tutti::c;

/// What a tutti_exchange points to.
struct tutti_exchange_handle {
  RawExchange raw;
  std::uint32_t element;
  std::vector<RawExchange::Delivery> came;
  std::vector<tutti_parcel> deliveries;
};

namespace {

std::unique_ptr<tutti_exchange_handle> started(const void* caller, tutti_group group, const tutti_parcel* parcels,
                                               size_t n, tutti_type type, const tutti_exchange* exchange) {
  if (exchange == nullptr) refuse("nowhere to put the exchange; pass the address of a tutti_exchange");
  if (n > 0 && parcels == nullptr) refuse("sparse_exchange: the parcels are NULL");
  const ElementType element = plain_element_of(type, "sparse_exchange: the elements of a parcel lie side by side");
  std::vector<RawExchange::Parcel> raw;
  for (size_t i = 0; i < n; ++i) {
    expect_buffer("sparse_exchange", "data", parcels[i].data, false);
    raw.push_back({parcels[i].rank, parcels[i].data, parcels[i].count});
  }
  return std::make_unique<tutti_exchange_handle>(tutti_exchange_handle{
      RawExchange(handle_of(group).group, raw, element.type, element.bytes, caller), element.bytes, {}, {}});
}

}  // namespace

tutti_status tutti_sparse_exchange(tutti_group group, const tutti_parcel* parcels, size_t n, tutti_type type,
                                   tutti_exchange* exchange) {
  const void* const caller = __builtin_return_address(0);
  return guarded([&] {
    auto made = started(caller, group, parcels, n, type, exchange);
    const std::optional<Duration> limit = handle_of(group).group.time_limit();
    limit ? made->raw.request().wait(*limit) : made->raw.request().wait();
    *exchange = made.release();
  });
}

tutti_status tutti_isparse_exchange(tutti_group group, const tutti_parcel* parcels, size_t n, tutti_type type,
                                    tutti_exchange* exchange) {
  const void* const caller = __builtin_return_address(0);
  return guarded([&] { *exchange = started(caller, group, parcels, n, type, exchange).release(); });
}

tutti_request* tutti_exchange_request(tutti_exchange exchange) {
  return exchange == nullptr ? nullptr : reinterpret_cast<tutti_request*>(&exchange->raw.request());
}

tutti_status tutti_deliveries(tutti_exchange exchange, const tutti_parcel** deliveries, size_t* n) {
  return guarded([&] {
    if (exchange == nullptr || deliveries == nullptr || n == nullptr)
      refuse("tutti_deliveries: an argument is NULL; pass an exchange and two addresses");
    if (exchange->raw.request()) refuse("tutti_deliveries: the exchange is still under way; wait for its request");
    for (RawExchange::Delivery& one : exchange->raw.take()) {
      exchange->came.push_back(std::move(one));
      const RawExchange::Delivery& kept = exchange->came.back();
      exchange->deliveries.push_back(
          {kept.from, static_cast<int64_t>(kept.bytes.size() / exchange->element), kept.bytes.data()});
    }
    *deliveries = exchange->deliveries.data();
    *n = exchange->deliveries.size();
  });
}

tutti_status tutti_exchange_free(tutti_exchange* exchange) {
  return guarded([&] {
    if (exchange == nullptr) refuse("tutti_exchange_free: pass the address of a tutti_exchange");
    const std::unique_ptr<tutti_exchange_handle> gone(std::exchange(*exchange, nullptr));
  });
}
