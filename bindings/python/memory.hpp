// SPDX-License-Identifier: BSD-3-Clause
// The memory behind a Python object that offers a buffer, as the engine sees it.
#pragma once

#include <Python.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tutti/types.hpp"

namespace tutti::python {

/// Holds a buffer, and with it the object, until it is destroyed (which needs the GIL).
class Memory {
 public:
  enum class Use : unsigned char { read, write };

  /// `role` names it in messages: "allreduce: recv". Memory to read that is not contiguous is copied. Throws Error
  /// (usage) for what cannot travel.
  Memory(PyObject* object, Use use, const char* role);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  void* data() const { return copy_.empty() ? buffer_.buf : const_cast<std::byte*>(copy_.data()); }
  Count count() const { return count_; }
  Type type() const { return type_; }
  std::uint32_t element() const { return static_cast<std::uint32_t>(buffer_.itemsize); }
  /// For messages: "elements of 8 bytes (format d), shape (2, 3)".
  std::string describe() const;
  bool same_shape(const Memory& other) const;
  bool same_elements(const Memory& other) const;

 private:
  Py_buffer buffer_{};
  std::vector<Py_ssize_t> shape_;
  std::vector<std::byte> copy_;
  Count count_ = 0;
  Type type_ = Type::opaque;
};

}  // namespace tutti::python
