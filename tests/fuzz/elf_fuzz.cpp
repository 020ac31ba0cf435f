// SPDX-License-Identifier: BSD-3-Clause
// A file that a rank has mapped to run. Input: the place that is asked for, then the file; the same bytes also as the
// list of mappings.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "symbols/elf.hpp"
#include "symbols/sites.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti::symbols;
  if (size < 8) return 0;
  std::uint64_t place = 0;
  std::memcpy(&place, data, sizeof place);
  tutti::base::Descriptor file(memfd_create("fuzz", MFD_CLOEXEC));
  if (write(file.get(), data + 8, size - 8) < 0) std::abort();
  const Elf elf(std::move(file));
  for (const std::uint64_t address : {place, elf.address_of(place).value_or(0)})
    if (const auto symbol = elf.function_at(address)) {
      if (symbol->name.empty() || symbol->offset > address || demangle(symbol->name).empty()) std::abort();
    }
  for (const Module& module : parse_maps({reinterpret_cast<const char*>(data), size}))
    if (module.start >= module.end || module.path.empty()) std::abort();
  return 0;
}
