// SPDX-License-Identifier: BSD-3-Clause
#include "launch/tcp_store.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/quiet_thread.hpp"
#include "launch/system.hpp"

namespace tutti::launch {

TcpStore::TcpStore(std::vector<base::Descriptor> listeners, const Secret& secret, int size)
    : stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), present_(size) {
  int ends[2];
  if (!stop_ || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    throw system_error("cannot serve the job's store");
  own_ = base::Descriptor(ends[0]);
  base::Descriptor theirs(ends[1]);
  lobby_ = std::make_unique<Lobby>(loop_, std::move(listeners), secret, size, [this] {
    const std::scoped_lock lock(mutex_);
    --present_;
    gone_.notify_all();
  });
  lobby_->receive(std::move(theirs));
  loop_.watch(stop_.get(), EPOLLIN, [this](std::uint32_t) { stopped_ = true; });
  thread_ = base::quiet_thread([this] { run(); }, "the job's store");
}

void TcpStore::run() {
  try {
    while (!stopped_) {
      loop_.wait();
      const std::scoped_lock lock(turning_);
      loop_.call_due();
    }
  } catch (const Error& error) {
    base::log(std::string("rank 0: the job's store has ended: ") + error.what());
  }
  const std::scoped_lock lock(turning_);
  lobby_.reset();
}

void TcpStore::after_fork(bool in_child) {
  if (in_child && lobby_) lobby_->close_copies();
  turning_.unlock();
}

TcpStore::~TcpStore() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void TcpStore::linger(std::chrono::nanoseconds most) {
  std::unique_lock lock(mutex_);
  gone_.wait_for(lock, most, [this] { return present_ <= 0; });
}

}  // namespace tutti::launch
