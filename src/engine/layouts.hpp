// SPDX-License-Identifier: BSD-3-Clause
// Where the elements of an operation's own buffers lie.
#pragma once

#include <optional>

#include "plan/plan.hpp"
#include "tutti/call.hpp"
#include "tutti/layout.hpp"

namespace tutti::engine {

/// Of input and output; nothing: side by side.
struct Layouts {
  std::optional<Layout> input, output;

  explicit operator bool() const { return input || output; }
  bool operator==(const Layouts&) const = default;
  /// nullptr for what lies side by side.
  const Layout* of(plan::Buffer buffer) const {
    if (buffer == plan::Buffer::input && input) return &*input;
    return buffer == plan::Buffer::output && output ? &*output : nullptr;
  }
  bool reach(plan::Buffer source, plan::Buffer target) const { return of(source) != nullptr || of(target) != nullptr; }
};

inline Layouts layouts_of(const Call& call) {
  Layouts layouts;
  if (call.input_layout != nullptr) layouts.input = *call.input_layout;
  if (call.output_layout != nullptr) layouts.output = *call.output_layout;
  return layouts;
}

}  // namespace tutti::engine
