// NumPy arrays at the door: checks, integer arrays of any dtype as int64, outputs, the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ndarray.hpp"
#include "varlen/model/small_vector.hpp"
#include "varlen/views.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// A shape.
using Extents = SmallVector<py::ssize_t, 8>;

/// That of an array.
inline Extents shape_of(const py::array& array) {
  return {array.shape(), array.shape() + array.ndim()};
}

/// A one-dimensional int64 array of contiguous memory; `keep` owns it. No copy where it already is one.
struct Ints {
  py::array keep;
  const std::int64_t* data = nullptr;
  std::int64_t count = 0;
};

/// ValueError for lists and tuples that contain themselves, which NumPy would walk for ever.
void refuse_cycles(py::handle nested, std::string_view argument);

/// What NumPy makes of an object; an error names the argument.
py::array array_of(py::handle object, const char* argument);

/// Any 1-d array (or sequence) of integers, any byte order or stride. Floats, bools and objects are refused.
Ints as_ints(py::handle object, const char* argument);

/// The same in memory of our own, which no other thread writes while it is checked and used.
Ints as_own_ints(py::handle object, const char* argument);

/// An array whose rows (axis 0) can be moved as bytes: C-contiguous (copied where it is not), no objects.
py::array as_rows(py::handle object, const char* argument);

/// The bytes of one row of `array`: itemsize times the trailing dimensions.
std::int64_t row_bytes(const py::array& array);

/// The rows of an array that as_rows gave.
Rows rows_of(const py::array& array);

/// Uninitialised, C-contiguous, of the given dtype; large ones from recycled memory.
py::array empty(PyObject* descr, int nd, const py::ssize_t* shape);
py::array empty(const py::dtype& dtype, const Extents& shape);

/// Uninitialised, for `count` rows like those of `like`.
py::array rows_like(const py::array& like, std::int64_t count);

/// Uninitialised int64 of n entries.
py::array empty_ints(std::int64_t n);

/// What an array holds, to be read.
inline const std::byte* data_of(const py::array& array) {
  return static_cast<const std::byte*>(array.data());
}
/// What an array of ours holds, to be written.
inline std::int64_t* ints(py::array& array) {
  return static_cast<std::int64_t*>(array.mutable_data());
}
inline std::byte* bytes(py::array& array) {
  return static_cast<std::byte*>(array.mutable_data());
}

/// A view of rows [begin, end) of a C-contiguous array.
py::array rows_between(const py::array& array, std::int64_t begin, std::int64_t end);

/// Marks an array read-only and gives it back.
py::array frozen(py::array array);

/// Releases the GIL for work above about 20 us: `bytes` is what the call moves.
class GilRelease {
 public:
  explicit GilRelease(std::int64_t bytes) {
    if (bytes > kBytes) release_.emplace();
  }

 private:
  // 20 us at about 10 GB/s.
  static constexpr std::int64_t kBytes = 200'000;
  std::optional<py::gil_scoped_release> release_;
};

}  // namespace varlen::bindings
