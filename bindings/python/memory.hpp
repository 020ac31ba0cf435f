// SPDX-License-Identifier: BSD-3-Clause
// The memory behind a Python object that offers a buffer, as the engine sees it.
#pragma once

#include <Python.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tutti/layout.hpp"
#include "tutti/types.hpp"

namespace tutti::python {

/// Holds a buffer, and with it the object, until it is destroyed (which needs the GIL).
class Memory {
 public:
  enum class Use : unsigned char { read, write };

  /// `role` names it in messages: "allreduce: recv". Memory that is not contiguous is used where it lies. Throws Error
  /// (usage) for what cannot travel.
  Memory(PyObject* object, Use use, const char* role);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  void* data() const { return buffer_.buf; }
  /// Where the elements lie; nullptr: side by side.
  const Layout* layout() const { return layout_ ? &*layout_ : nullptr; }
  Count count() const { return count_; }
  Type type() const { return type_; }
  std::uint32_t element() const { return static_cast<std::uint32_t>(buffer_.itemsize); }
  /// For messages: "elements of 8 bytes (format d), shape (2, 3)".
  std::string describe() const;
  /// numpy's name of the elements' type: "float16", ">f8". Of other buffers their format.
  std::string dtype() const;
  bool same_shape(const Memory& other) const;
  bool same_elements(const Memory& other) const;
  /// For detail::meeting.
  detail::Lying lying() const { return {data(), layout(), count()}; }

 private:
  void find_layout();

  Py_buffer buffer_{};
  std::vector<Py_ssize_t> shape_;
  std::optional<Layout> layout_;
  Count count_ = 0;
  Type type_ = Type::opaque;
};

}  // namespace tutti::python
