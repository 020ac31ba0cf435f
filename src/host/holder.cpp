// SPDX-License-Identifier: BSD-3-Clause
#include "host/holder.hpp"

#include <fcntl.h>

#include <algorithm>
#include <string>

#include "base/proc.hpp"
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
  const std::string stat = base::read_stat(pid);
  return stat.empty() ? '\0' : stat.front();
}

}  // namespace tutti::host
