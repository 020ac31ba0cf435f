// SPDX-License-Identifier: BSD-3-Clause
// One transport made of two: shared memory to the processes of this host, another one to all others.
#pragma once

#include <memory>
#include <vector>

#include "transport/transport.hpp"

namespace tutti::transport {

/// `near`: its peers are places in the segment of this host; none where this process is alone on it. `far`: its peers
/// are ranks of the world. `places`: of each rank of the world its place in the segment, -1 on other hosts.
/// A message to oneself is near's if there is one.
std::unique_ptr<Transport> mux(std::unique_ptr<Transport> near, std::unique_ptr<Transport> far,
                               std::vector<Rank> places);

}  // namespace tutti::transport
