// SPDX-License-Identifier: BSD-3-Clause
#include "tutti/parts.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/names.hpp"
#include "tutti/buffers.hpp"
#include "tutti/error.hpp"
#include "tutti/group.hpp"

namespace tutti {
namespace {

std::vector<Count> sizes(std::span<const Part> parts) {
  std::vector<Count> sizes;
  for (const Part& part : parts) sizes.push_back(part.layout.size());
  return sizes;
}

struct Extent {
  std::uintptr_t begin, end;
  bool sent;
};

/// Nobody has checked the numbers yet: they may wrap around.
void add_blocks(std::vector<Extent>& to, const void* memory, std::span<const Count> counts,
                std::span<const Count> offsets, std::size_t element, bool sent) {
  std::uintptr_t next = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto count = static_cast<std::uintptr_t>(counts[i]);
    const std::uintptr_t first = offsets.empty() ? next : static_cast<std::uintptr_t>(offsets[i]);
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(memory) + first * element;
    if (counts[i] > 0) to.push_back({begin, begin + count * element, sent});
    next = first + count;
  }
}

}  // namespace

PartsCall::PartsCall(Kind kind, const void* in, std::span<const Part> send, void* out, std::span<const Part> recv)
    : input_(Layout::mixed(send)), output_(Layout::mixed(recv)), send_counts_(sizes(send)), recv_counts_(sizes(recv)) {
  call_.kind = kind;
  call_.in_place = kind == Kind::alltoallw && send.empty() && !recv.empty();
  call_.input = in;
  call_.output = out;
  call_.input_layout = &input_;
  call_.output_layout = &output_;
  call_.send_counts = call_.in_place ? recv_counts_ : send_counts_;
  call_.recv_counts = recv_counts_;
}

void PartsCall::expect_inside(const char* which, std::span<const Part> parts, std::size_t bytes) const {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Layout& layout = parts[i].layout;
    const Count begin = parts[i].offset + layout.begin(), end = parts[i].offset + layout.end();
    if (layout.size() > 0 && (begin < 0 || end > static_cast<Count>(bytes)))
      throw Error(Cause::usage, std::string(name_of(call_.kind)) + ": part " + std::to_string(i) + " touches bytes " +
                                    std::to_string(begin) + " to " + std::to_string(end) + ", outside `" + which +
                                    "`, which has " + std::to_string(bytes) + " bytes");
  }
}

void detail::expect_apart(const Call& call) {
  const bool laid_out = call.input_layout != nullptr || call.output_layout != nullptr;
  if (laid_out || call.send_counts.empty() || call.recv_counts.empty()) refuse_crossing(call.kind);
  const auto incomplete = [](std::span<const Count> counts, std::span<const Count> offsets) {
    return !offsets.empty() && offsets.size() < counts.size();
  };
  if (incomplete(call.send_counts, call.send_offsets) || incomplete(call.recv_counts, call.recv_offsets))
    return;  // refused later
  std::vector<Extent> blocks;
  add_blocks(blocks, call.input, call.send_counts, call.send_offsets, call.element, true);
  add_blocks(blocks, call.output, call.recv_counts, call.recv_offsets, call.element, false);
  std::ranges::sort(blocks, {}, &Extent::begin);
  std::uintptr_t sent = 0, received = 0;  // up to where those before reach
  for (const Extent& block : blocks) {
    if (block.begin < (block.sent ? received : sent)) refuse_crossing(call.kind);
    std::uintptr_t& reach = block.sent ? sent : received;
    reach = std::max(reach, block.end);
  }
}

void detail::refuse_crossing(Kind kind) {
  throw Error(Cause::usage,
              std::string(name_of(kind)) +
                  ": in and out overlap; pass separate buffers, or to work in place the same memory, laid out alike, "
                  "as both (where one has everybody's blocks, this rank's own block of it as the other)");
}

}  // namespace tutti
