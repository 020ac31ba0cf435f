// SPDX-License-Identifier: BSD-3-Clause
// What the shared memory of a job over several hosts says of the others, so that `tutti why` finds them. Nobody but the
// job's user and root can read it there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/segment.hpp"
#include "launch/secret.hpp"

namespace tutti::launch {

struct Directory {
  Secret secret;
  Rank host = 0;                     ///< Whose memory this is,
  std::string name;                  ///< and how it calls itself.
  std::vector<Rank> hosts;           ///< Of each rank of the job.
  std::vector<std::string> windows;  ///< Where each rank's can be called: "tcp:10.77.0.1:4711 tcp:[fd77::1]:4711".
  /// In its host's memory a rank is called by its place there, also where others wait for it.
  bool by_places = false;

  /// The ranks of a host, in the order of their places in its memory.
  std::vector<Rank> ranks_on(Rank host) const;
};

/// This host's, for people: TUTTI_HOST, or its name in the network, as printable_name makes it.
std::string network_name();
/// What a host may be called, of any text: up to `longest_host` printable characters of ASCII without spaces.
std::string printable_name(std::string_view text);

std::string text_of(const Directory& directory);
/// Nothing when the text is none. Names and windows are printable.
std::optional<Directory> read_directory(std::string_view text);
/// Puts it where readers from outside find it; once in a segment.
void publish(host::Segment& segment, const Directory& directory);

}  // namespace tutti::launch
