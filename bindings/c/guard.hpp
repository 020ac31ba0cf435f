// SPDX-License-Identifier: BSD-3-Clause
// What every C function stands on: its handle, and the border that no exception crosses.
#pragma once

#include <array>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/reduction.hpp"
#include "tutti/group.hpp"
#include "tutti/tutti.h"

/// What a tutti_group points to.
struct tutti_group_handle {
  explicit tutti_group_handle(tutti::Group made)
      : group(std::move(made)), name(group.name()), rank(group.rank()), size(group.size()) {}

  tutti::Group group;
  std::string name;
  tutti::Rank rank, size;                            ///< The group's: every call asks for them.
  std::array<std::string, tutti::kinds> algorithms;  ///< tutti_choose, by Kind.
};

namespace tutti::c {

/// Keeps the error for tutti_last_error() and returns its status.
tutti_status remember(Cause cause, const char* text, Rank peer = -1) noexcept;

[[noreturn]] inline void refuse(const std::string& text) { throw Error(Cause::usage, text); }

/// Throws Error (usage) when what a call got as `which` is no buffer: TUTTI_IN_PLACE, or NULL where one is needed.
inline void expect_buffer(std::string_view call, const char* which, const void* given, bool needed) {
  if (given == TUTTI_IN_PLACE)
    refuse(std::string(call) + ": TUTTI_IN_PLACE cannot stand for " + which + " here; pass a buffer");
  if (needed && given == nullptr) refuse(std::string(call) + ": " + which + " is NULL; pass a buffer");
}

/// Runs `work` and turns what it throws into a status.
template <class Work>
tutti_status guarded(Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
    return TUTTI_OK;
  } catch (const Error& error) {
    return remember(error.cause(), error.what(), error.peer());
  } catch (const std::bad_alloc&) {
    return remember(Cause::system, "no memory for this call; free some and call again");
  } catch (const std::exception& error) {
    return remember(Cause::system, error.what());
  }
}

/// The collective that was asked for by name. Throws Error (usage) when there is none.
inline Kind kind_of(const char* function, const char* collective) {
  const auto kind = kind_named(collective == nullptr ? "" : collective);
  if (!kind)
    refuse(std::string(function) + ": there is no collective \"" + (collective == nullptr ? "" : collective) +
           "\"; pass a name such as \"allreduce\"");
  return *kind;
}

/// The handle behind a tutti_group. Throws Error (usage) for NULL.
inline tutti_group_handle& handle_of(tutti_group group) {
  if (group == nullptr)
    refuse("the group is NULL; pass one from tutti_world, tutti_split, tutti_dup or tutti_subgroup");
  return *group;
}

/// Makes a handle of the group that `make` makes; NULL of an empty one.
template <class Make>
tutti_status give(tutti_group* out, Make make) {
  return guarded([&] {
    if (out == nullptr) refuse("nowhere to put the group; pass the address of a tutti_group");
    Group made = make();
    if (!made) {
      *out = nullptr;
      return;
    }
    *out = std::make_unique<tutti_group_handle>(std::move(made)).release();
  });
}

/// Where to make a request. Throws Error (usage) when the caller has passed no place for it.
inline void* place_of(tutti_request* request) {
  if (request == nullptr) refuse("nowhere to put the request; pass the address of a tutti_request");
  return request;
}

/// The same for a persistent collective.
inline void* place_of(tutti_persistent* persistent) {
  if (persistent == nullptr) refuse("nowhere to put the collective; pass the address of a tutti_persistent");
  return persistent;
}

/// The C++ request that lies in a C one: the same pointer.
inline Request& request_of(tutti_request* request) {
  static_assert(sizeof(Request) == sizeof(tutti_request) && alignof(Request) == alignof(tutti_request));
  if (request == nullptr) refuse("the request is NULL; pass the address of a tutti_request");
  return *reinterpret_cast<Request*>(request);
}

/// The same for a persistent collective.
inline Persistent& persistent_of(tutti_persistent* persistent) {
  static_assert(sizeof(Persistent) == sizeof(tutti_persistent) && alignof(Persistent) == alignof(tutti_persistent));
  if (persistent == nullptr) refuse("the collective is NULL; pass the address of a tutti_persistent");
  return *reinterpret_cast<Persistent*>(persistent);
}

/// A type as the engine sees it. Throws Error (usage) for what is not a type.
struct ElementType {
  Type type;
  std::uint32_t bytes;
  const Layout* in = nullptr;  ///< Of a type from tutti_laid_out: where what is sent lies, and what is received.
  const Layout* out = nullptr;
};
/// Of a type that has no name in tutti.h, if it is one.
ElementType other_element_of(tutti_type type);
inline ElementType element_of(tutti_type type) {
  const bool named = type > static_cast<tutti_type>(Type::opaque) && type < engine::type_count;
  if (!named) return other_element_of(type);
  const auto number = static_cast<Type>(type);
  return {number, static_cast<std::uint32_t>(engine::size_of(number))};
}

/// The same of a type whose elements have to lie side by side, because of what `why` says.
inline ElementType plain_element_of(tutti_type type, const char* why) {
  const ElementType element = element_of(type);
  if (element.in != nullptr || element.out != nullptr) refuse(std::string(why) + "; pass a plain type");
  return element;
}

/// A reduction as the engine sees it. Throws Error (usage) for what is not an operation.
Reduction reduction_of(const tutti_op& op);

}  // namespace tutti::c
