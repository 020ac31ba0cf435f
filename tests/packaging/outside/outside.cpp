// SPDX-License-Identifier: BSD-3-Clause
// A stranger's program in C++: it catches what the library throws by its own type.
#include <tutti/version.h>
#include <tutti/error.hpp>

#include <cstdio>

int main() {
  try {
    tutti::raise(tutti::Error(tutti::Cause::peer_lost, "rank 1 is gone", 1));
  } catch (const tutti::PeerLost& error) {
    std::printf("tutti %s: %s\n", TUTTI_VERSION, error.what());
  }
}
