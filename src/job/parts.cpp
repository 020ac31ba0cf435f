// SPDX-License-Identifier: BSD-3-Clause
#include "tutti/parts.hpp"

#include <string>

#include "base/names.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

std::vector<Count> sizes(std::span<const Part> parts) {
  std::vector<Count> sizes;
  for (const Part& part : parts) sizes.push_back(part.layout.size());
  return sizes;
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

}  // namespace tutti
