// SPDX-License-Identifier: BSD-3-Clause
// Where one host's part of a job is looked at: the file of its shared memory, and what the kernel says of its
// processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "host/holder.hpp"
#include "host/segment.hpp"
#include "host/system_call.hpp"
#include "launch/conversation.hpp"

namespace tutti::diagnose {

class Source {
 public:
  virtual ~Source() = default;
  /// Bytes of the memory; 0: it is none.
  virtual std::uint64_t bytes() const = 0;
  /// Reads all of it; false where there is not so much.
  virtual bool read(host::Offset offset, std::span<std::byte> to) const = 0;
  /// The first place from there on where anything was ever written; where there is none, the end.
  virtual host::Offset data_from(host::Offset offset) const = 0;
  /// By the host's monotonic clock.
  virtual std::uint64_t now() const = 0;
  virtual host::Holder holder(Rank place) const = 0;
  /// What the process sleeps for, where that can be told.
  virtual std::optional<host::SystemCall> system_call(Rank place) const = 0;
};

/// Of this host.
class File final : public Source {
 public:
  /// The descriptor must outlive it.
  explicit File(int descriptor) : descriptor_(descriptor) {}
  std::uint64_t bytes() const override;
  bool read(host::Offset offset, std::span<std::byte> to) const override;
  host::Offset data_from(host::Offset offset) const override;
  std::uint64_t now() const override;
  host::Holder holder(Rank place) const override { return host::holder_of(descriptor_, place); }
  std::optional<host::SystemCall> system_call(Rank place) const override {
    return host::system_call_of(holder(place).pid);
  }

 private:
  int descriptor_;
};

/// Of another host, through the window of one of its ranks. Everything throws Error (system, timeout) when that is
/// gone.
class Window final : public Source {
 public:
  /// A connection with it, which has proved who it is.
  explicit Window(base::Descriptor socket);
  std::uint64_t bytes() const override { return number("bytes"); }
  bool read(host::Offset offset, std::span<std::byte> to) const override;
  host::Offset data_from(host::Offset offset) const override { return number("data/" + std::to_string(offset)); }
  std::uint64_t now() const override { return number("now"); }
  host::Holder holder(Rank place) const override;
  std::optional<host::SystemCall> system_call(Rank place) const override;
  /// The host's name.
  std::string host() const;
  /// As launch::Window has it.
  std::string maps(Rank place) const;

 private:
  std::vector<std::byte> ask(const std::string& question) const;
  std::string text(const std::string& question) const;
  std::uint64_t number(const std::string& question) const;

  mutable launch::Conversation window_;
  mutable std::uint32_t asked_ = 0;
};

}  // namespace tutti::diagnose
