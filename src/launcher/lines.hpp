// SPDX-License-Identifier: BSD-3-Clause
// Turns what a rank writes into whole lines, so that the lines of several ranks do not tear each other.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti::launcher {

class Lines {
 public:
  /// A line longer than this is passed on in pieces.
  static constexpr std::size_t longest = std::size_t{1} << 20;

  /// An empty label passes every byte through unchanged; any other stands before each line, and each line is ended.
  explicit Lines(std::string label = {}) : label_(std::move(label)) {}

  /// Takes bytes; appends all lines that are now complete to `out`. A line ends with \n, or with \r (a progress bar).
  void feed(std::string_view bytes, std::string& out);
  /// Appends what is left of the last line.
  void flush(std::string& out);
  bool empty() const { return rest_.empty(); }

 private:
  void append(std::string_view lines, std::string& out) const;

  std::string label_;
  std::string rest_;
};

}  // namespace tutti::launcher
