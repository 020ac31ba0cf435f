// SPDX-License-Identifier: BSD-3-Clause
#include "symbols/elf.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "base/utf8.hpp"

namespace tutti::symbols {

namespace {

constexpr std::size_t longest_name = 4096, symbols_at_once = 4096;

/// Reads whole elements only; how many there are.
template <class T>
std::size_t read_some(int file, std::uint64_t offset, std::span<T> to) {
  if (offset > std::uint64_t{1} << 62) return 0;
  const ssize_t got = pread(file, to.data(), to.size_bytes(), static_cast<off_t>(offset));
  return got > 0 ? static_cast<std::size_t>(got) / sizeof(T) : 0;
}

bool usable(const Elf64_Ehdr& header) {
  constexpr unsigned char order = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == order && header.e_phentsize == sizeof(Elf64_Phdr);
}

}  // namespace

Elf::Elf(base::Descriptor file) : file_(std::move(file)) {
  Elf64_Ehdr header{};
  if (!file_ || read_some(file_.get(), 0, std::span(&header, 1)) != 1 || !usable(header)) return;
  read_segments(header.e_phoff, header.e_phnum);
  if (header.e_shentsize == sizeof(Elf64_Shdr)) read_sections(header.e_shoff, header.e_shnum);
}

void Elf::read_segments(std::uint64_t offset, std::uint16_t count) {
  std::vector<Elf64_Phdr> headers(count);
  headers.resize(read_some(file_.get(), offset, std::span(headers)));
  for (const Elf64_Phdr& one : headers)
    if (one.p_type == PT_LOAD) segments_.push_back({one.p_offset, one.p_vaddr, one.p_filesz});
}

void Elf::read_sections(std::uint64_t offset, std::uint16_t count) {
  std::vector<Elf64_Shdr> headers(count);
  headers.resize(read_some(file_.get(), offset, std::span(headers)));
  for (const std::uint32_t type : {SHT_SYMTAB, SHT_DYNSYM})
    for (const Elf64_Shdr& one : headers) {
      if (one.sh_type != type || one.sh_link >= headers.size()) continue;
      const Elf64_Shdr& names = headers[one.sh_link];
      tables_.push_back({one.sh_offset, one.sh_size, names.sh_offset, names.sh_size});
    }
}

std::optional<std::uint64_t> Elf::address_of(std::uint64_t file_offset) const {
  for (const Segment& one : segments_)
    if (file_offset >= one.offset && file_offset - one.offset < one.size)
      return one.address + (file_offset - one.offset);
  return std::nullopt;
}

std::optional<Elf::Symbol> Elf::function_at(std::uint64_t address) const {
  for (const Table& table : tables_)
    if (std::optional<Symbol> found = search(table, address)) return found;
  return std::nullopt;
}

std::optional<Elf::Symbol> Elf::search(const Table& table, std::uint64_t address) const {
  std::vector<Elf64_Sym> symbols(symbols_at_once);
  for (std::uint64_t done = 0; done < table.size;) {
    const std::uint64_t left = (table.size - done) / sizeof(Elf64_Sym);
    const auto wanted = std::span(symbols).first(std::min<std::uint64_t>(left, symbols_at_once));
    const std::size_t got = wanted.empty() ? 0 : read_some(file_.get(), table.offset + done, wanted);
    if (got == 0) return std::nullopt;
    for (const Elf64_Sym& one : wanted.first(got))
      if (ELF64_ST_TYPE(one.st_info) == STT_FUNC && one.st_shndx != SHN_UNDEF && address >= one.st_value &&
          address - one.st_value < one.st_size)
        return Symbol{name_at(table, one.st_name), address - one.st_value};
    done += got * sizeof(Elf64_Sym);
  }
  return std::nullopt;
}

std::string Elf::name_at(const Table& table, std::uint64_t offset) const {
  if (offset >= table.names_size) return "?";
  std::array<char, longest_name> text{};
  const auto wanted = std::span(text).first(std::min<std::uint64_t>(longest_name, table.names_size - offset));
  const std::size_t got = read_some(file_.get(), table.names + offset, wanted);
  const std::string name = base::printable({text.data(), strnlen(text.data(), got)});
  return name.empty() ? "?" : name;
}

std::string demangle(const std::string& name) {
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  int status = 0;
  const std::unique_ptr<char, Free> readable(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status));
  return status == 0 && readable ? readable.get() : name;
}

}  // namespace tutti::symbols
