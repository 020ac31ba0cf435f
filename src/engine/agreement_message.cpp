// SPDX-License-Identifier: BSD-3-Clause
#include "engine/agreement_message.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "host/segment.hpp"

namespace tutti::engine {
namespace {

/// In the order of bytes of the machine, as all between these processes. The sets `lost` and `ended` follow, then the
/// opinion, then what was accepted.
struct Head {
  AgreementName name;
  std::int32_t size = 0, proposer = -1;
  std::uint32_t word = 0, zero = 0;
};

struct OpinionHead {
  std::uint32_t calls = 0, flag = 0;
  std::uint64_t notes = 0;
};

template <class T>
void put(std::vector<std::byte>& bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t begin = bytes.size();
  bytes.resize(begin + sizeof value);
  std::memcpy(bytes.data() + begin, &value, sizeof value);
}

void put(std::vector<std::byte>& bytes, const Ranks& ranks, std::size_t size) {
  const std::size_t begin = bytes.size();
  bytes.resize(begin + (size + 7) / 8);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (ranks[rank]) bytes[begin + rank / 8] |= std::byte{1} << rank % 8;
}

void put(std::vector<std::byte>& bytes, const Opinion& opinion, std::size_t size) {
  put(bytes, OpinionHead{opinion.calls, opinion.flag, opinion.notes.size()});
  put(bytes, opinion.lost, size);
  for (const Opinion::Note& note : opinion.notes) {
    put(bytes, std::int64_t{note.from});
    put(bytes, note.number);
  }
}

/// Takes from the front; once there is too little, everything fails.
class Taker {
 public:
  explicit Taker(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  void take(T& value) {
    if (bytes_.size() < sizeof value) good_ = false;
    if (!good_) return;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
  }

  void take(Ranks& ranks, std::size_t size) {
    ranks.assign(size, false);
    const std::size_t length = (size + 7) / 8;
    if (bytes_.size() < length) good_ = false;
    if (!good_) return;
    for (std::size_t rank = 0; rank < size; ++rank)
      ranks[rank] = (bytes_[rank / 8] >> rank % 8 & std::byte{1}) != std::byte{};
    bytes_ = bytes_.subspan(length);
  }

  void take(Opinion& opinion, std::size_t size) {
    OpinionHead head;
    take(head);
    opinion.calls = head.calls;
    opinion.flag = head.flag != 0;
    take(opinion.lost, size);
    for (std::uint64_t i = 0; i < head.notes && good_; ++i) {
      std::int64_t from = 0;
      Opinion::Note note;
      take(from);
      take(note.number);
      good_ = good_ && from >= 0 && from < static_cast<std::int64_t>(size);
      note.from = static_cast<Rank>(from);
      opinion.notes.push_back(note);
    }
  }

  bool at_good_end() const { return good_ && bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
  bool good_ = true;
};

}  // namespace

std::vector<std::byte> pack(const AgreementMessage& said) {
  const Agreement::Message& message = said.message;
  const std::size_t size = message.lost.size();
  std::vector<std::byte> bytes;
  put(bytes,
      Head{said.name, static_cast<std::int32_t>(size), message.proposer, static_cast<std::uint32_t>(message.word), 0});
  put(bytes, message.lost, size);
  put(bytes, message.ended, size);
  put(bytes, message.opinion, size);
  put(bytes, message.accepted, size);
  return bytes;
}

std::optional<AgreementMessage> unpack(std::span<const std::byte> bytes) {
  Taker taker(bytes);
  Head head;
  taker.take(head);
  if (head.size < 1 || head.size > host::max_processes || head.proposer < -1 || head.proposer >= head.size ||
      head.word > static_cast<std::uint32_t>(Agreement::Word::decision))
    return std::nullopt;
  const auto size = static_cast<std::size_t>(head.size);
  AgreementMessage said;
  said.name = head.name;
  said.message.word = static_cast<Agreement::Word>(head.word);
  said.message.proposer = head.proposer;
  taker.take(said.message.lost, size);
  taker.take(said.message.ended, size);
  taker.take(said.message.opinion, size);
  taker.take(said.message.accepted, size);
  if (!taker.at_good_end()) return std::nullopt;
  return said;
}

}  // namespace tutti::engine
