// Which memory a call reads and writes, so that an output that lies in it is refused before it is written.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

/// ValueError for an output in the memory that is read.
[[noreturn]] void raise_overlap(std::string_view name);

}  // namespace varlen::bindings
