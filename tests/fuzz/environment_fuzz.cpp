// SPDX-License-Identifier: BSD-3-Clause
// What the environment says about the job. Input: lines, one for each variable; an empty one leaves it unset. The last
// is what the secret's file holds.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "launch/environment.hpp"
#include "tutti/error.hpp"

namespace {

using namespace tutti;
using namespace tutti::launch;

std::string next_line(std::string_view& text) {
  const std::size_t length = std::min(text.find('\n'), text.size());
  const std::string line(text.substr(0, length));
  text.remove_prefix(std::min(length + 1, text.size()));
  return line;
}

void set(const char* name, const std::string& value) {
  value.empty() ? unsetenv(name) : setenv(name, value.c_str(), 1);
}

/// A file that any text may name, and no other: "file" is replaced by its path.
std::string file_of(const std::string& value, int file) {
  if (value.empty()) return {};
  return value == "file" ? "/proc/self/fd/" + std::to_string(file) : "/nonexistent/" + value;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const int file = memfd_create("secret", MFD_CLOEXEC);
  for (const char* name : {rank_variable, size_variable, store_variable, secret_variable}) set(name, next_line(text));
  set(secret_file_variable, file_of(next_line(text), file));
  if (write(file, text.data(), text.size()) < 0) std::abort();
  try {
    const auto found = read_environment();
    if (found && (found->size < 1 || found->size > most_ranks || found->rank < 0 || found->rank >= found->size))
      std::abort();
    const auto* local = found ? std::get_if<Address>(&found->store) : nullptr;
    if (local != nullptr && (local->name.empty() || local->name.size() > Address::longest)) std::abort();
    // What is understood can be written down and understood again.
    const auto* remote = found ? std::get_if<HostAndPort>(&found->store) : nullptr;
    if (remote != nullptr && (remote->port == 0 || HostAndPort(remote->text()).host != remote->host)) std::abort();
    // A secret survives being written down; none is like a new one.
    if (found && (!same(*from_hex(to_hex(found->secret)), found->secret) || same(found->secret, random_secret())))
      std::abort();
    if (found && random_job() == 0) std::abort();
  } catch (const Error& error) {
    if (error.cause() != Cause::usage && error.cause() != Cause::system) std::abort();
  }
  close(file);
  return 0;
}
