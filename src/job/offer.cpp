// SPDX-License-Identifier: BSD-3-Clause
#include "job/offer.hpp"

#include <cstring>
#include <type_traits>

#include "tutti/error.hpp"

namespace tutti::job {

namespace {

void put(std::vector<std::byte>& bytes, const void* from, std::size_t count) {
  const auto* begin = static_cast<const std::byte*>(from);
  bytes.insert(bytes.end(), begin, begin + count);
}

void put(std::vector<std::byte>& bytes, const std::string& text) {
  const std::uint64_t length = text.size();
  put(bytes, &length, sizeof length);
  put(bytes, text.data(), text.size());
}

std::span<const std::byte> take(std::span<const std::byte>& bytes, std::uint64_t count) {
  if (count > bytes.size()) throw Error(Cause::system, "rank 0's offer is too short; use one version of Tutti");
  const std::span<const std::byte> taken = bytes.first(static_cast<std::size_t>(count));
  bytes = bytes.subspan(taken.size());
  return taken;
}

std::uint64_t take_number(std::span<const std::byte>& bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, take(bytes, sizeof number).data(), sizeof number);
  return number;
}

ProgressThread take_progress(std::span<const std::byte>& bytes) {
  std::underlying_type_t<ProgressThread> number = 0;
  std::memcpy(&number, take(bytes, sizeof number).data(), sizeof number);
  if (number > static_cast<decltype(number)>(ProgressThread::on))
    throw Error(Cause::system, "rank 0's offer has an unknown progress thread; use one version of Tutti");
  return ProgressThread{number};
}

bool take_flag(std::span<const std::byte>& bytes) {
  const std::uint64_t number = take_number(bytes);
  if (number > 1) throw Error(Cause::system, "rank 0's offer has a flag that is none; use one version of Tutti");
  return number == 1;
}

std::string take_text(std::span<const std::byte>& bytes) {
  const std::span<const std::byte> text = take(bytes, take_number(bytes));
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

}  // namespace

std::vector<std::byte> Offer::pack() const {
  std::vector<std::byte> bytes;
  put(bytes, &progress, sizeof progress);
  put(bytes, &cache, sizeof cache);
  const std::uint64_t flag = asked_for ? 1 : 0;
  put(bytes, &flag, sizeof flag);
  for (const std::string* text : {&algorithms, &lines, &table, &processor}) put(bytes, *text);
  return bytes;
}

Offer Offer::unpack(std::span<const std::byte> bytes) {
  Offer offer;
  offer.progress = take_progress(bytes);
  offer.cache = take_number(bytes);
  offer.asked_for = take_flag(bytes);
  for (std::string* text : {&offer.algorithms, &offer.lines, &offer.table, &offer.processor}) *text = take_text(bytes);
  if (!bytes.empty()) throw Error(Cause::system, "rank 0's offer is too long; use one version of Tutti");
  return offer;
}

}  // namespace tutti::job
