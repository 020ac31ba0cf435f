// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/input.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

namespace tutti::launcher {

namespace {

constexpr std::chrono::milliseconds look_interval{500};

}  // namespace

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
  loop_.cancel(next_look_);
  reading_ = writing_ = false;
  waiting_.clear();
  pipe_.reset();
}

/// In the background a read would be refused (EIO, as SIGTTIN is ignored), and nothing typed is for us. A terminal that
/// has no foreground for us (it is not the one that controls us, or was hung up) refuses nobody.
bool Input::in_foreground() const {
  const pid_t group = tcgetpgrp(terminal_);
  return group < 0 || group == getpgrp();
}

void Input::adjust() {
  const bool foreground = in_foreground();
  loop_.cancel(next_look_);
  // A shell's `fg` says nothing to a job that runs already.
  if (pipe_ && !foreground) next_look_ = loop_.after(look_interval, [this] { adjust(); });
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
  if (size < 0 && !in_foreground()) return adjust();
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
