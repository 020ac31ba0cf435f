// SPDX-License-Identifier: BSD-3-Clause
#include "tune/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/descriptor.hpp"
#include "base/environment.hpp"
#include "base/utf8.hpp"
#include "tutti/error.hpp"

namespace tutti::tune {

namespace {

constexpr std::string_view first_line = "# tutti table 2\n", machine_line = "# machine: ", last_line = "# end\n";
/// A file that is longer is no table; lines that are longer do not fit into what rank 0 tells the others.
constexpr std::size_t longest_file = 256 << 10, longest_lines = 48 << 10;
constexpr const char* too_long = "is too long: 256 KiB are the most, and 48 KiB without comments";

/// What reading a file gave: its text, or why there is none.
struct Read {
  std::string text, trouble;
  bool missing = false;
  bool others = false;  ///< Belongs to another user.
};

/// Its beginning alone, where there is more.
Read read_file(const std::string& path, std::size_t most) {
  Read found;
  const auto fail = [&](int error) {
    found.trouble = "cannot be read: " + std::string(std::strerror(error));
    found.missing = error == ENOENT || error == ENOTDIR;
    return found;
  };
  const base::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return fail(errno);
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return fail(errno);
  if (!S_ISREG(status.st_mode)) {
    found.trouble = "is no file";
    return found;
  }
  found.others = status.st_uid != geteuid() && status.st_uid != 0;
  char buffer[4096];
  while (found.text.size() < most) {
    const ssize_t n = read(file.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(errno);
    if (n == 0) break;
    found.text.append(buffer, static_cast<std::size_t>(n));
  }
  return found;
}

/// Without comments and blanks at both ends: what a table says.
std::string strip(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = line.substr(0, line.find('#'));
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) continue;
    lines += line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
    lines += '\n';
  }
  return lines;
}

Read read_table(const std::string& path) {
  Read file = read_file(path, longest_file + 1);
  if (file.trouble.empty() && file.text.size() > longest_file) file.trouble = too_long;
  return file;
}

/// What is wrong with the lines; empty when nothing is.
std::string wrong_lines(const std::string& lines) {
  if (lines.size() > longest_lines) return too_long;
  try {
    Table::parse(lines);
    return {};
  } catch (const Error& error) {
    return base::printable(error.what());
  }
}

/// What is wrong with this machine's file; empty when nothing is.
std::string wrong_file(const Read& file, const Machine& machine) {
  if (!file.trouble.empty()) return file.trouble;
  if (file.others) return "belongs to another user";
  const std::string_view text = file.text;
  if (!text.starts_with(first_line)) return "is no table of this version";
  const std::string_view rest = text.substr(first_line.size());
  if (!rest.starts_with(machine_line)) return "does not say what it was measured on";
  const std::string_view other = rest.substr(0, rest.find('\n')).substr(machine_line.size());
  if (other != machine.text()) return "was measured on another machine (" + base::printable(other) + ")";
  if (!text.ends_with(last_line)) return "is not complete";
  return wrong_lines(strip(text));
}

/// The value of the first line "name : value" of /proc/cpuinfo; its first processor alone is looked at.
std::string field(std::string_view text, std::string_view name) {
  text = text.substr(0, text.find("\n\n"));
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !line.starts_with(name)) continue;
    const std::string_view between = line.substr(name.size(), colon - name.size());
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    if (between.find_first_not_of(" \t") == std::string_view::npos && value != std::string_view::npos)
      return base::printable(line.substr(value));
  }
  return {};
}

Source standard(const Machine& machine, std::string why, bool asked_for = false) {
  return {"", "standard", std::move(why), "", machine.conditions(), asked_for};
}

}  // namespace

std::string Machine::text() const {
  return processor + ", " + std::to_string(cores) + (cores == 1 ? " core" : " cores") +
         (single_copy ? ", single copy" : ", no single copy");
}

std::string Machine::key() const {
  constexpr std::size_t longest = 120;
  std::string key;
  for (const char letter : text()) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0)
      key += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    else if (!key.empty() && key.back() != '-')
      key += '-';
  }
  return key.size() > longest ? key.substr(key.size() - longest) : key;
}

std::string processor(const std::string& root) {
  // Of the file, which has a paragraph for each processor, the first is enough.
  const std::string text = read_file(root + "/proc/cpuinfo", 4096).text;
  if (std::string name = field(text, "model name"); !name.empty()) return name;
  const std::string maker = field(text, "CPU implementer"), part = field(text, "CPU part");
  if (!maker.empty()) return "implementer " + maker + " part " + part;
  return "unknown processor";
}

std::string table_path(const Machine& machine) {
  std::string folder = base::variable("XDG_CACHE_HOME");
  if (!folder.starts_with('/')) {
    const std::string home = base::variable("HOME");
    if (!home.starts_with('/')) return {};
    folder = home + "/.cache";
  }
  return folder + "/tutti/" + machine.key() + ".table";
}

std::string file_text(const Machine& machine, std::string_view remarks, std::string_view lines) {
  return std::string(first_line) + std::string(machine_line) + machine.text() + "\n" + std::string(remarks) +
         std::string(lines) + std::string(last_line);
}

Table Source::table(std::string_view first) const {
  Table table = Table::parse(first);
  table.add(lines, !asked_for);
  table.add(Table::standard(conditions), false);
  return table;
}

Source find_table(const Machine& machine) {
  const std::string wanted = base::variable("TUTTI_TABLE");
  if (wanted == "standard") return standard(machine, "TUTTI_TABLE says so", true);
  if (!wanted.empty()) {
    const Read file = read_table(wanted);
    std::string lines = strip(file.text);
    const std::string wrong = file.trouble.empty() ? wrong_lines(lines) : file.trouble;
    if (!wrong.empty())
      throw Error(Cause::usage, "TUTTI_TABLE=" + wanted + ": " + wrong + "; name a file with a table, or \"standard\"");
    return {std::move(lines), wanted, "TUTTI_TABLE names it", "", machine.conditions(), true};
  }
  const std::string path = table_path(machine);
  if (path.empty()) return standard(machine, "neither XDG_CACHE_HOME nor HOME says where this machine's own would be");
  const Read file = read_table(path);
  if (file.missing) return standard(machine, "this machine has not been measured; tutti tune does");
  const std::string wrong = wrong_file(file, machine);
  if (wrong.empty()) return {strip(file.text), path, "measured on this machine", "", machine.conditions()};
  Source source = standard(machine, "this machine's own is ignored");
  source.trouble = path + " " + wrong + "; tutti tune writes it anew";
  return source;
}

}  // namespace tutti::tune
