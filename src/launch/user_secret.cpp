// SPDX-License-Identifier: BSD-3-Clause
#include "launch/user_secret.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>

#include "base/descriptor.hpp"
#include "base/siphash.hpp"
#include "launch/system.hpp"

namespace tutti::launch {

static constexpr char secret_advice[] = "; srun --mpi=pmix and --mpi=pmi2 do without that file (docs/launch.md)";

std::string user_secret_path() {
  for (const auto& [name, below] : {std::pair{"XDG_CONFIG_HOME", ""}, std::pair{"HOME", "/.config"}})
    if (const char* folder = std::getenv(name); folder != nullptr && *folder == '/')
      return std::string(folder) + below + "/tutti/secret";
  throw Error(Cause::usage,
              std::string("neither XDG_CONFIG_HOME nor HOME names a folder for the secret of this user's jobs") +
                  secret_advice);
}

namespace {

Error failed(const std::string& what, const std::string& path) {
  const int number = errno;
  return system_error(
      "cannot " + what + " \"" + path +
          "\", which is for the secret of this user's jobs (srun --mpi=pmix and --mpi=pmi2 do without it)",
      number);
}

/// Puts a fresh secret there, unless another process is first.
void make(const std::string& path) {
  std::error_code problem;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), problem);
  // Whole or not at all, also on a file system of the network: a link is made by one only.
  const std::string draft = path + "." + std::to_string(random_job());
  const base::Descriptor file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) throw failed("make", draft);
  const std::string text = to_hex(random_secret()) + "\n";
  const bool written =
      ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(file.get()) == 0;
  const bool there = written && (link(draft.c_str(), path.c_str()) == 0 || errno == EEXIST);
  const int number = errno;
  unlink(draft.c_str());
  errno = number;
  if (!there) throw failed("make", path);
}

Secret user_secret() {
  const std::string path = user_secret_path();
  const auto open_it = [&] {
    return base::Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK));
  };
  base::Descriptor file = open_it();
  if (!file && errno == ENOENT) {
    make(path);
    file = open_it();
  }
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0) throw failed("open", path);
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
    throw Error(Cause::usage, "\"" + path +
                                  "\", the secret of this user's jobs, can be read by others, or is not a file of "
                                  "this user's; remove it, and the next job makes another" +
                                  secret_advice);
  const std::optional<Secret> secret = read_secret(file.get());
  if (!secret)
    throw Error(Cause::usage, "\"" + path +
                                  "\" does not hold a secret, which is 32 hexadecimal digits; remove it, and "
                                  "the next job makes another" +
                                  secret_advice);
  return *secret;
}

}  // namespace

Secret user_secret_for(const std::string& purpose) {
  return {base::keyed_hash(user_secret().bytes, std::as_bytes(std::span(purpose)))};
}

}  // namespace tutti::launch
