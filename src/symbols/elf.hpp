// SPDX-License-Identifier: BSD-3-Clause
// As much of an ELF file as it takes to name a function: its segments and its symbols. Any file may stand there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace tutti::symbols {

class Elf {
 public:
  struct Symbol {
    std::string name;
    std::uint64_t offset = 0;  ///< From its start.
  };

  /// What is no ELF file of this machine's kind has no segments and no symbols.
  explicit Elf(base::Descriptor file);

  /// The address that the file gives to one of its bytes.
  std::optional<std::uint64_t> address_of(std::uint64_t file_offset) const;
  /// The function around an address; nothing when the file does not say.
  std::optional<Symbol> function_at(std::uint64_t address) const;

 private:
  struct Segment {
    std::uint64_t offset, address, size;
  };
  struct Table {
    std::uint64_t offset, size, names, names_size;
  };
  void read_segments(std::uint64_t offset, std::uint16_t count);
  void read_sections(std::uint64_t offset, std::uint16_t count);
  std::optional<Symbol> search(const Table& table, std::uint64_t address) const;
  std::string name_at(const Table& table, std::uint64_t offset) const;

  base::Descriptor file_;
  std::vector<Segment> segments_;
  std::vector<Table> tables_;  // the full one first
};

/// C++ names as people write them; others as they are.
std::string demangle(const std::string& name);

}  // namespace tutti::symbols
