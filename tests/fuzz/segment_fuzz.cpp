// SPDX-License-Identifier: BSD-3-Clause
// A segment that another process hands over. Input: how the file is made (a byte), its size, the header's first bytes;
// then places that are asked for in what was accepted.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>

#include "host/segment.hpp"
#include "tutti/error.hpp"

namespace {

using namespace tutti;
using namespace tutti::host;

constexpr std::uint64_t job = 77;
constexpr std::size_t head = 64;  // of the header's bytes, those that are read
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/// Everything lies inside the file, one part behind the other.
bool sound(const Header& header, std::uint64_t file_size) {
  return header.capacity == file_size && header.processes >= sizeof(Header) &&
         header.links >= header.processes + static_cast<Offset>(header.size) * sizeof(Process) &&
         header.pairs >= header.links + file_size / page * sizeof(std::uint64_t) &&
         header.heap >= header.pairs + pair_area_bytes(header.size) && header.heap <= file_size - least_heap;
}

enum How : std::uint8_t { good, unsealed, too_short, pipe_end, nothing };

int make_file(How how, std::uint64_t size, std::span<const std::byte> bytes) {
  int ends[2];
  if (how == nothing) return -1;
  if (how == pipe_end) return pipe(ends) == 0 && close(ends[1]) == 0 ? ends[0] : -1;
  const int file = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0 || pwrite(file, bytes.data(), bytes.size(), 0) < 0) std::abort();
  if (ftruncate(file, how == too_short ? 10 : static_cast<off_t>(size)) != 0) std::abort();
  if (how != unsealed && fcntl(file, F_ADD_SEALS, seals) != 0) std::abort();
  return file;
}

/// What is handed out can be written, and lies inside; what is outside is refused.
void ask(Segment& segment, std::span<const std::uint8_t> data) {
  for (; data.size() >= 16; data = data.subspan(16)) {
    std::uint64_t offset = 0, bytes = 0;
    std::memcpy(&offset, data.data(), 8);
    std::memcpy(&bytes, data.data() + 8, 8);
    const bool inside = offset < segment.capacity() && bytes <= segment.capacity() - offset;
    try {
      std::byte* const at = segment.at(offset, bytes);
      if (!inside) std::abort();
      if (bytes > 0) at[0] = at[bytes - 1] = std::byte{1};
    } catch (const Error& error) {
      // A mapping of terabytes may be refused.
      if (inside && bytes < std::uint64_t{1} << 32) std::abort();
    }
  }
}

bool refuses(int size, Cause cause) {
  try {
    Segment::create(size, job);
  } catch (const Error& error) {
    return error.cause() == cause;
  }
  return false;
}

/// Under a limit of the file size a segment is smaller, or refused when nothing useful fits.
bool limits_work() {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit enough{std::uint64_t{1} << 30, before.rlim_max}, little{std::uint64_t{1} << 20, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &enough);
  const bool smaller = Segment::create(3, job)->capacity() == enough.rlim_cur;
  setrlimit(RLIMIT_FSIZE, &little);
  const bool refused = refuses(3, Cause::system);
  setrlimit(RLIMIT_FSIZE, &before);
  return smaller && refused && refuses(0, Cause::usage) && refuses(max_processes + 1, Cause::usage);
}

/// What this very library makes is accepted by it.
bool own_segments_work() {
  const auto made = Segment::create(3, job);
  const auto found = Segment::attach(dup(made->descriptor()), job);
  return found->size() == 3 && found->capacity() == made->capacity() && Segment::local(3, job)->size() == 3;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool works = own_segments_work() && limits_work();
  if (!works) std::abort();
  if (size < 9) return 0;
  const auto how = static_cast<How>(data[0] % 8);
  std::uint64_t file_size = 0;
  std::memcpy(&file_size, data + 1, sizeof file_size);
  const auto rest = std::as_bytes(std::span(data + 9, size - 9));
  alignas(Header) std::byte bytes[sizeof(Header)] = {};
  std::copy_n(rest.begin(), std::min(rest.size(), head), bytes);
  const Header& header = *std::launder(reinterpret_cast<const Header*>(bytes));
  const bool accepted = check(header, file_size, job).empty();
  if (accepted && !sound(header, file_size)) std::abort();
  if (file_size > std::uint64_t{1} << 40) return 0;  // a file of that size costs too much
  const int file = make_file(how, file_size, std::span(bytes).first(head));
  try {
    const auto segment = Segment::attach(file, job);
    if (!accepted || how == unsealed || how == too_short || how == pipe_end || how == nothing) std::abort();
    if (size > 9 + head) ask(*segment, {data + 9 + head, size - 9 - head});
  } catch (const Error& error) {
    if (error.cause() != Cause::system || (accepted && (how == good || how > nothing))) std::abort();
  }
  return 0;
}
