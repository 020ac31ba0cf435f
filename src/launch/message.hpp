// SPDX-License-Identifier: BSD-3-Clause
// What is said at the rendezvous. Every message is a header {magic, kind, zero, length} and a body, little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "host/segment.hpp"
#include "launch/secret.hpp"
#include "tutti/types.hpp"

namespace tutti::launch {

inline constexpr std::uint32_t message_magic = 0x31545454;  // "TTT1"
inline constexpr std::size_t header_bytes = 12;
inline constexpr std::size_t longest_key = 128, longest_value = 65536, longest_reason = 1024;
inline constexpr std::size_t longest_host = 256, longest_mask = 1024;
/// The largest job: sockets, pipes and the segment's tables stay reasonable.
inline constexpr int most_ranks = 4096;

/// What a connection is for.
enum class Purpose : std::uint32_t {
  control,   ///< The rank speaks here: joins, uses the store, says bye.
  lifeline,  ///< Nothing is ever said after the welcome; its hang-up ends the process when the launcher dies.
};

/// The first message on a connection. The version stands first and is read before all else: a hello of another version
/// carries nothing else that this one understands.
struct Hello {
  std::uint32_t version = host::wire_version;
  Purpose purpose = Purpose::control;
  Rank rank = 0;
  std::int32_t size = 1;  ///< As the rank believes; it must be the job's.
  std::int32_t pid = 0;   ///< As the rank sees itself, perhaps in another pid namespace: for texts only.
  Secret secret;
};
/// To a control connection: the job, with the segment's descriptor beside it. To a lifeline: no descriptor.
struct Welcome {
  std::int32_t size = 1;
  std::int32_t cores = 1;  ///< That all ranks together may use; one that is bound sees only its own.
  std::uint64_t job = 0;
};
/// The rank has entered the segment and waits for the others.
struct Ready {};
/// All ranks are there.
struct Go {};
/// The end of this connection, and what to do about it. Its form is the same in all versions.
struct Refused {
  std::string reason;
};
/// Key and value for the store. A key can be put once.
struct Put {
  std::uint32_t number = 0;  ///< Comes back with the answer.
  std::string key;
  std::vector<std::byte> value;
};
/// Asks for a value, as soon as it is there.
struct Get {
  std::uint32_t number = 0;
  std::string key;
};
struct Stored {
  std::uint32_t number = 0;
};
struct Value {
  std::uint32_t number = 0;
  std::vector<std::byte> value;
};
/// A put or a get that cannot be done.
struct Failed {
  std::uint32_t number = 0;
  std::string reason;
};
/// The rank leaves in order.
struct Bye {};

/// What a rank of a job over several hosts tells all others about itself.
struct Card {
  std::string host;             ///< The same for those who share memory: 1 to 256 printable characters.
  std::uint64_t door = 0;       ///< It listens at door_address(door), on its host.
  std::int32_t limit = 1;       ///< Cores that its control group and cpuset allow.
  std::vector<std::byte> mask;  ///< Its affinity: bit c of these is core c.
};
/// A rank comes to the store of rank 0, with which it has exchanged greetings: no secret is said here.
struct Join {
  Rank rank = 0;
  std::int32_t size = 1;
  std::int32_t pid = 0;
  Card card;
};
/// All ranks have come: the job, and all cards by rank.
struct Roster {
  std::uint64_t job = 0;
  std::vector<Card> cards;
};
/// To those who have joined, now and then until `Go`: for whom they wait.
struct Waiting {
  std::string reason;
};

/// The position in this list is the kind on the wire.
using Message =
    std::variant<Hello, Welcome, Ready, Go, Refused, Put, Get, Stored, Value, Failed, Bye, Join, Roster, Waiting>;

std::vector<std::byte> serialise(const Message& message);

/// What lies at the start of some bytes.
struct Parsed {
  enum class Outcome { incomplete, malformed, complete };
  Outcome outcome = Outcome::incomplete;
  std::size_t used = 0;  ///< complete: the length of the message.
  Message message;
};
/// Reads one message. Every field is checked: what is complete can be serialised to the same bytes (but for a hello
/// of another version, of which only the version is read). Bytes that can never become a message are malformed at the
/// first that shows it.
Parsed parse(std::span<const std::byte> bytes);

/// Whether a text may be a key: 1 to 128 printable ASCII characters without space.
bool is_key(std::string_view text);

}  // namespace tutti::launch
