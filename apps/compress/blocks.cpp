// SPDX-License-Identifier: BSD-3-Clause
#include "blocks.hpp"

#include <bzlib.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
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

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

/// Gives `create` names in the folder of `path` until one is free, and returns that one. They are random, because no
/// file of the user's may be met: `path` with something behind it may well be one.
template <class Create>
std::string create_beside(const std::string& path, Create create) {
  std::random_device random;
  for (;;) {
    std::string name = fmt::format("{}.tutti-compress-{:08x}", folder_of(path), random());
    if (create(name.c_str())) return name;
    if (errno != EEXIST) fail("cannot write", path);
  }
}

/// Where a chain of links leads; there need not be a file yet.
std::string end_of_links(std::filesystem::path path) {
  constexpr int most_links = 40;  // as the kernel allows
  for (int links = 0; links < most_links; ++links) {
    std::error_code none;
    const std::filesystem::path next = std::filesystem::read_symlink(path, none);
    if (none) return path;
    path = path.parent_path() / next;
  }
  errno = ELOOP;
  fail("cannot write", path);
}

bool is_same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

/// Lets nobody read a file who may not read `like`. A file system that refuses has no permissions to keep.
void keep_access(int descriptor, const struct stat& like) {
  mode_t mode = like.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  // Only root may give a file away, and everybody only to their own groups. Another group is as strange as all others.
  if (fchown(descriptor, like.st_uid, like.st_gid) != 0 && fchown(descriptor, static_cast<uid_t>(-1), like.st_gid) != 0)
    mode &= ~S_IRWXG | (mode & S_IRWXO) << 3;
  fchmod(descriptor, mode);
}

}  // namespace

int open_input(const std::string& path) {
  if (path == "-") return STDIN_FILENO;
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (descriptor < 0 || fstat(descriptor, &status) != 0) fail("cannot read", path);
  if (S_ISDIR(status.st_mode)) {
    close(descriptor);
    errno = EISDIR;
    fail("cannot read", path);
  }
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

std::vector<char> fingerprint(int descriptor) {
  constexpr std::int64_t pieces = 16, length = 4096;
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail("cannot read", "the input");
  const std::int64_t facts[3] = {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  static_assert(fingerprint_bytes == sizeof(facts) + pieces * length);
  std::vector<char> print(fingerprint_bytes);
  std::memcpy(print.data(), facts, sizeof(facts));
  const std::int64_t last = std::max(std::int64_t{0}, facts[0] - length);
  for (std::int64_t i = 0; i < pieces; ++i)
    read(descriptor, last * i / (pieces - 1), std::span(print).subspan(sizeof(facts) + i * length, length));
  return print;
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

Output::Output(const std::string& path, int input) : path_(path == "-" ? "standard output" : path) {
  struct stat existing {
  }, end{}, source{};
  const bool exists = (path == "-" ? fstat(STDOUT_FILENO, &existing) : stat(path.c_str(), &existing)) == 0;
  const bool reads_file = fstat(input, &source) == 0 && S_ISREG(source.st_mode);
  if (exists && reads_file && is_same_file(existing, source))
    throw std::runtime_error(path_ + " is the input too; choose another output");
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  path_ = end_of_links(path);  // a file is replaced, and not a link to it
  if (exists && (!S_ISREG(existing.st_mode) || stat(path_.c_str(), &end) != 0 || !is_same_file(existing, end))) {
    // A pipe, a device or, by /dev/stdout, a file without a name is written to. It cannot be replaced by a file.
    descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail("cannot write", path);
    return;
  }
  // Without a name there is nothing to clean up, also after SIGKILL. Not every file system can do that.
  descriptor_ = open(folder_of(path_).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    temporary_ = create_beside(path_, [this](const char* name) {
      descriptor_ = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      return descriptor_ >= 0;
    });
  }
  replaces_ = true;
  if (exists || reads_file) keep_access(descriptor_, exists ? existing : source);
}

Output::~Output() {
  if (descriptor_ > STDERR_FILENO) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void Output::write(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail("cannot write", path_);
    written_ += put;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void Output::keep() {
  if (!replaces_) return;
  if (temporary_.empty()) {
    // A link cannot take the place of a file; only a rename can.
    const std::string self = "/proc/self/fd/" + std::to_string(descriptor_);
    temporary_ = create_beside(path_, [&self](const char* name) {
      return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    });
  }
  if (close(std::exchange(descriptor_, -1)) != 0) fail("cannot write", path_);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot write", path_);
  temporary_.clear();
}

}  // namespace compress
