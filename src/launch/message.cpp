// SPDX-License-Identifier: BSD-3-Clause
#include "launch/message.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <optional>
#include <string_view>

namespace tutti::launch {

namespace {

constexpr std::size_t longest_foreign_hello = 4096;

class Writer {
 public:
  template <std::unsigned_integral T>
  void number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void raw(std::span<const std::byte> bytes) {
    for (const std::byte b : bytes) bytes_.push_back(b);
  }
  void text(std::string_view text) { raw(std::as_bytes(std::span(text))); }
  void key(std::string_view key) {
    number(static_cast<std::uint16_t>(key.size()));
    text(key);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Takes fields off the front; a field that is not there makes it bad for good.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <std::unsigned_integral T>
  T number() {
    T value = 0;
    const auto field = take(sizeof(T));
    for (std::size_t i = 0; i < field.size(); ++i)
      value = static_cast<T>(value | static_cast<T>(std::to_integer<T>(field[i]) << (8 * i)));
    return value;
  }
  std::span<const std::byte> take(std::size_t size) {
    if (size > bytes_.size()) {
      good_ = false;
      return {};
    }
    const auto front = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return front;
  }
  std::span<const std::byte> rest() { return take(bytes_.size()); }
  void check(bool condition) { good_ = good_ && condition; }
  bool good() const { return good_; }
  /// All fields were there, and nothing is left over.
  bool done() const { return good_ && bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
  bool good_ = true;
};

std::string to_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A text for people: what a terminal would obey is not text.
bool is_reason(std::string_view text) {
  return !text.empty() && text.size() <= longest_reason &&
         std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; });
}

void write(Writer& writer, const Hello& hello) {
  writer.number(hello.version);
  writer.number(static_cast<std::uint32_t>(hello.purpose));
  writer.number(static_cast<std::uint32_t>(hello.rank));
  writer.number(static_cast<std::uint32_t>(hello.size));
  writer.number(static_cast<std::uint32_t>(hello.pid));
  writer.raw(hello.secret.bytes);
}
void write(Writer& writer, const Welcome& welcome) {
  writer.number(static_cast<std::uint32_t>(welcome.size));
  writer.number(static_cast<std::uint32_t>(welcome.cores));
  writer.number(welcome.job);
}
void write(Writer&, const Ready&) {}
void write(Writer&, const Go&) {}
void write(Writer& writer, const Refused& refused) { writer.text(refused.reason); }
void write(Writer& writer, const Put& put) {
  writer.number(put.number);
  writer.key(put.key);
  writer.raw(put.value);
}
void write(Writer& writer, const Get& get) {
  writer.number(get.number);
  writer.key(get.key);
}
void write(Writer& writer, const Stored& stored) { writer.number(stored.number); }
void write(Writer& writer, const Value& value) {
  writer.number(value.number);
  writer.raw(value.value);
}
void write(Writer& writer, const Failed& failed) {
  writer.number(failed.number);
  writer.text(failed.reason);
}
void write(Writer&, const Bye&) {}
void write(Writer& writer, const Card& card) {
  writer.key(card.host);
  writer.number(card.door);
  writer.number(static_cast<std::uint32_t>(card.limit));
  writer.number(static_cast<std::uint16_t>(card.mask.size()));
  writer.raw(card.mask);
}
void write(Writer& writer, const Join& join) {
  writer.number(static_cast<std::uint32_t>(join.rank));
  writer.number(static_cast<std::uint32_t>(join.size));
  writer.number(static_cast<std::uint32_t>(join.pid));
  write(writer, join.card);
}
void write(Writer& writer, const Roster& roster) {
  writer.number(roster.job);
  writer.number(static_cast<std::uint32_t>(roster.cards.size()));
  for (const Card& card : roster.cards) write(writer, card);
}
void write(Writer& writer, const Waiting& waiting) { writer.text(waiting.reason); }

void read(Reader& reader, Hello& hello) {
  hello.version = reader.number<std::uint32_t>();
  if (hello.version != host::wire_version) {
    reader.rest();
    return;
  }
  const auto purpose = reader.number<std::uint32_t>();
  reader.check(purpose <= static_cast<std::uint32_t>(Purpose::lifeline));
  hello.purpose = static_cast<Purpose>(purpose);
  hello.rank = static_cast<Rank>(reader.number<std::uint32_t>());
  hello.size = static_cast<std::int32_t>(reader.number<std::uint32_t>());
  hello.pid = static_cast<std::int32_t>(reader.number<std::uint32_t>());
  reader.check(hello.rank >= 0 && hello.rank < hello.size && hello.pid > 0);
  std::ranges::copy(reader.take(hello.secret.bytes.size()), hello.secret.bytes.begin());
}
void read(Reader& reader, Welcome& welcome) {
  welcome.size = static_cast<std::int32_t>(reader.number<std::uint32_t>());
  welcome.cores = static_cast<std::int32_t>(reader.number<std::uint32_t>());
  welcome.job = reader.number<std::uint64_t>();
  reader.check(welcome.size > 0 && welcome.cores > 0);
}
void read(Reader&, Ready&) {}
void read(Reader&, Go&) {}
void read_reason(Reader& reader, std::string& reason) {
  reason = to_text(reader.rest());
  reader.check(is_reason(reason));
}
void read_key(Reader& reader, std::string& key) {
  const auto length = reader.number<std::uint16_t>();
  key = to_text(reader.take(length));
  reader.check(is_key(key));
}
void read_value(Reader& reader, std::vector<std::byte>& value) {
  const auto bytes = reader.rest();
  reader.check(bytes.size() <= longest_value);
  value.assign(bytes.begin(), bytes.end());
}
void read(Reader& reader, Refused& refused) { read_reason(reader, refused.reason); }
void read(Reader& reader, Put& put) {
  put.number = reader.number<std::uint32_t>();
  read_key(reader, put.key);
  read_value(reader, put.value);
}
void read(Reader& reader, Get& get) {
  get.number = reader.number<std::uint32_t>();
  read_key(reader, get.key);
}
void read(Reader& reader, Stored& stored) { stored.number = reader.number<std::uint32_t>(); }
void read(Reader& reader, Value& value) {
  value.number = reader.number<std::uint32_t>();
  read_value(reader, value.value);
}
void read(Reader& reader, Failed& failed) {
  failed.number = reader.number<std::uint32_t>();
  read_reason(reader, failed.reason);
}
void read(Reader&, Bye&) {}
void read(Reader& reader, Card& card) {
  card.host = to_text(reader.take(reader.number<std::uint16_t>()));
  reader.check(card.host.size() <= longest_host && is_reason(card.host));
  card.door = reader.number<std::uint64_t>();
  card.limit = static_cast<std::int32_t>(reader.number<std::uint32_t>());
  reader.check(card.limit > 0);
  const auto mask = reader.take(reader.number<std::uint16_t>());
  reader.check(mask.size() <= longest_mask);
  card.mask.assign(mask.begin(), mask.end());
}
void read(Reader& reader, Join& join) {
  join.rank = static_cast<Rank>(reader.number<std::uint32_t>());
  join.size = static_cast<std::int32_t>(reader.number<std::uint32_t>());
  join.pid = static_cast<std::int32_t>(reader.number<std::uint32_t>());
  reader.check(join.rank >= 0 && join.rank < join.size && join.pid > 0);
  read(reader, join.card);
}
void read(Reader& reader, Roster& roster) {
  roster.job = reader.number<std::uint64_t>();
  const auto count = reader.number<std::uint32_t>();
  reader.check(count > 0 && count <= most_ranks);
  for (std::uint32_t i = 0; i < count && reader.good(); ++i) read(reader, roster.cards.emplace_back());
}
void read(Reader& reader, Waiting& waiting) { read_reason(reader, waiting.reason); }

constexpr std::size_t least_card = 2 + 1 + 8 + 4 + 2, longest_card = least_card - 1 + longest_host + longest_mask;

struct Lengths {
  std::size_t least, most;
};
/// By kind: a body outside is refused before it is waited for.
constexpr std::array<Lengths, std::variant_size_v<Message>> lengths{{
    {4, longest_foreign_hello},                        // Hello
    {16, 16},                                          // Welcome
    {0, 0},                                            // Ready
    {0, 0},                                            // Go
    {1, longest_reason},                               // Refused
    {4 + 2 + 1, 4 + 2 + longest_key + longest_value},  // Put
    {4 + 2 + 1, 4 + 2 + longest_key},                  // Get
    {4, 4},                                            // Stored
    {4, 4 + longest_value},                            // Value
    {4 + 1, 4 + longest_reason},                       // Failed
    {0, 0},                                            // Bye
    {12 + least_card, 12 + longest_card},              // Join
    {12 + least_card, 12 + most_ranks* longest_card},  // Roster
    {1, longest_reason},                               // Waiting
}};

template <std::size_t kind = 0>
std::optional<Message> parse_body(std::size_t wanted, std::span<const std::byte> body) {
  if constexpr (kind < std::variant_size_v<Message>) {
    if (kind != wanted) return parse_body<kind + 1>(wanted, body);
    Reader reader(body);
    std::variant_alternative_t<kind, Message> content;
    read(reader, content);
    if (reader.done()) return Message(std::move(content));
  }
  return std::nullopt;
}

bool could_be_header(std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 4); ++i)
    if (bytes[i] != static_cast<std::byte>(message_magic >> (8 * i))) return false;
  return true;
}

Parsed malformed() { return {Parsed::Outcome::malformed, 0, {}}; }

}  // namespace

bool is_key(std::string_view text) {
  return !text.empty() && text.size() <= longest_key &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

std::vector<std::byte> serialise(const Message& message) {
  Writer body;
  std::visit([&](const auto& content) { write(body, content); }, message);
  const std::vector<std::byte> bytes = body.take();
  Writer writer;
  writer.number(message_magic);
  writer.number(static_cast<std::uint16_t>(message.index()));
  writer.number(std::uint16_t{0});
  writer.number(static_cast<std::uint32_t>(bytes.size()));
  writer.raw(bytes);
  return writer.take();
}

Parsed parse(std::span<const std::byte> bytes) {
  if (!could_be_header(bytes)) return malformed();
  if (bytes.size() < header_bytes) return {};
  Reader header(bytes.subspan(4));
  const auto kind = header.number<std::uint16_t>(), zero = header.number<std::uint16_t>();
  const auto length = header.number<std::uint32_t>();
  if (kind >= lengths.size() || zero != 0 || length < lengths[kind].least || length > lengths[kind].most)
    return malformed();
  if (bytes.size() - header_bytes < length) return {};
  std::optional<Message> message = parse_body(kind, bytes.subspan(header_bytes, length));
  if (!message) return malformed();
  return {Parsed::Outcome::complete, header_bytes + length, std::move(*message)};
}

}  // namespace tutti::launch
