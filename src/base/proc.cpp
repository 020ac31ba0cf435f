// SPDX-License-Identifier: BSD-3-Clause
#include "base/proc.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/descriptor.hpp"

namespace tutti::base {

std::string proc(pid_t pid, const std::string& what) { return "/proc/" + std::to_string(pid) + "/" + what; }

std::string read_link(const std::string& path) {
  std::array<char, 4096> target;
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  return length > 0 ? std::string(target.data(), static_cast<std::size_t>(length)) : std::string();
}

std::string read_text(const std::string& path, std::size_t most) {
  const base::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 16384> some;
  while (file && text.size() < most) {
    const ssize_t got = read(file.get(), some.data(), some.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(some.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::string read_stat(pid_t pid) {
  const std::string text = read_text(proc(pid, "stat"));
  const std::size_t name_end = text.rfind(") ");
  return name_end == std::string::npos ? std::string() : text.substr(name_end + 2);
}

}  // namespace tutti::base
