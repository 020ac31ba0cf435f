// SPDX-License-Identifier: BSD-3-Clause
#include "job/machine.hpp"

#include <cstdlib>
#include <string_view>

#include "base/copy.hpp"
#include "transport/shm/copy.hpp"

namespace tutti::job {

bool single_copy_wanted() {
  const char* value = std::getenv("TUTTI_SINGLE_COPY");
  return value == nullptr || std::string_view(value) != "off";
}

tune::Machine this_machine(int cores) {
  return {tune::processor(), cores, single_copy_wanted() && transport::shm::may_read_memory(), base::largest_cache()};
}

}  // namespace tutti::job
