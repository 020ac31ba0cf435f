// SPDX-License-Identifier: BSD-3-Clause
#include "reductions.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/hash.hpp"
#include "datatypes.hpp"
#include "failure.hpp"
#include "real.hpp"

namespace tutti::mpi {
namespace {

/// What MPI allows to combine with what (MPI 4.1, 6.9.2).
enum class Family : std::uint8_t { integer, byte, logical, floating, complex, pair };

struct Known {
  Type type;
  Family family;
};

Type integer_type(Count bytes, bool with_sign) {
  const Type first = with_sign ? Type::int8 : Type::uint8;
  const int width = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
  return static_cast<Type>(static_cast<int>(first) + width);
}

class Tables {
 public:
  Tables() {
    for (const MPI_Datatype type : {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T,
                                    MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_INTEGER,
                                    MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8})
      integer(type, true);
    // MPI forbids to add characters up (4.1, 6.9.2); MPIs and their users do.
    integer(MPI_CHAR, std::numeric_limits<char>::is_signed);
    for (const MPI_Datatype type : {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
                                    MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T})
      integer(type, false);
    add(MPI_BYTE, 1, Type::uint8, Family::byte);
    add(MPI_C_BOOL, 1, Type::boolean, Family::logical);
    for (const MPI_Datatype type : {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8}) {
      add(type, 4, Type::float32, Family::floating);
      add(type, 8, Type::float64, Family::floating);
    }
    for (const MPI_Datatype type :
         {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16}) {
      add(type, 8, Type::complex64, Family::complex);
      add(type, 16, Type::complex128, Family::complex);
    }
    foreign(MPI_LOGICAL, Family::logical);
    foreign(MPI_LONG_DOUBLE, Family::floating);
    foreign(MPI_C_LONG_DOUBLE_COMPLEX, Family::complex);
    for (const MPI_Datatype type : {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT,
                                    MPI_LONG_DOUBLE_INT, MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_2INTEGER})
      foreign(type, Family::pair);
    ops_ = {
        {number_of(MPI_SUM), Op::sum},      {number_of(MPI_PROD), Op::prod},     {number_of(MPI_MIN), Op::min},
        {number_of(MPI_MAX), Op::max},      {number_of(MPI_LAND), Op::land},     {number_of(MPI_LOR), Op::lor},
        {number_of(MPI_LXOR), Op::lxor},    {number_of(MPI_BAND), Op::band},     {number_of(MPI_BOR), Op::bor},
        {number_of(MPI_BXOR), Op::bxor},    {number_of(MPI_MINLOC), Op::minloc}, {number_of(MPI_MAXLOC), Op::maxloc},
        {number_of(MPI_REPLACE), Op::none}, {number_of(MPI_NO_OP), Op::none},    {number_of(MPI_OP_NULL), Op::none}};
  }

  const Known* type(MPI_Datatype type) const {
    const auto found = types_.find(number_of(type));
    return found == types_.end() ? nullptr : &found->second;
  }
  const Op* op(MPI_Op op) const {
    const auto found = ops_.find(number_of(op));
    return found == ops_.end() ? nullptr : &found->second;
  }

 private:
  /// A datatype that this MPI lacks has no size, or is none at all.
  void add(MPI_Datatype type, Count bytes, Type as, Family family) {
    MPI_Count size = 0;
    if (type == MPI_DATATYPE_NULL || real.Type_size_x(type, &size) != MPI_SUCCESS || size != bytes) return;
    types_.insert_or_assign(number_of(type), Known{as, family});
  }
  void integer(MPI_Datatype type, bool with_sign) {
    for (const Count bytes : {1, 2, 4, 8}) add(type, bytes, integer_type(bytes, with_sign), Family::integer);
  }
  /// Elements that only the MPI can combine.
  void foreign(MPI_Datatype type, Family family) {
    if (type != MPI_DATATYPE_NULL) types_.insert_or_assign(number_of(type), Known{Type::opaque, family});
  }

  std::unordered_map<std::uintptr_t, Known> types_;
  std::unordered_map<std::uintptr_t, Op> ops_;
};

const Tables& tables() {
  static const Tables& all = *std::make_unique<Tables>().release();
  return all;
}

bool allowed(Op op, Family family) {
  const bool arithmetic = op == Op::sum || op == Op::prod, order = op == Op::min || op == Op::max,
             logic = op == Op::land || op == Op::lor || op == Op::lxor,
             bits = op == Op::band || op == Op::bor || op == Op::bxor;
  switch (family) {
    case Family::integer:
      return arithmetic || order || logic || bits;
    case Family::byte:
      return bits;
    case Family::logical:
      return logic;
    case Family::floating:
      return arithmetic || order;
    case Family::complex:
      return arithmetic;
    case Family::pair:
      return op == Op::minloc || op == Op::maxloc;
  }
  return false;
}

void reduce_by_mpi(const void* in, void* inout, Count n, void* context) {
  const auto& foreign = *static_cast<const Foreign*>(context);
  const auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(inout);
  while (n > 0) {
    const Count piece = std::min<Count>(n, std::numeric_limits<int>::max());
    real.Reduce_local(from, to, static_cast<int>(piece), foreign.type, foreign.op);
    from += static_cast<std::size_t>(piece) * foreign.element;
    to += static_cast<std::size_t>(piece) * foreign.element;
    n -= piece;
  }
}

/// One for each pair, kept for ever: operations that use it may outlive the call.
Foreign* foreign_operation(MPI_Op op, MPI_Datatype type, std::size_t element) {
  static std::mutex& lock = *std::make_unique<std::mutex>().release();
  using Key = std::tuple<std::uintptr_t, std::uintptr_t, std::size_t>;
  static auto& all = *std::make_unique<std::map<Key, std::unique_ptr<Foreign>>>().release();
  const std::lock_guard guard(lock);
  auto& found = all[{number_of(op), number_of(type), element}];
  if (!found)
    found = std::make_unique<Foreign>(
        Foreign{op, type, element, tables().op(op) == nullptr, tables().type(type) == nullptr});
  return found.get();
}

Combining by_mpi(MPI_Op op, MPI_Datatype type) {
  const Datatype* what = datatype(type);
  int commutative = 1;
  if (what == nullptr || what->extent <= 0 || what->extent > std::numeric_limits<std::uint32_t>::max()) return {};
  if (tables().op(op) == nullptr) {
    const Unraised unraised;
    if (real.Op_commutative(op, &commutative) != MPI_SUCCESS) return {};
  }
  const auto element = static_cast<std::uint32_t>(what->extent);
  return {{Op::user, commutative != 0, &reduce_by_mpi, foreign_operation(op, type, element)}, Type::opaque, element};
}

Combining find(MPI_Op op, MPI_Datatype type) {
  const Known* known = tables().type(type);
  if (const Op* built_in = tables().op(op)) {
    if (known == nullptr || !allowed(*built_in, known->family)) return {};
    // Pairs may have gaps, which travel as they are.
    if (known->type == Type::opaque) return by_mpi(op, type);
    const Datatype* what = datatype(type);
    return {{*built_in, true, nullptr, nullptr}, known->type, static_cast<std::uint32_t>(what->size)};
  }
  if (type == MPI_DATATYPE_NULL) return {};
  // A user's function is given elements as they lie: without gaps they can be moved about as they are.
  const Datatype* what = datatype(type);
  return what != nullptr && what->dense && what->begin == 0 ? by_mpi(op, type) : Combining{};
}

/// What this thread has asked for. Programs take turns of a few: to look at a program's own operation asks the MPI.
struct Asked {
  std::uint64_t generation = 0;
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Combining combining;

  bool is(std::uint64_t of, MPI_Op which, MPI_Datatype what) const {
    return generation == of && op == which && type == what;
  }
};
struct Lately {
  std::array<Asked, 8> by_hash;
  std::size_t last = 0;
};
thread_local Lately lately;

}  // namespace

const Foreign* foreign_of(const Reduction& reduction) {
  return reduction.function == &reduce_by_mpi ? static_cast<const Foreign*>(reduction.context) : nullptr;
}

const Combining& combining(MPI_Op op, MPI_Datatype type) {
  const std::uint64_t generation = handle_generation.load(std::memory_order_relaxed);
  if (const Asked& last = lately.by_hash[lately.last]; last.is(generation, op, type)) return last.combining;
  lately.last = base::combine(number_of(op), number_of(type)) % lately.by_hash.size();
  Asked& asked = lately.by_hash[lately.last];
  if (!asked.is(generation, op, type)) asked = {generation, op, type, find(op, type)};
  return asked.combining;
}

}  // namespace tutti::mpi
