// Which memory a call reads and writes, so that an output that lies in it is refused before it is written.
#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "ndarray.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// Bytes [begin, end); none where an array is empty.
struct Memory {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;

  Memory() = default;
  Memory(const std::byte* from, const std::byte* to) : begin(from), end(to) {}
  /// Of a C-contiguous array.
  explicit Memory(const py::array& array);
  /// From the first to the last byte of an array of any strides.
  static Memory extent_of(const py::array& array);

  [[nodiscard]] bool meets(const Memory& other) const noexcept {
    return std::max(begin, other.begin) < std::min(end, other.end);
  }
};

/// Memory that is read, in order and without overlaps: asked in the logarithm of how many there are.
class MemoryRead {
 public:
  void add(const py::array& array);
  /// To be called once all are there.
  void settle();
  [[nodiscard]] bool meets(const Memory& memory) const noexcept;

 private:
  std::vector<Memory> all_;
};

/// The outputs that a caller gave.
class MemoryWritten {
 public:
  /// ValueError where `out` shares memory with what is read or with an output before it.
  void add(const std::string& name, const py::array& out, const MemoryRead& read);

 private:
  std::vector<Memory> all_;
};

/// What a call reads, as it was given and, where that is another array, as it is read. Null handles, None,
/// numbers and Levels (which own what they hold) may stand here too: they have no memory to share.
using Inputs = std::initializer_list<py::handle>;

/// ValueError where `out`, which is C-contiguous, shares memory with one of the inputs.
void refuse_overlap(std::string_view name, const py::array& out, Inputs inputs);

/// ValueError where two outputs share memory.
void refuse_shared(std::string_view name, const py::array& out, const py::array& other);

/// ValueError for an output in the memory that is read.
[[noreturn]] void raise_overlap(std::string_view name);

}  // namespace varlen::bindings
