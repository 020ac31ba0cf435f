// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/sink.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace tutti::launcher {

Sink::Sink(launch::Loop& loop, int descriptor) : loop_(loop), descriptor_(descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) {
    broken_ = true;
    return;
  }
  socket_ = S_ISSOCK(status.st_mode);
  // One that is open for reading alone stands for a closed output.
  const bool writable = (fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY;
  if (writable && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode))) {
    const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
    own_ = base::Descriptor(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    if (own_) descriptor_ = own_.get();
  }
  never_blocks_ = own_ || socket_ || S_ISREG(status.st_mode);
}

Sink::~Sink() {
  if (waiting_) loop_.unwatch(descriptor_);
}

long Sink::write_piece(std::string_view piece) const {
  if (socket_) return send(descriptor_, piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (never_blocks_) return ::write(descriptor_, piece.data(), piece.size());
  // A pipe or terminal that could not be opened anew (it belongs to another user): while it shows room, a piece of this
  // size does not wait.
  pollfd room{descriptor_, POLLOUT, 0};
  if (poll(&room, 1, 0) == 0) {
    errno = EAGAIN;
    return -1;
  }
  return ::write(descriptor_, piece.data(), std::min<std::size_t>(piece.size(), PIPE_BUF));
}

void Sink::write(std::string_view bytes) {
  if (broken_) return;
  queue_ += bytes;
  if (!waiting_) flush();
}

void Sink::flush() {
  const bool was_full = is_full();
  bool wait = false;
  while (!wait && written_ < queue_.size()) {
    const long step = write_piece(std::string_view(queue_).substr(written_));
    if (step >= 0) {
      written_ += static_cast<std::size_t>(step);
    } else if (errno == EAGAIN) {
      wait = true;
    } else if (errno != EINTR) {
      broken_ = true;
      problem_ = errno;
      written_ = queue_.size();
    }
  }
  if (written_ == queue_.size()) {
    queue_.clear();
    written_ = 0;
  } else if (written_ >= full) {
    queue_.erase(0, written_);
    written_ = 0;
  }
  if (wait && !waiting_) {
    waiting_ = loop_.watch(descriptor_, EPOLLOUT, [this](std::uint32_t) { flush(); });
  } else if (!wait && waiting_) {
    loop_.unwatch(descriptor_);
    waiting_ = false;
  }
  if (on_change_ && (broken_ || (was_full && !is_full()))) on_change_();
}

}  // namespace tutti::launcher
