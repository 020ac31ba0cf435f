// SPDX-License-Identifier: BSD-3-Clause
// Writes JSON, as much of it as a report needs.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "base/words.hpp"

namespace tutti::base::json {

/// What is no UTF-8 is replaced.
std::string quote(std::string_view text);
inline std::string value(std::string_view text) { return quote(text); }
std::string value(std::integral auto number) { return std::to_string(number); }
inline std::string value(bool truth) { return truth ? "true" : "false"; }

/// [a, b], each made by `make`.
template <class Range, class Make>
std::string array(const Range& range, Make make) {
  std::string text = "[";
  for (const auto& one : range) text.append(text.size() > 1 ? ", " : "").append(make(one));
  return text + "]";
}

class Object {
 public:
  /// A value that is JSON already.
  Object& raw(std::string_view name, const std::string& text) {
    add_word(text_, quote(name));
    text_.append(": ").append(text);
    return *this;
  }
  template <class T>
  Object& add(std::string_view name, const T& what) {
    return raw(name, value(what));
  }
  /// null for a number or a text that is not there.
  template <class T>
  Object& maybe(std::string_view name, bool there, const T& what) {
    return raw(name, there ? value(what) : "null");
  }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

}  // namespace tutti::base::json
