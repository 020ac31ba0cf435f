// SPDX-License-Identifier: BSD-3-Clause
// A plan as text. What is accepted survives printing and parsing.
#include <cstdint>
#include <cstdlib>

#include "plan/text.hpp"
#include "tutti/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti;
  try {
    const std::string text = plan::print(plan::parse({reinterpret_cast<const char*>(data), size}));
    if (plan::print(plan::parse(text)) != text) std::abort();
  } catch (const Error& error) {
    if (error.cause() != Cause::usage) std::abort();
  }
  return 0;
}
