// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/lines.hpp"

namespace tutti::launcher {

namespace {

/// One past the last end of a line at or after `from`; 0 when there is none. A \r at the very end may be the first half
/// of \r\n.
std::size_t complete(std::string_view text, std::size_t from) {
  for (std::size_t end = text.size(); end > from; --end)
    if (text[end - 1] == '\n' || (text[end - 1] == '\r' && end < text.size())) return end;
  return 0;
}

/// The length of the first line with its end.
std::size_t first_line(std::string_view text) {
  const std::size_t end = text.find_first_of("\r\n");
  if (end == std::string_view::npos) return text.size();
  return end + (text.substr(end).starts_with("\r\n") ? 2 : 1);
}

}  // namespace

void Lines::append(std::string_view lines, std::string& out) const {
  if (label_.empty()) {
    out += lines;
    return;
  }
  while (!lines.empty()) {
    const std::size_t length = first_line(lines);
    out += label_;
    out += lines.substr(0, length);
    if (out.back() != '\n' && out.back() != '\r') out += '\n';
    lines.remove_prefix(length);
  }
}

void Lines::feed(std::string_view bytes, std::string& out) {
  // What was there holds no end of a line, but for a \r that stood last.
  const std::size_t from = rest_.empty() ? 0 : rest_.size() - 1;
  rest_ += bytes;
  std::size_t end = complete(rest_, from);
  if (end == 0 && rest_.size() >= longest) end = rest_.size();
  append(std::string_view(rest_).substr(0, end), out);
  rest_.erase(0, end);
}

void Lines::flush(std::string& out) {
  append(rest_, out);
  rest_.clear();
}

}  // namespace tutti::launcher
