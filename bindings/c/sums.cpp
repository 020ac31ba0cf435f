// SPDX-License-Identifier: BSD-3-Clause
// Sums of whole arrays, rounded once.
#include "c/calls.hpp"

using namespace tutti;
using namespace tutti::c;

namespace {

Call sum_call(tutti_group group, const void* in, Count count, tutti_type type, void* total) {
  expect_buffer("sum", "total", total, true);
  expect_buffer("sum", "in", in, count > 0);
  if (count < 0) refuse("sum: the count " + std::to_string(count) + " is negative");
  Call call = typed(group, Kind::allreduce, type);
  call.input = in;
  call.output = total;
  call.count = 1;
  call.own = count;
  call.reduction.op = Op::sum;
  call.exact = Exactness::folded;
  return call;
}

}  // namespace

tutti_status tutti_sum(tutti_group group, const void* in, int64_t count, tutti_type type, void* total) {
  const void* site = __builtin_return_address(0);
  return guarded([&] {
    Call call = sum_call(group, in, count, type, total);
    call.site = site;
    group->group.run(call);
  });
}

tutti_status tutti_isum(tutti_group group, const void* in, int64_t count, tutti_type type, void* total,
                        tutti_request* request) {
  const void* site = __builtin_return_address(0);
  return guarded([&] {
    void* const place = place_of(request);
    Call call = sum_call(group, in, count, type, total);
    call.site = site;
    new (place) Request(group->group.start(call));
  });
}
