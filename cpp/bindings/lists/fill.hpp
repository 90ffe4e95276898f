// The second pass over nested lists: every leaf into the writer.
#pragma once

#include <cstdint>

#include "leaf_writer.hpp"
#include "shape.hpp"

namespace varlen::bindings {

/// Thrown for leaves that NumPy shall judge all together: complex numbers, dates, records, long doubles.
struct NeedsNumpy {};

/// Kinds of leaves that were seen, for NumPy's rules: a bit for each Number, and one for float16.
using Kinds = std::uint32_t;
inline constexpr Kinds kHalf = 1U << 16;
inline constexpr Kinds kind_bit(Number number) {
  return 1U << static_cast<unsigned>(number);
}

/// Walks the leaves of a shape. Rows are lists and one-dimensional arrays.
class Walker {
 public:
  Walker(const Shape& shape, Want want, const char* name);

  /// The values. `floats` takes everything as floating point from the first leaf on.
  py::array run(PyObject* root, bool floats);

  [[nodiscard]] Kinds kinds() const noexcept { return kinds_; }

 private:
  void begin(PyObject* root);
  void walk(PyObject* node, int steps);
  void row(PyObject* list);
  void leaf(PyObject* object);
  void put_integer(PyObject* integer);
  void array_row(PyObject* array);
  void scalar(PyObject* object);
  void put_float(double value);
  [[nodiscard]] std::string path() const {
    return path_of(shape_, shape_.depth(), writer_.position(), name_);
  }

  const Shape& shape_;
  Want want_;
  const char* name_;
  PyObject* root_ = nullptr;
  LeafWriter writer_;
  Kinds kinds_ = 0;
};

}  // namespace varlen::bindings
