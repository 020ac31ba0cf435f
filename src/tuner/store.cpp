// SPDX-License-Identifier: BSD-3-Clause
#include "tuner/store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/descriptor.hpp"
#include "base/words.hpp"
#include "collectives/collective.hpp"
#include "tutti/error.hpp"

namespace tutti::tuner {

namespace {

/// Of measurements: far more than any machine has.
constexpr std::uintmax_t longest = 256 << 20;

[[noreturn]] void refuse(const std::string& path, int error) {
  throw Error(Cause::system, "cannot write " + path + ": " + std::strerror(error) +
                                 "; set XDG_CACHE_HOME to a folder that can be written");
}

/// 0, or what the system said.
int write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(file, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return errno;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return fchmod(file, 0644) == 0 && fsync(file) == 0 ? 0 : errno;
}

/// A new file in the same folder, which is made if need be.
base::Descriptor make_beside(const std::string& path, std::string& name) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  if (failed) refuse(path, failed.value());
  name = path + ".XXXXXX";
  base::Descriptor file(mkostemp(name.data(), O_CLOEXEC));
  if (!file) refuse(path, errno);
  return file;
}

/// Of one writer of both files: until it is closed, others wait here. Where a file system has no locks, nobody does.
base::Descriptor lock_of(const std::string& table_path) {
  const std::string path = std::filesystem::path(table_path).replace_extension(".lock").string();
  base::Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0644));
  if (!file) refuse(path, errno);
  while (flock(file.get(), LOCK_EX) != 0 && errno == EINTR) continue;
  return file;
}

void save(const std::string& table_path, const tune::Machine& machine, const Measurements& measurements,
          const std::string& lines) {
  std::string remarks = "# measured: " + measurements.date + " by tutti " + measurements.version + "\n";
  for (const std::string& remark : measurements.remarks) remarks += "# " + remark + "\n";
  remarks += "# behind it: " + std::filesystem::path(measurements_path(table_path)).filename().string() + "\n";
  remarks += "# collective bytes ranks algorithm\n";
  write_file(measurements_path(table_path), to_json(measurements));
  write_file(table_path, tune::file_text(machine, remarks, lines));
}

}  // namespace

std::string measurements_path(const std::string& table_path) {
  return std::filesystem::path(table_path).replace_extension(".json").string();
}

void write_file(const std::string& path, const std::string& text) {
  std::string temporary;
  const base::Descriptor file = make_beside(path, temporary);
  int error = write_all(file.get(), text);
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  unlink(temporary.c_str());
  refuse(path, error);
}

void require_place(const std::string& path) {
  std::string temporary;
  make_beside(path, temporary);
  unlink(temporary.c_str());
}

Measurements read_measurements(const std::string& path, const tune::Machine& machine, std::string& trouble) {
  trouble.clear();
  const auto unused = [&](const std::string& why) {
    trouble = path + why + "; it is not used";
    return Measurements();
  };
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (status.type() == std::filesystem::file_type::not_found) return {};
  if (failed || status.type() != std::filesystem::file_type::regular) return unused(" is no file");
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::file_size(path, failed) > longest || failed) return unused(" cannot be read");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  try {
    Measurements found = from_json(text);
    if (found.machine != machine.text()) return unused(" was measured on another machine");
    std::string without;
    for (const Kind kind : drop_unknown(found)) base::add_word(without, name_of(kind));
    if (!without.empty())
      trouble = path + " has algorithms that this version of Tutti does not have; they are left out (" + without + ")";
    return found;
  } catch (const Error& error) {
    return unused(std::string(": ") + error.what());
  }
}

Measurements add_to_saved(const std::string& table_path, const tune::Machine& machine, const Measurements& newer,
                          const std::function<std::string(const Measurements&)>& lines_of, std::string& trouble) {
  require_place(table_path);
  const base::Descriptor lock = lock_of(table_path);
  Measurements all = read_measurements(measurements_path(table_path), machine, trouble);
  all.add(newer);
  save(table_path, machine, all, lines_of(all));
  return all;
}

}  // namespace tutti::tuner
