// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/output.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace tutti::launcher {

namespace {

constexpr std::chrono::milliseconds silence_before_prompt{100};
constexpr int most_reads = 32;  // more than a pipe holds: whoever still writes must not hold us up

}  // namespace

Output::Output(launch::Loop& loop, base::Descriptor pipe, Sink& sink, std::string label, bool prompt)
    : loop_(loop), pipe_(std::move(pipe)), sink_(sink), lines_(std::move(label)), prompt_(prompt) {
  // The reading end is ours alone: the flag does not reach the rank's end.
  fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
  adjust();
}

Output::~Output() {
  loop_.cancel(silence_);
  if (watched_) loop_.unwatch(pipe_.get());
}

void Output::adjust() {
  if (!pipe_) return;
  if (sink_.broken()) return end();
  const bool wanted = !sink_.is_full();
  if (wanted && !watched_) loop_.watch(pipe_.get(), EPOLLIN, [this](std::uint32_t) { read_once(); });
  if (!wanted && watched_) loop_.unwatch(pipe_.get());
  watched_ = wanted;
}

void Output::expect_more() {
  loop_.cancel(silence_);
  if (!prompt_ || lines_.empty()) return;
  silence_ = loop_.after(silence_before_prompt, [this] {
    std::string out;
    lines_.flush(out);
    sink_.write(out);
  });
}

/// True when there may be more to read.
bool Output::read_once() {
  std::array<char, 65536> buffer;
  const ssize_t size = read(pipe_.get(), buffer.data(), buffer.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return errno == EINTR;
  if (size <= 0) {
    end();
    return false;
  }
  std::string out;
  lines_.feed({buffer.data(), static_cast<std::size_t>(size)}, out);
  if (!out.empty()) sink_.write(out);
  expect_more();
  adjust();
  return static_cast<bool>(pipe_);
}

bool Output::drain() {
  for (int i = 0; i < most_reads && pipe_; ++i) {
    if (sink_.is_full()) return false;
    if (!read_once()) return true;
  }
  return true;
}

void Output::end() {
  if (!pipe_) return;
  loop_.cancel(silence_);
  if (watched_) loop_.unwatch(pipe_.get());
  watched_ = false;
  pipe_.reset();
  std::string out;
  lines_.flush(out);
  sink_.write(out);
}

}  // namespace tutti::launcher
