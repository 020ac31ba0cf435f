// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/input.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace tutti::launcher {

bool Input::needed(int terminal) { return isatty(terminal) == 1; }

Input::Input(launch::Loop& loop, int terminal, base::Descriptor pipe)
    : loop_(loop), terminal_(terminal), pipe_(std::move(pipe)) {
  fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
  adjust();
}

Input::~Input() { end(); }

void Input::end() {
  if (reading_) loop_.unwatch(terminal_);
  if (writing_) loop_.unwatch(pipe_.get());
  reading_ = writing_ = false;
  waiting_.clear();
  pipe_.reset();
}

void Input::adjust() {
  // In the background a read would be refused (EIO, as SIGTTIN is ignored), and nothing typed is for us.
  const bool foreground = tcgetpgrp(terminal_) == getpgrp();
  const bool read = pipe_ && waiting_.empty() && foreground;
  if (read && !reading_) reading_ = loop_.watch(terminal_, EPOLLIN, [this](std::uint32_t) { read_terminal(); });
  if (!read && reading_) {
    loop_.unwatch(terminal_);
    reading_ = false;
  }
  const bool write = pipe_ && !waiting_.empty();
  if (write && !writing_) writing_ = loop_.watch(pipe_.get(), EPOLLOUT, [this](std::uint32_t) { write_pipe(); });
  if (!write && writing_) {
    loop_.unwatch(pipe_.get());
    writing_ = false;
  }
}

void Input::read_terminal() {
  std::array<char, 4096> buffer;
  const ssize_t size = read(terminal_, buffer.data(), buffer.size());
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (size < 0 && tcgetpgrp(terminal_) != getpgrp()) return adjust();
  if (size <= 0) return end();
  waiting_.assign(buffer.data(), static_cast<std::size_t>(size));
  write_pipe();
}

void Input::write_pipe() {
  const ssize_t size = write(pipe_.get(), waiting_.data(), waiting_.size());
  if (size < 0 && errno != EAGAIN && errno != EINTR) return end();  // Rank 0 does not read any more.
  if (size > 0) waiting_.erase(0, static_cast<std::size_t>(size));
  adjust();
}

}  // namespace tutti::launcher
