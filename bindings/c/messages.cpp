// SPDX-License-Identifier: BSD-3-Clause
#include "c/guard.hpp"

using namespace tutti;
using namespace tutti::c;

namespace {

Request start_send(const void* caller, tutti_group group, const void* data, Count count, tutti_type type, Rank to,
                   std::uint32_t tag) {
  const ElementType element = element_of(type);
  expect_buffer("send", "data", data, count > 0);
  return handle_of(group).group.start_send(data, count, element.type, element.bytes, to, tag, caller, element.in);
}

Request start_recv(const void* caller, tutti_group group, void* data, Count count, tutti_type type, Rank from,
                   std::uint32_t tag) {
  const ElementType element = element_of(type);
  expect_buffer("recv", "data", data, count > 0);
  return handle_of(group).group.start_recv(data, count, element.type, element.bytes, from, tag, caller, element.out);
}

template <class Start>
tutti_status give(tutti_request* request, Start start) {
  return guarded([&] {
    void* const place = place_of(request);
    new (place) Request(start());
  });
}

}  // namespace

tutti_status tutti_send(tutti_group group, const void* data, int64_t count, tutti_type type, int32_t to, uint32_t tag) {
  const void* const caller = __builtin_return_address(0);
  return guarded([&] { handle_of(group).group.finish(start_send(caller, group, data, count, type, to, tag)); });
}
tutti_status tutti_isend(tutti_group group, const void* data, int64_t count, tutti_type type, int32_t to, uint32_t tag,
                         tutti_request* request) {
  const void* const caller = __builtin_return_address(0);
  return give(request, [&] { return start_send(caller, group, data, count, type, to, tag); });
}

tutti_status tutti_recv(tutti_group group, void* data, int64_t count, tutti_type type, int32_t from, uint32_t tag) {
  const void* const caller = __builtin_return_address(0);
  return guarded([&] { handle_of(group).group.finish(start_recv(caller, group, data, count, type, from, tag)); });
}
tutti_status tutti_irecv(tutti_group group, void* data, int64_t count, tutti_type type, int32_t from, uint32_t tag,
                         tutti_request* request) {
  const void* const caller = __builtin_return_address(0);
  return give(request, [&] { return start_recv(caller, group, data, count, type, from, tag); });
}
