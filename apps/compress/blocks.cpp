// SPDX-License-Identifier: BSD-3-Clause
#include "blocks.hpp"

#include <bzlib.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace compress {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  throw std::runtime_error(what + " " + path + ": " + std::strerror(errno));
}

void append(std::span<const char> block, int level, std::vector<char>& out) {
  const std::size_t before = out.size();
  auto bytes = static_cast<unsigned>(block.size() + block.size() / 100 + 600);  // the bound libbz2 documents
  out.resize(before + bytes);
  const int status = BZ2_bzBuffToBuffCompress(out.data() + before, &bytes, const_cast<char*>(block.data()),
                                              static_cast<unsigned>(block.size()), level, 0, 0);
  if (status != BZ_OK) throw std::runtime_error("libbz2 failed with status " + std::to_string(status));
  out.resize(before + bytes);
}

}  // namespace

int open_input(const std::string& path) {
  if (path == "-") return STDIN_FILENO;
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail("cannot read", path);
  return descriptor;
}

std::size_t read(int descriptor, std::int64_t offset, std::span<char> block) {
  std::size_t done = 0;
  while (done < block.size()) {
    char* to = block.data() + done;
    const std::size_t left = block.size() - done;
    const ssize_t got = offset < 0 ? ::read(descriptor, to, left)
                                   : pread(descriptor, to, left, offset + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read", "the input");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void append_stream(std::span<const char> block, int level, std::vector<char>& out) {
  if (!block.empty()) append(block, level, out);
}

std::vector<char> empty_stream(int level) {
  std::vector<char> out;
  char nothing = 0;
  append({&nothing, 0}, level, out);
  return out;
}

Output::Output(const std::string& path) : path_(path) {
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  temporary_ = path + ".part";
  descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("cannot write", std::exchange(temporary_, ""));
}

Output::~Output() {
  if (temporary_.empty()) return;
  if (descriptor_ >= 0) close(descriptor_);
  unlink(temporary_.c_str());
}

void Output::write(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail("cannot write", temporary_.empty() ? "standard output" : temporary_);
    written_ += put;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void Output::keep() {
  if (temporary_.empty()) return;
  if (close(std::exchange(descriptor_, -1)) != 0) fail("cannot write", temporary_);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot write", path_);
  temporary_.clear();
}

}  // namespace compress
