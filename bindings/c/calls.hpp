// SPDX-License-Identifier: BSD-3-Clause
// One maker of calls, three doors: the blocking, the request and the persistent form of every collective.
#pragma once

#include <new>
#include <type_traits>

#include "c/guard.hpp"

// Where a function was called from, for reports of mismatches. Only right in the function itself.
#define TUTTI_CALLER __builtin_return_address(0)

namespace tutti::c {

inline Call made_by(tutti_group group, Kind kind) {
  Call call;
  call.kind = kind;
  call.algorithm = handle_of(group).algorithms[static_cast<std::size_t>(kind)];
  return call;
}

inline Call typed(tutti_group group, Kind kind, tutti_type type) {
  Call call = made_by(group, kind);
  const ElementType element = element_of(type);
  call.type = element.type;
  call.element = element.bytes;
  call.input_layout = element.in;
  call.output_layout = element.out;
  return call;
}

/// Throws Error (usage) when a buffer that the call needs is NULL, or TUTTI_IN_PLACE where that stands for none.
void check_buffers(const Call& call, tutti_group group);
/// The same along the edges of a graph.
void check_neighbor_buffers(const Call& call, tutti_group group);

/// Whether this argument should be a buffer, and is NULL. Where none is, no call has to be asked which of them it
/// needs.
template <class Argument>
bool is_null_buffer(const Argument& argument) {
  if constexpr (std::is_same_v<Argument, void*> || std::is_same_v<Argument, const void*>)
    return argument == nullptr;
  else
    return false;
}

/// `make` takes references, since a Call points at the caller's counts.
template <class Make, class... Arguments>
Call checked(const void* caller, tutti_group group, Make make, const Arguments&... arguments) {
  Call call = make(group, arguments...);
  call.site = caller;
  // A TUTTI_IN_PLACE that its maker understood is in no call any more.
  const bool misplaced = call.input == TUTTI_IN_PLACE || call.output == TUTTI_IN_PLACE;
  if (misplaced || (is_null_buffer(arguments) || ...)) check_buffers(call, group);
  return call;
}

/// The blocking form.
template <class Make, class... Arguments>
tutti_status run(const void* caller, tutti_group group, Make make, const Arguments&... arguments) {
  return guarded([&] {
    const Call call = checked(caller, group, make, arguments...);  // before the group is touched: it may be NULL
    group->group.run(call);
  });
}

/// The i-form.
template <class Make, class... Arguments>
tutti_status start(const void* caller, tutti_group group, tutti_request* request, Make make,
                   const Arguments&... arguments) {
  return guarded([&] {
    void* const place = place_of(request);
    const Call call = checked(caller, group, make, arguments...);
    new (place) Request(group->group.start(call));
  });
}

/// The persistent form.
template <class Make, class... Arguments>
tutti_status init(const void* caller, tutti_group group, tutti_persistent* persistent, Make make,
                  const Arguments&... arguments) {
  return guarded([&] {
    void* const place = place_of(persistent);
    const Call call = checked(caller, group, make, arguments...);
    new (place) Persistent(group->group.init(call));
  });
}

}  // namespace tutti::c
