// SPDX-License-Identifier: BSD-3-Clause
#include "launch/secret.hpp"

#include <unistd.h>

#include <span>

#include "base/secrecy.hpp"
#include "launch/system.hpp"

namespace tutti::launch {

namespace {

void fill_random(std::span<std::byte> bytes) {
  if (!base::fill_random(bytes)) throw system_error("cannot get random numbers for the job's secret");
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Secret random_secret() {
  Secret secret;
  fill_random(secret.bytes);
  return secret;
}

std::uint64_t random_job() {
  std::uint64_t job = 0;
  while (job == 0) fill_random(std::as_writable_bytes(std::span(&job, 1)));
  return job;
}

std::string to_hex(const Secret& secret) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte b : secret.bytes) {
    text += digits[std::to_integer<unsigned>(b) >> 4];
    text += digits[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

std::optional<Secret> from_hex(std::string_view text) {
  Secret secret;
  if (text.size() != 2 * secret.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < secret.bytes.size(); ++i) {
    const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    secret.bytes[i] = static_cast<std::byte>(high * 16 + low);
  }
  return secret;
}

std::optional<Secret> read_secret(int descriptor) {
  std::array<char, 64> text{};
  const ssize_t size = ::read(descriptor, text.data(), text.size());
  std::string_view content(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!content.empty() && (content.back() == '\n' || content.back() == '\r' || content.back() == ' '))
    content.remove_suffix(1);
  return from_hex(content);
}

bool same(const Secret& a, const Secret& b) { return base::same(a.bytes, b.bytes); }

}  // namespace tutti::launch
