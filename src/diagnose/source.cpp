// SPDX-License-Identifier: BSD-3-Clause
#include "diagnose/source.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <sstream>
#include <utility>

#include "base/clock.hpp"
#include "launch/directory.hpp"

namespace tutti::diagnose {

namespace {

constexpr std::chrono::seconds longest_answer{1};

[[noreturn]] void garbled(const std::string& question) {
  throw Error(Cause::system,
              "another host's answer to \"" + question + "\" means nothing; use one version of Tutti on all hosts");
}

}  // namespace

std::uint64_t File::bytes() const {
  struct stat status {};
  return fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
}

bool File::read(host::Offset offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t got = pread(descriptor_, to.data(), to.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to = to.subspan(static_cast<std::size_t>(got));
    offset += static_cast<host::Offset>(got);
  }
  return true;
}

host::Offset File::data_from(host::Offset offset) const {
  const off_t found = lseek(descriptor_, static_cast<off_t>(offset), SEEK_DATA);
  return found < 0 ? bytes() : static_cast<host::Offset>(found);
}

std::uint64_t File::now() const { return base::now(); }

Window::Window(base::Descriptor socket) : window_(std::move(socket), "another host's window") {}

std::vector<std::byte> Window::ask(const std::string& question) const {
  launch::Deadline deadline(launch::Patience{longest_answer});
  deadline.await("another host's window");
  window_.send(launch::Get{++asked_, question}, deadline);
  launch::Message answer = window_.receive(deadline);
  if (auto* value = std::get_if<launch::Value>(&answer); value != nullptr && value->number == asked_)
    return std::move(value->value);
  garbled(question);
}

std::string Window::text(const std::string& question) const {
  const std::vector<std::byte> bytes = ask(question);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t Window::number(const std::string& question) const {
  const std::string said = text(question);
  std::uint64_t found = 0;
  const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), found);
  if (error != std::errc() || end != said.data() + said.size()) garbled(question);
  return found;
}

bool Window::read(host::Offset offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    const std::size_t size = std::min(to.size(), launch::longest_value);
    const std::vector<std::byte> got = ask("memory/" + std::to_string(offset) + "/" + std::to_string(size));
    if (got.size() != size) return false;
    std::ranges::copy(got, to.begin());
    to = to.subspan(size);
    offset += size;
  }
  return true;
}

host::Holder Window::holder(Rank place) const {
  std::istringstream said(text("holder/" + std::to_string(place)));
  int alive = 0;
  host::Holder found;
  if (!(said >> alive)) garbled("holder");
  if (alive == 0) return found;
  if (!(said >> found.pid >> found.state) || found.pid < 0) garbled("holder");
  if (found.state == '?') found.state = '\0';
  found.alive = true;
  return found;
}

std::optional<host::SystemCall> Window::system_call(Rank place) const {
  std::istringstream said(text("system/" + std::to_string(place)));
  host::SystemCall call;
  if (!(said >> call.number)) garbled("system");
  if (call.number < 0) return std::nullopt;
  if (!(said >> call.descriptor) || call.descriptor < -1) garbled("system");
  std::getline(said >> std::ws, call.file);
  return call;
}

std::string Window::host() const { return launch::printable_name(text("host")); }

std::string Window::maps(Rank place) const { return text("maps/" + std::to_string(place)); }

}  // namespace tutti::diagnose
