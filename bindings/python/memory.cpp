// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "tutti/error.hpp"

namespace tutti::python {

namespace {

[[noreturn]] void refuse(const std::string& text) { throw Error(Cause::usage, text); }

/// The integers of `bytes` bytes.
Type integer(bool is_signed, Py_ssize_t bytes) {
  const int width = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
  return static_cast<Type>(static_cast<int>(is_signed ? Type::int8 : Type::uint8) + width);
}

/// One letter of the struct module's alphabet.
Type number(char letter, Py_ssize_t bytes) {
  constexpr std::string_view with_sign = "bhilqn", without = "BHILQN";
  if (with_sign.find(letter) != std::string_view::npos) return integer(true, bytes);
  if (without.find(letter) != std::string_view::npos) return integer(false, bytes);
  if (letter == '?') return Type::boolean;
  if (letter == 'f') return Type::float32;
  if (letter == 'd') return Type::float64;
  return Type::opaque;
}

bool skip(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

/// Native byte order is spelled @, =, < or not at all (this library runs on little-endian machines).
void skip_order(std::string_view& text) {
  while (!text.empty() && std::string_view("@=<^").find(text.front()) != std::string_view::npos) text.remove_prefix(1);
}

std::string_view without_order(const char* format) {
  std::string_view text = format;
  skip_order(text);
  return text;
}

Py_ssize_t bytes_of(char letter) {
  switch (letter) {
    case 'b':
    case 'B':
      return 1;
    case 'h':
    case 'H':
      return 2;
    case 'i':
    case 'I':
    case 'f':
      return 4;
    default:
      return 8;
  }
}

/// "xxx" or "3x": bytes between fields.
Py_ssize_t skip_padding(std::string_view& text) {
  Py_ssize_t bytes = 0, number = 0;
  for (; !text.empty(); text.remove_prefix(1)) {
    const char letter = text.front();
    if (letter >= '0' && letter <= '9' && number < 100) {
      number = 10 * number + letter - '0';
    } else if (letter == 'x') {
      bytes += std::max<Py_ssize_t>(std::exchange(number, 0), 1);
    } else {
      break;
    }
  }
  return bytes;
}

/// numpy spells {value, index} as T{d:value:l:index:}, with x for every byte of padding.
Type located_type(std::string_view text, Py_ssize_t bytes) {
  if (bytes != 16 || !skip(text, "T{")) return Type::opaque;
  skip_order(text);
  if (text.empty()) return Type::opaque;
  const char letter = text.front();
  text.remove_prefix(1);
  if (letter == '?' || !skip(text, ":value:")) return Type::opaque;
  if (bytes_of(letter) + skip_padding(text) != 8) return Type::opaque;
  skip_order(text);
  if (!skip(text, "l:index:") && !skip(text, "q:index:")) return Type::opaque;
  const Type value = number(letter, bytes_of(letter));
  return value == Type::opaque ? Type::opaque : located(value);
}

Type type_of_format(const char* format, Py_ssize_t bytes) {
  if (format == nullptr) return Type::uint8;  // PEP 3118: no format means bytes
  const std::string_view text = without_order(format);
  if (text == "Zf") return Type::complex64;
  if (text == "Zd") return Type::complex128;
  if (text.size() == 1) return number(text.front(), bytes);
  return located_type(text, bytes);
}

bool has_objects(const char* format) {
  if (format == nullptr) return false;
  // Names of fields stand between colons and are no types.
  bool name = false;
  for (const char letter : std::string_view(format)) {
    if (letter == ':') name = !name;
    if (!name && letter == 'O') return true;
  }
  return false;
}

}  // namespace

Memory::Memory(PyObject* object, Use use, const char* role) {
  constexpr int to_read = PyBUF_FORMAT | PyBUF_STRIDES;
  if (PyObject_GetBuffer(object, &buffer_, use == Use::write ? to_read | PyBUF_WRITABLE : to_read) != 0) {
    const nanobind::python_error why;
    if (use == Use::write && PyObject_GetBuffer(object, &buffer_, to_read) == 0) {
      PyBuffer_Release(&buffer_);
      refuse(std::string(role) + " is read-only; pass a writable array");
    }
    PyErr_Clear();
    const bool array = nanobind::hasattr(object, "dtype");
    refuse(std::string(role) +
           (array ? " has elements that no buffer can hold; pass a view of them as numbers, like "
                    "a.view('i8') of dates and times: "
                  : " must be a numpy array or another buffer: ") +
           nanobind::str(why.value()).c_str());
  }
  try {
    if (has_objects(buffer_.format))
      refuse(std::string(role) + " holds Python objects; use the functions whose names end in _object");
    if (buffer_.itemsize == 0) refuse(std::string(role) + " has elements of no bytes");
    if (buffer_.itemsize > std::numeric_limits<std::uint32_t>::max())
      refuse(std::string(role) + " has elements of " + std::to_string(buffer_.itemsize) +
             " bytes; pass them as smaller ones, of less than 4 GiB");
    count_ = buffer_.len / buffer_.itemsize;
    type_ = type_of_format(buffer_.format, buffer_.itemsize);
    if (PyBuffer_IsContiguous(&buffer_, 'C') == 0) find_layout();
    if (buffer_.shape != nullptr) shape_.assign(buffer_.shape, buffer_.shape + buffer_.ndim);
  } catch (...) {
    PyBuffer_Release(&buffer_);
    throw;
  }
}

void Memory::find_layout() {
  Layout layout = Layout::bytes(buffer_.itemsize);
  for (int dimension = buffer_.ndim; dimension-- > 0;)
    layout = layout.strided_bytes(buffer_.shape[dimension], 1, buffer_.strides[dimension]);
  layout_ = layout;
}

Memory::~Memory() { PyBuffer_Release(&buffer_); }

std::string Memory::describe() const {
  std::string text = "elements of " + std::to_string(buffer_.itemsize) + " bytes (format " +
                     (buffer_.format == nullptr ? "B" : buffer_.format) + "), shape (";
  for (std::size_t i = 0; i < shape_.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape_[i]);
  return text + ")";
}

std::string Memory::dtype() const {
  const auto dtype = nanobind::getattr(nanobind::handle(buffer_.obj), "dtype", nanobind::none());
  if (!dtype.is_none()) return nanobind::str(dtype).c_str();
  return buffer_.format == nullptr ? "B" : buffer_.format;
}

bool Memory::same_shape(const Memory& other) const { return shape_ == other.shape_; }

bool Memory::same_elements(const Memory& other) const {
  if (type_ != other.type_ || buffer_.itemsize != other.buffer_.itemsize) return false;
  // Of what has no arithmetic the name alone says what it is: '>f4', a struct.
  return type_ != Type::opaque || without_order(buffer_.format) == without_order(other.buffer_.format);
}

}  // namespace tutti::python
