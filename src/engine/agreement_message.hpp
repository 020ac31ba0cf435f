// SPDX-License-Identifier: BSD-3-Clause
// What members of an agreement write to each other, as bytes.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/agreement.hpp"

namespace tutti::engine {

/// Which agreement: of which group, and the how manieth of it.
struct AgreementName {
  std::uint64_t context = 0, number = 0;
  auto operator<=>(const AgreementName&) const = default;
};

struct AgreementMessage {
  AgreementName name;
  Agreement::Message message;
};

/// Bytes of one, of the largest group, and with notes of all its ranks.
inline constexpr std::size_t longest_agreement_message = std::size_t{4} << 20;
std::vector<std::byte> pack(const AgreementMessage& said);
/// Nothing when these bytes are none. All its sets are of one size, that of the sender's group.
std::optional<AgreementMessage> unpack(std::span<const std::byte> bytes);

}  // namespace tutti::engine
