// SPDX-License-Identifier: BSD-3-Clause
#include "engine/reduction.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include "tutti/error.hpp"

namespace tutti::engine {

namespace {

// What is inlined into a loop is compiled for that loop's processor.
#define TUTTI_INLINE [[gnu::always_inline]] inline

static_assert(std::endian::native == std::endian::little, "a located value is read from the low bytes of its word");

constexpr std::size_t op_count = static_cast<std::size_t>(Op::user) + 1;

constexpr std::size_t at(Type type) { return static_cast<std::size_t>(type); }
constexpr std::size_t at(Op op) { return static_cast<std::size_t>(op); }

static_assert(sizeof(Located<std::int8_t>) == 16 && sizeof(Located<double>) == 16);

// Users' buffers may start anywhere; compilers turn these into one unaligned load or store.
template <class T>
TUTTI_INLINE T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <class T>
TUTTI_INLINE void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

template <Op op, class T>
TUTTI_INLINE T arithmetic(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    // Unsigned, and at least as wide as int: small types would be promoted to a signed int that can overflow.
    using Wrapping = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    const auto x = static_cast<Wrapping>(a), y = static_cast<Wrapping>(b);
    return static_cast<T>(op == Op::sum ? x + y : x * y);
  } else {
    return op == Op::sum ? a + b : a * b;
  }
}

template <Op op, class T>
TUTTI_INLINE T extreme(T a, T b) {
  const bool first = op == Op::min ? a < b : b < a;
  if constexpr (std::is_integral_v<T>) {
    return first ? a : b;
  } else {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const auto x = std::bit_cast<Bits>(a), y = std::bit_cast<Bits>(b);
    // Equal numbers differ at most in the sign of a zero.
    const Bits equal = op == Op::min ? x | y : x & y;
    const Bits either = first ? x : y;
    const Bits number = a == b ? equal : either;
    return std::bit_cast<T>(__builtin_isunordered(a, b) ? std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN())
                                                        : number);
  }
}

template <Op op, class T>
TUTTI_INLINE T logical(T a, T b) {
  const bool x = a != 0, y = b != 0;
  return static_cast<T>(op == Op::land ? x & y : op == Op::lor ? x | y : x ^ y);
}

template <Op op, class T>
TUTTI_INLINE T bitwise(T a, T b) {
  return static_cast<T>(op == Op::band ? a & b : op == Op::bor ? a | b : a ^ b);
}

template <Op op, class T>
TUTTI_INLINE T combine(T a, T b) {
  if constexpr (op == Op::sum || op == Op::prod)
    return arithmetic<op>(a, b);
  else if constexpr (op == Op::min || op == Op::max)
    return extreme<op>(a, b);
  else if constexpr (op == Op::land || op == Op::lor || op == Op::lxor)
    return logical<op>(a, b);
  else
    return bitwise<op>(a, b);
}

// A kind of element knows which operations it has and how to run one over n elements: target = source op other, where
// other may be the target. So no pass depends on the one before, which compilers have to be told.
#ifdef __clang__  // which finds out by itself, and takes being told for an order
#define TUTTI_INDEPENDENT
#else
#define TUTTI_INDEPENDENT _Pragma("GCC ivdep")
#endif

template <class T>
struct Plain {
  static constexpr bool has(Op op) {
    return op == Op::sum || op == Op::prod || op == Op::min || op == Op::max ||
           (std::is_integral_v<T> && op >= Op::land && op <= Op::bxor);
  }
  template <Op op>
  TUTTI_INLINE static void run(const std::byte* source, const std::byte* other, std::byte* target, Count n) {
    TUTTI_INDEPENDENT
    for (Count i = 0; i < n; ++i) {
      const auto byte = i * static_cast<Count>(sizeof(T));
      store(target + byte, combine<op>(load<T>(source + byte), load<T>(other + byte)));
    }
  }
};

struct Boolean {
  static constexpr bool has(Op op) { return op >= Op::land && op <= Op::bxor; }
  template <Op op>
  TUTTI_INLINE static void run(const std::byte* source, const std::byte* other, std::byte* target, Count n) {
    // Any byte but 0 is true, so that the bitwise operations are the logical ones.
    constexpr Op same = op == Op::band ? Op::land : op == Op::bor ? Op::lor : op == Op::bxor ? Op::lxor : op;
    Plain<std::uint8_t>::run<same>(source, other, target, n);
  }
};

template <class T>
struct Complex {
  static constexpr bool has(Op op) { return op == Op::sum || op == Op::prod; }
  template <Op op>
  TUTTI_INLINE static void run(const std::byte* source, const std::byte* other, std::byte* target, Count n) {
    if constexpr (op == Op::sum) {
      Plain<T>::template run<op>(source, other, target, 2 * n);
    } else {
      // The plain formula: std::complex repairs infinities element by element, which no vector unit can.
      TUTTI_INDEPENDENT
      for (Count i = 0; i < n; ++i) {
        const Count byte = i * static_cast<Count>(2 * sizeof(T));
        const std::byte *from = source + byte, *with = other + byte;
        std::byte* to = target + byte;
        const T a = load<T>(from), b = load<T>(from + sizeof(T)), c = load<T>(with), d = load<T>(with + sizeof(T));
        store(to, a * c - b * d);
        store(to + sizeof(T), a * d + b * c);
      }
    }
  }
};

template <class T>
struct Locating {
  static constexpr bool has(Op op) { return op == Op::minloc || op == Op::maxloc; }

  // Values are compared as 64-bit numbers, which hold each of the types exactly, so that all lanes are equally wide.
  using Key = std::conditional_t<std::is_floating_point_v<T>, double,
                                 std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
  TUTTI_INLINE static Key key(std::uint64_t word) {
    if constexpr (std::is_same_v<T, double>)
      return std::bit_cast<double>(word);
    else if constexpr (std::is_same_v<T, float>)
      return std::bit_cast<float>(static_cast<std::uint32_t>(word));
    else
      return static_cast<Key>(static_cast<T>(word));
  }

  template <Op op>
  TUTTI_INLINE static void run(const std::byte* source, const std::byte* other, std::byte* target, Count n) {
    TUTTI_INDEPENDENT
    for (Count i = 0; i < n; ++i) {
      const std::byte *from = source + 16 * i, *with = other + 16 * i;
      std::byte* to = target + 16 * i;
      const auto word_a = load<std::uint64_t>(from), word_b = load<std::uint64_t>(with);
      const auto index_a = load<std::int64_t>(from + 8), index_b = load<std::int64_t>(with + 8);
      const Key a = key(word_a), b = key(word_b);
      // Both of these are constants for integers.
      const bool nan_a = a != a, nan_b = b != b;
      const bool before = (op == Op::minloc ? a < b : b < a) | (nan_a & !nan_b);
      const bool equal = (a == b) | (nan_a & nan_b);
      const bool take = before | (equal & (index_a < index_b));
      store(to, take ? word_a : word_b);
      store(to + 8, take ? index_a : index_b);
    }
  }
};

template <class Kind, Op op>
struct Baseline {
  static void run(const std::byte* source, const std::byte* other, std::byte* target, Count n) {
    Kind::template run<op>(source, other, target, n);
  }
};

#ifdef __x86_64__
template <class Kind, Op op>
struct Avx2 {
  [[gnu::target("avx2")]] static void run(const std::byte* source, const std::byte* other, std::byte* target, Count n) {
    Kind::template run<op>(source, other, target, n);
  }
};
#endif

using Table = std::array<std::array<Kernel, type_count>, op_count>;

template <template <class, Op> class Processor, class Kind, Op op>
constexpr void enter_one(Table& table, Type type) {
  if constexpr (Kind::has(op)) table[at(op)][at(type)] = &Processor<Kind, op>::run;
}
template <template <class, Op> class Processor, class Kind, Op... ops>
constexpr void enter_ops(Table& table, Type type) {
  (enter_one<Processor, Kind, ops>(table, type), ...);
}
template <template <class, Op> class Processor, class Kind>
constexpr void enter(Table& table, Type type) {
  enter_ops<Processor, Kind, Op::sum, Op::prod, Op::min, Op::max, Op::land, Op::lor, Op::lxor, Op::band, Op::bor,
            Op::bxor, Op::minloc, Op::maxloc>(table, type);
}
template <template <class, Op> class Processor, class... T>
constexpr void enter_numbers(Table& table) {
  (enter<Processor, Plain<T>>(table, type_of<T>), ...);
  (enter<Processor, Locating<T>>(table, located(type_of<T>)), ...);
}

template <template <class, Op> class Processor>
constexpr Table make_table() {
  Table table{};
  enter_numbers<Processor, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                std::uint32_t, std::uint64_t, float, double>(table);
  enter<Processor, Boolean>(table, Type::boolean);
  enter<Processor, Complex<float>>(table, Type::complex64);
  enter<Processor, Complex<double>>(table, Type::complex128);
  return table;
}

constexpr Table baseline = make_table<Baseline>();

const Table& table_of_this_processor() {
#ifdef __x86_64__
  static constexpr Table avx2 = make_table<Avx2>();
  if (__builtin_cpu_supports("avx2")) return avx2;
#endif
  return baseline;
}

// For f(in, inout) the target must be the lower ranks' side, but the result belongs where the lower side lies.
void apply_right(const Reduction& reduction, std::size_t element, const std::byte* source, std::byte* target, Count n) {
  constexpr std::size_t chunk_bytes = 4096;
  alignas(64) std::array<std::byte, chunk_bytes> chunk;
  std::unique_ptr<std::byte[]> huge;  // for an element larger than a chunk
  std::byte* combined = chunk.data();
  if (element > chunk_bytes) {
    huge = std::make_unique_for_overwrite<std::byte[]>(element);
    combined = huge.get();
  }
  const Count step = element > chunk_bytes ? 1 : static_cast<Count>(chunk_bytes / element);
  for (Count done = 0; done < n; done += step) {
    const Count now = std::min(step, n - done);
    const std::size_t offset = static_cast<std::size_t>(done) * element;
    const std::size_t bytes = static_cast<std::size_t>(now) * element;
    std::memcpy(combined, source + offset, bytes);
    reduction.function(target + offset, combined, now, reduction.context);
    std::memcpy(target + offset, combined, bytes);
  }
}

thread_local bool inside = false;  // this thread runs a user's reduction

struct Inside {
  Inside() { inside = true; }
  ~Inside() { inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

void apply_user(const Reduction& reduction, std::size_t element, const std::byte* source, std::byte* target, Count n,
                plan::Side side) {
  if (reduction.function == nullptr)
    throw Error(Cause::usage, "tutti: a user's reduction has no function; pass one, or a built-in operation");
  if (n == 0 || element == 0) return;
  const Inside mark;
  if (side == plan::Side::left || reduction.commutative)
    reduction.function(source, target, n, reduction.context);
  else
    apply_right(reduction, element, source, target, n);
}

}  // namespace

bool inside_reduction() { return inside; }

void refuse_inside_reduction() {
  if (inside)
    throw Error(Cause::usage,
                "a reduction function called Tutti; it must only combine its elements, and neither start nor wait");
}

bool supports(Type type, Op op) {
  if (at(type) >= type_count || at(op) >= op_count) return false;
  return op == Op::user || baseline[at(op)][at(type)] != nullptr;
}

Kernel kernel_of(Type type, Op op) {
  static const Table& table = table_of_this_processor();
  return op != Op::user && supports(type, op) ? table[at(op)][at(type)] : nullptr;
}

void reduce(const Reduction& reduction, Type type, std::size_t element, const std::byte* source, std::byte* target,
            Count n, plan::Side side) {
  if (reduction.op == Op::user) return apply_user(reduction, element, source, target, n, side);
  const Kernel kernel = kernel_of(type, reduction.op);
  if (kernel == nullptr)
    throw Error(Cause::usage, "tutti: this reduction is not defined on this element type; pass a function of your own");
  kernel(source, target, target, n);
}

}  // namespace tutti::engine
