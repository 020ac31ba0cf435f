// SPDX-License-Identifier: BSD-3-Clause
#include "c/guard.hpp"

#include <limits>

#include "c/layout.hpp"
#include "engine/reduction.hpp"

namespace tutti::c {

namespace {

// A type is its number in the low byte; the bytes of an opaque element stand above it.
constexpr int number_bits = 8;
constexpr tutti_type number_mask = (tutti_type{1} << number_bits) - 1;

struct LastError {
  std::string text;
  Rank peer = -1;
};
thread_local LastError last_error;

static_assert(TUTTI_FLOAT64 == static_cast<tutti_type>(Type::float64));
static_assert(TUTTI_COMPLEX128 == static_cast<tutti_type>(Type::complex128));
static_assert(TUTTI_LOCATED_FLOAT64 == static_cast<tutti_type>(Type::located_float64));
static_assert(engine::type_count == TUTTI_LOCATED_FLOAT64 + 1);
static_assert(TUTTI_USAGE == static_cast<int>(Cause::usage) + 1);
static_assert(TUTTI_INTERRUPTED == static_cast<int>(Cause::interrupted) + 1);

}  // namespace

tutti_status remember(Cause cause, const char* text, Rank peer) noexcept {
  last_error.peer = peer;
  try {
    last_error.text = text;
  } catch (const std::bad_alloc&) {
    last_error.text.clear();
  }
  return static_cast<tutti_status>(static_cast<int>(cause) + 1);
}

ElementType other_element_of(tutti_type type) {
  const tutti_type number = type & number_mask, bytes = type >> number_bits;
  if (number == static_cast<tutti_type>(Type::opaque) && bytes >= 1 &&
      bytes <= std::numeric_limits<std::uint32_t>::max())
    return {Type::opaque, static_cast<std::uint32_t>(bytes)};
  if (number == laid_out_number) return laid_out_element(type);
  refuse(std::to_string(type) + " is not a type; pass TUTTI_FLOAT64 and the like, or tutti_type_opaque(bytes)");
}

Reduction reduction_of(const tutti_op& op) {
  if (op.code <= static_cast<int>(Op::none) || op.code > static_cast<int>(Op::user))
    refuse(std::to_string(op.code) + " is not an operation; pass TUTTI_SUM and the like, or one from tutti_op_create");
  const auto code = static_cast<Op>(op.code);
  if (code == Op::user && op.function == nullptr) refuse("the operation has no function; make it by tutti_op_create");
  return {code, op.commutative != 0, op.function, op.context};
}

}  // namespace tutti::c

using namespace tutti;
using namespace tutti::c;

tutti_type tutti_type_opaque(size_t bytes) {
  // Sizes that are none are found when the type is used.
  return bytes <= std::numeric_limits<std::uint32_t>::max() ? static_cast<tutti_type>(bytes) << number_bits : 0;
}

size_t tutti_type_size(tutti_type type) {
  try {
    return element_of(type).bytes;
  } catch (const std::exception&) {
    return 0;
  }
}

tutti_status tutti_op_create(tutti_function function, void* context, int commutative, tutti_op* op) {
  return guarded([&] {
    if (function == nullptr) refuse("tutti_op_create: the function is NULL");
    if (op == nullptr) refuse("tutti_op_create: nowhere to put the operation; pass the address of a tutti_op");
    *op = {static_cast<int32_t>(Op::user), commutative != 0 ? 1 : 0, function, context};
  });
}

const char* tutti_last_error() { return last_error.text.c_str(); }

int32_t tutti_last_error_peer() { return last_error.peer; }

const char* tutti_status_name(tutti_status status) {
  switch (status) {
    case TUTTI_OK:
      return "ok";
    case TUTTI_USAGE:
      return "usage";
    case TUTTI_MISMATCH:
      return "mismatch";
    case TUTTI_PEER_LOST:
      return "peer lost";
    case TUTTI_TIMEOUT:
      return "timeout";
    case TUTTI_BROKEN:
      return "broken";
    case TUTTI_SYSTEM:
      return "system";
    case TUTTI_INTERRUPTED:
      return "interrupted";
  }
  return "unknown";
}

const char* tutti_version() { return TUTTI_VERSION; }
