// SPDX-License-Identifier: BSD-3-Clause
#include "base/quiet_thread.hpp"

#include <pthread.h>

#include <csignal>
#include <exception>
#include <utility>

#include "tutti/error.hpp"

namespace tutti::base {

std::thread quiet_thread(std::function<void()> body, const std::string& what) {
  sigset_t quiet, before;
  sigfillset(&quiet);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&quiet, own);
  pthread_sigmask(SIG_SETMASK, &quiet, &before);
  try {
    std::thread made(std::move(body));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return made;
  } catch (const std::exception& error) {  // of the system, or no memory
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw Error(Cause::system,
                "cannot start a thread for " + what + ": " + error.what() + "; raise the limit of threads");
  }
}

}  // namespace tutti::base
