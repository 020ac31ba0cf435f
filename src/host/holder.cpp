// SPDX-License-Identifier: BSD-3-Clause
#include "host/holder.hpp"

#include <fcntl.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "host/segment.hpp"

namespace tutti::host {

Holder holder_of(int segment, Rank place) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = life_locks + place;
  lock.l_len = 1;
  if (fcntl(segment, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return {};
  const pid_t pid = std::max(lock.l_pid, 0);
  return {true, pid, pid == 0 ? '\0' : state_of(pid)};
}

char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::ostringstream text;
  text << file.rdbuf();
  const std::string stat = text.str();
  // The name stands in brackets and may hold anything, brackets too.
  const std::size_t end = stat.rfind(") ");
  return end == std::string::npos || end + 2 >= stat.size() ? '\0' : stat[end + 2];
}

}  // namespace tutti::host
