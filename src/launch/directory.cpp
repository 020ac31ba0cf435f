// SPDX-License-Identifier: BSD-3-Clause
#include "launch/directory.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "base/utf8.hpp"
#include "launch/message.hpp"

namespace tutti::launch {

std::vector<Rank> Directory::ranks_on(Rank host) const {
  std::vector<Rank> found;
  for (Rank rank = 0; std::cmp_less(rank, hosts.size()); ++rank)
    if (hosts[static_cast<std::size_t>(rank)] == host) found.push_back(rank);
  return found;
}

std::string network_name() {
  std::array<char, longest_host> name{};
  gethostname(name.data(), name.size() - 1);
  const char* const given = std::getenv("TUTTI_HOST");
  return printable_name(given != nullptr && *given != '\0' ? given : name.data());
}

std::string printable_name(std::string_view text) {
  std::string name(text.substr(0, longest_host));
  std::ranges::replace_if(
      name, [](char letter) { return letter <= ' ' || letter >= 0x7f; }, '?');
  return name.empty() ? "?" : name;
}

std::string text_of(const Directory& directory) {
  std::string text = to_hex(directory.secret) + " " + std::to_string(directory.host) + " " + directory.name +
                     (directory.by_places ? " by places" : "") + "\n";
  for (std::size_t rank = 0; rank < directory.hosts.size(); ++rank)
    text += std::to_string(directory.hosts[rank]) + " " + directory.windows[rank] + "\n";
  return text;
}

std::optional<Directory> read_directory(std::string_view text) {
  std::istringstream lines{std::string(text)};
  Directory directory;
  std::string secret, line;
  if (!(lines >> secret >> directory.host >> directory.name) || !std::getline(lines, line)) return std::nullopt;
  const std::optional<Secret> known = from_hex(secret);
  if (!known) return std::nullopt;
  directory.secret = *known;
  directory.name = printable_name(directory.name);
  directory.by_places = line == " by places";
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    Rank host = -1;
    if (!(words >> host) || host < 0 || host >= most_ranks || directory.hosts.size() == most_ranks) return std::nullopt;
    std::string windows;
    std::getline(words >> std::ws, windows);
    directory.hosts.push_back(host);
    directory.windows.push_back(base::printable(windows));
  }
  if (std::ranges::find(directory.hosts, directory.host) == directory.hosts.end()) return std::nullopt;
  return directory;
}

void publish(host::Segment& segment, const Directory& directory) {
  const std::string text = text_of(directory);
  const host::Offset place = segment.allocate(text.size());
  std::memcpy(segment.at(place, text.size()), text.data(), text.size());
  segment.header().directory_bytes.store(text.size(), std::memory_order_relaxed);
  // Release: whoever reads the place from outside finds the text complete.
  segment.header().directory.store(place, std::memory_order_release);
}

}  // namespace tutti::launch
