// SPDX-License-Identifier: BSD-3-Clause
#include "launch/environment.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tutti::launch {

namespace {

constexpr char advice[] =
    "; start the program with `tutti run -n N PROGRAM`, set all of TUTTI_RANK, TUTTI_SIZE, TUTTI_STORE and "
    "TUTTI_SECRET (docs/launch.md), or unset them to run it alone";

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

std::string required(const char* name) {
  std::optional<std::string> value = variable(name);
  if (!value)
    throw Error(Cause::usage, std::string(name) + " is not set, but others of the job's variables are" + advice);
  return *value;
}

int integer(const char* name, int least, int most) {
  const std::string text = required(name);
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    throw Error(Cause::usage, std::string(name) + " is \"" + text + "\"; it must be a whole number from " +
                                  std::to_string(least) + " to " + std::to_string(most) + advice);
  return value;
}

std::optional<Secret> read_secret_file(const std::string& path) {
  const base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) throw system_error(std::string("cannot read ") + secret_file_variable + " \"" + path + "\"");
  return read_secret(file.get());
}

Secret required_secret() {
  const std::optional<std::string> value = variable(secret_variable), path = variable(secret_file_variable);
  if (!value && !path)
    throw Error(Cause::usage, std::string("neither ") + secret_variable + " nor " + secret_file_variable +
                                  " is set, but others of the job's variables are" + advice);
  const std::optional<Secret> secret = value ? from_hex(*value) : read_secret_file(*path);
  if (!secret)
    throw Error(Cause::usage, std::string(value ? secret_variable : secret_file_variable) +
                                  " does not hold a secret, which is 32 hexadecimal digits" + advice);
  return *secret;
}

std::variant<Address, HostAndPort> read_store() {
  const std::string text = required(store_variable);
  if (text.starts_with(HostAndPort::prefix)) return HostAndPort(text);
  return Address(text);
}

}  // namespace

std::optional<int> number_in(const char* name) {
  const std::optional<std::string> text = variable(name);
  if (!text) return std::nullopt;
  int value = -1;
  const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), value);
  return problem == std::errc{} && end == text->data() + text->size() && value >= 0 ? value : -1;
}

HostAndPort::HostAndPort(std::string_view text) {
  const auto refused = [&] {
    return Error(Cause::usage, std::string(store_variable) + " is \"" + std::string(text) +
                                   "\", which is no address; write tcp:HOST:PORT with a host where rank 0 can be "
                                   "reached (a name, an IPv4 address or an [IPv6] one) and a port from 1 to 65535");
  };
  std::string_view rest = text.substr(std::min(prefix.size(), text.size()));
  const std::size_t colon = rest.rfind(':');
  if (!text.starts_with(prefix) || colon == std::string_view::npos) throw refused();
  const std::string_view digits = rest.substr(colon + 1);
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (problem != std::errc{} || end != digits.data() + digits.size() || port == 0) throw refused();
  rest = rest.substr(0, colon);
  const bool bracketed = rest.starts_with('[') && rest.ends_with(']');
  if (bracketed) rest = rest.substr(1, rest.size() - 2);
  if (rest.find('%') != std::string_view::npos)
    throw Error(Cause::usage, std::string(store_variable) + " is \"" + std::string(text) +
                                  "\", whose interface (after %) is one of this host alone; write an address that is "
                                  "the same on all hosts, or a name");
  const auto strange = [](char c) { return c <= ' ' || c >= 0x7f || c == '[' || c == ']'; };
  if (rest.empty() || rest.size() > longest_host || std::ranges::any_of(rest, strange) ||
      bracketed != (rest.find(':') != std::string_view::npos))
    throw refused();
  host = rest;
}

std::string HostAndPort::text() const {
  const bool six = host.find(':') != std::string::npos;
  return std::string(prefix) + (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<Environment> read_environment() {
  const char* names[] = {rank_variable, size_variable, store_variable, secret_variable, secret_file_variable};
  if (std::ranges::none_of(names, [](const char* name) { return std::getenv(name) != nullptr; })) return std::nullopt;
  const int size = integer(size_variable, 1, most_ranks);
  const Rank rank = integer(rank_variable, 0, size - 1);
  return Environment{rank, size, read_store(), required_secret()};
}

}  // namespace tutti::launch
