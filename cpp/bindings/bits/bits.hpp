// `_core.Bits` in C++: an entry in blocks of bits, and the array that it lies in.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "support/arrays.hpp"
#include "varlen/bits.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// May be let go where the GIL is not held.
class BitsObject {
 public:
  BitsObject(py::handle data, std::int64_t count, std::int64_t width);
  BitsObject(const BitsObject&) = delete;
  BitsObject& operator=(const BitsObject&) = delete;
  ~BitsObject();

  [[nodiscard]] const BitBlocks& blocks() const noexcept { return blocks_; }
  /// uint8: the words of all ranges, end to end.
  [[nodiscard]] py::array read(py::handle begins, py::handle ends) const;

 private:
  py::array data_;
  BitBlocks blocks_;
};

}  // namespace varlen::bindings
