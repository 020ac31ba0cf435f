// SPDX-License-Identifier: BSD-3-Clause
#include "diagnose/proc.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <set>

#include "base/utf8.hpp"

namespace tutti::diagnose {

namespace {

constexpr std::string_view segment_link = "/memfd:tutti (deleted)";
constexpr std::size_t longest_command = 80;

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

/// The names in a folder; errno says why there are none.
std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  errno = 0;
  const std::unique_ptr<DIR, CloseFolder> folder(opendir(path.c_str()));
  if (!folder) return names;
  while (const dirent* entry = readdir(folder.get()))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  errno = 0;
  return names;
}

}  // namespace

std::vector<pid_t> all_processes() {
  std::vector<pid_t> found;
  for (const std::string& name : names_in("/proc")) {
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && end == name.data() + name.size()) found.push_back(pid);
  }
  std::ranges::sort(found);
  return found;
}

std::string command_of(pid_t pid) {
  std::string text = read_text(proc(pid, "cmdline"));
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::ranges::replace_if(
      text, [](char letter) { return static_cast<unsigned char>(letter) < 0x20; }, ' ');
  if (text.size() > longest_command) text.replace(longest_command - 3, text.npos, "...");
  return base::printable(text);
}

Access open_segments(pid_t pid, const std::function<void(base::Descriptor)>& use) {
  std::set<std::pair<dev_t, ino_t>> seen;
  // A process that has closed all its descriptors still has its mappings, which only root may open.
  for (const char* folder : {"fd", "map_files"}) {
    const std::string path = proc(pid, folder);
    const std::vector<std::string> names = names_in(path);
    if (errno == EACCES || errno == EPERM) return Access::denied;
    if (errno != 0) return Access::gone;
    for (const std::string& name : names) {
      std::string link = path;
      link.append("/").append(name);
      if (read_link(link) != segment_link) continue;
      base::Descriptor file(open(link.c_str(), O_RDONLY | O_CLOEXEC));
      struct stat status {};
      if (file && fstat(file.get(), &status) == 0 && seen.insert({status.st_dev, status.st_ino}).second)
        use(std::move(file));
    }
    if (!seen.empty()) break;
  }
  return Access::open;
}

}  // namespace tutti::diagnose
