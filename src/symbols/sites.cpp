// SPDX-License-Identifier: BSD-3-Clause
#include "symbols/sites.hpp"

#include <fcntl.h>

#include <charconv>
#include <cinttypes>
#include <cstdio>

#include "base/proc.hpp"
#include "base/utf8.hpp"

namespace tutti::symbols {

using base::proc;
using base::read_link;
using base::read_text;

namespace {

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Takes one word, and the spaces before it, off a line.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

bool read_hexadecimal(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::vector<Module> parse_maps(std::string_view text) {
  std::vector<Module> modules;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string_view range = take_word(line), rights = take_word(line), offset = take_word(line);
    take_word(line);  // device
    take_word(line);  // inode
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::size_t dash = range.find('-');
    Module module{.path = std::string(line)};
    if (dash == range.npos || rights.size() < 3 || rights[2] != 'x' || !line.starts_with('/')) continue;
    if (read_hexadecimal(range.substr(0, dash), module.start) && read_hexadecimal(range.substr(dash + 1), module.end) &&
        read_hexadecimal(offset, module.offset) && module.start < module.end)
      modules.push_back(std::move(module));
  }
  return modules;
}

Sites::Sites(pid_t pid) : pid_(pid) {
  if (pid <= 0) return;
  program_ = read_link(proc(pid, "exe"));
  modules_ = parse_maps(read_text(proc(pid, "maps")));
}

const Elf& Sites::file_of(const Module& module) {
  std::unique_ptr<Elf>& file = files_[module.path];
  if (!file) {
    // The program itself can be read even after it was deleted; all else as the process's own root has it.
    const bool is_there = pid_ > 0;
    const std::string path = !is_there                 ? module.path
                             : module.path == program_ ? proc(pid_, "exe")
                                                       : proc(pid_, "root") + module.path;
    file = std::make_unique<Elf>(base::Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)));
  }
  return *file;
}

std::string Sites::name(std::uint64_t address) {
  if (address == 0) return {};
  for (const Module& module : modules_) {
    if (address < module.start || address >= module.end) continue;
    const Elf& file = file_of(module);
    const std::uint64_t in_file = address - module.start + module.offset;
    const std::string name = base::printable(last_part(module.path));
    const std::uint64_t place = file.address_of(in_file).value_or(in_file);
    if (const auto symbol = file.function_at(place))
      return name + ": " + demangle(symbol->name) + "+" + hexadecimal(symbol->offset);
    return name + "+" + hexadecimal(place);
  }
  return hexadecimal(address);
}

}  // namespace tutti::symbols
