// SPDX-License-Identifier: BSD-3-Clause
#include "job/machine.hpp"

#include <string>

#include "base/copy.hpp"
#include "base/environment.hpp"
#include "transport/shm/copy.hpp"
#include "tutti/error.hpp"

namespace tutti::job {

bool single_copy_wanted() {
  const std::string text = base::variable("TUTTI_SINGLE_COPY");
  if (text.empty() || text == "on") return true;
  if (text == "off") return false;
  throw Error(Cause::usage, "TUTTI_SINGLE_COPY=" + text + " means nothing; write off or on");
}

tune::Machine this_machine(int cores) {
  return {tune::processor(), cores, single_copy_wanted() && transport::shm::may_read_memory(), base::largest_cache()};
}

}  // namespace tutti::job
