// SPDX-License-Identifier: BSD-3-Clause
#include "launch/window.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/quiet_thread.hpp"
#include "base/words.hpp"
#include "host/holder.hpp"
#include "host/system_call.hpp"
#include "launch/directory.hpp"
#include "launch/system.hpp"
#include "transport/tcp/socket.hpp"

namespace tutti::launch {

namespace {

namespace tcp = transport::tcp;

/// Nanoseconds that a guest may take to prove who it is, and between two questions.
constexpr std::uint64_t patience = 1'000'000'000;

/// "memory/4096/512": its words.
std::vector<std::string_view> words_of(std::string_view question) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t end = question.find('/');
    words.push_back(question.substr(0, end));
    if (end == question.npos) return words;
    question.remove_prefix(end + 1);
  }
}

std::uint64_t number_of(std::string_view word, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number > most)
    throw Error(Cause::system, "\"" + std::string(word) + "\" is no number that can be asked for");
  return number;
}

}  // namespace

Window::Window(std::shared_ptr<host::Segment> segment, Rank place, const Secret& secret,
               const std::vector<std::string>& listen)
    : segment_(std::move(segment)),
      place_(place),
      secret_(secret),
      pid_(getpid()),
      stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!stop_) throw system_error("cannot make a window for tutti why");
  try {
    listeners_ = tcp::listen_at_all(listen);
  } catch (const Error& error) {
    base::log(std::string("`tutti why` on other hosts will not see what happens on this one: ") + error.what());
    return;
  }
  thread_ = base::quiet_thread([this] { run(); }, "tutti why");
}

std::string Window::addresses() const {
  std::string text;
  for (const base::Descriptor& listener : listeners_)
    base::add_word(text, tcp::Address::of(listener.get()).text(), " ");
  return text;
}

void Window::close() {
  if (!thread_.joinable() || pid_ != getpid()) return;
  eventfd_write(stop_.get(), 1);
  thread_.join();
  listeners_.clear();
}

void Window::after_fork(bool in_child) {
  if (in_child) {
    listeners_.clear();
    guest_ = std::monostate();
  }
  turning_.unlock();
}

void Window::run() {
  for (;;) {
    std::vector<pollfd> entries{{stop_.get(), POLLIN, 0}};
    std::optional<std::uint64_t> pause = patience;
    {
      const std::scoped_lock lock(turning_);
      if (const auto* entrance = std::get_if<Entrance>(&guest_)) {
        entries.push_back({entrance->socket(), POLLIN, 0});
      } else if (const auto* guest = std::get_if<Conversation>(&guest_)) {
        entries.push_back({guest->descriptor(), POLLIN, 0});
      } else if (base::now() < deaf_until_) {
        pause = tcp::pause_in_want;
      } else {
        pause.reset();
        for (const base::Descriptor& listener : listeners_) entries.push_back({listener.get(), POLLIN, 0});
      }
    }
    const bool nobody = guest_.index() == 0;  // no other thread changes that, but in a child
    poll(entries.data(), entries.size(), pause ? static_cast<int>(*pause / 1'000'000) : -1);
    if (entries.front().revents != 0) break;
    const std::scoped_lock lock(turning_);
    if (nobody) {
      for (const pollfd& entry : entries)
        if (entry.revents != 0 && guest_.index() == 0) accept_from(entry.fd);
    } else if (base::now() > guest_until_ || (entries.back().revents != 0 && !attend())) {
      guest_ = std::monostate();
    }
  }
  const std::scoped_lock lock(turning_);
  guest_ = std::monostate();
}

void Window::accept_from(int listener) {
  base::Descriptor socket = tcp::accept_from(listener);
  if (!socket && tcp::is_want(errno)) deaf_until_ = base::now() + tcp::pause_in_want;
  if (!socket) return;
  guest_until_ = base::now() + patience;
  guest_.emplace<Entrance>(Entrance::Side::answerer, secret_, std::move(socket), guest_until_);
  if (!attend()) guest_ = std::monostate();
}

bool Window::attend() {
  if (guest_.index() == 2) return answer();
  auto& entrance = std::get<Entrance>(guest_);
  switch (entrance.advance()) {
    case Entrance::State::waiting:
      return true;
    case Entrance::State::open:
      guest_until_ = base::now() + patience;
      guest_ = Conversation(entrance.take(), "who looks");
      return true;
    default:
      return false;
  }
}

bool Window::answer() {
  try {
    auto& guest = std::get<Conversation>(guest_);
    Deadline deadline(Patience{std::chrono::nanoseconds(patience)});
    const auto question = guest.expect<Get>(deadline);
    Message said;
    try {
      const std::string text = answer_to(question.key);
      const auto bytes = std::as_bytes(std::span(text));
      said = Value{question.number, {bytes.begin(), bytes.end()}};
    } catch (const Error& error) {
      said = Failed{question.number, error.what()};
    }
    guest.send(said, deadline);
    guest_until_ = base::now() + patience;
    return true;
  } catch (const Error&) {
    return false;  // it has hung up, or talks nonsense
  }
}

std::string Window::answer_to(std::string_view question) const {
  const std::vector<std::string_view> words = words_of(question);
  const auto is = [&](std::string_view verb, std::size_t count) {
    return words.front() == verb && words.size() == count;
  };
  const auto place = [&] { return static_cast<Rank>(number_of(words[1], std::uint64_t(segment_->size()) - 1)); };
  if (is("host", 1)) return network_name();
  if (is("now", 1)) return std::to_string(base::now());
  if (is("bytes", 1)) return std::to_string(segment_->capacity());
  if (is("memory", 3)) return memory(number_of(words[1], segment_->capacity()), number_of(words[2], longest_value));
  if (is("data", 2)) {
    const auto from = static_cast<off_t>(number_of(words[1], segment_->capacity()));
    const off_t data = lseek(segment_->descriptor(), from, SEEK_DATA);
    return std::to_string(data < 0 ? segment_->capacity() : static_cast<std::uint64_t>(data));
  }
  if (is("holder", 2)) return holder(place());
  if (is("system", 2)) return system_call(place());
  if (is("maps", 2)) return maps(place());
  throw Error(Cause::system, "nobody here knows what \"" + std::string(question) + "\" asks for");
}

/// Short where the segment ends.
std::string Window::memory(host::Offset offset, std::size_t size) const {
  std::string bytes(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const ssize_t got =
        pread(segment_->descriptor(), bytes.data() + have, size - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

host::Holder Window::holder_of(Rank place) const {
  // A process does not see its own lock.
  if (place == place_) return {true, pid_, host::state_of(pid_)};
  return host::holder_of(segment_->descriptor(), place);
}

std::string Window::holder(Rank place) const {
  const host::Holder found = holder_of(place);
  if (!found.alive) return "0";
  return "1 " + std::to_string(found.pid) + " " + (found.state == '\0' ? '?' : found.state);
}

std::string Window::system_call(Rank place) const {
  const auto call = host::system_call_of(holder_of(place).pid);
  return call ? std::to_string(call->number) + " " + std::to_string(call->descriptor) + " " + call->file : "-1";
}

std::string Window::maps(Rank place) const {
  std::ifstream file("/proc/" + std::to_string(holder_of(place).pid) + "/maps");
  std::string text;
  for (std::string line; std::getline(file, line) && text.size() + line.size() < longest_value;)
    if (line.find('x') < line.find('/') && line.find('/') != line.npos) text += line + "\n";
  return text;
}

}  // namespace tutti::launch
