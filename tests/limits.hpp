// SPDX-License-Identifier: BSD-3-Clause
// A process that has used up what its system allows it.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>

#include "base/descriptor.hpp"

namespace tutti {

/// While it stands this process gets no descriptor, as if it had as many as it may have.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    // The lowest number that is free: all below are taken.
    const base::Descriptor next(open("/dev/null", O_RDONLY | O_CLOEXEC));
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(next.get());
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace tutti
