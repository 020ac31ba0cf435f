// SPDX-License-Identifier: BSD-3-Clause
#include "job/lines.hpp"

#include <sstream>

namespace tutti::job {

std::vector<std::string> in_values(std::span<const std::string> lines, std::size_t longest) {
  std::vector<std::string> values;
  for (const std::string& line : lines)
    if (values.empty() || values.back().size() + 1 + line.size() > longest)
      values.push_back(line);
    else
      values.back() += "\n" + line;
  return values;
}

void add_lines(std::vector<std::string>& lines, const std::string& value) {
  std::istringstream text(value);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
}

}  // namespace tutti::job
