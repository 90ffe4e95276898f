// NumPy's dtypes as the core's types, and single values as bytes of a dtype.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ndarray.hpp"
#include "outputs.hpp"
#include "varlen/cast.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// What str() says of an object: for errors. The stand-in for bfloat16 is called by its name.
std::string str_of(py::handle object);

/// A dtype for the memory of bfloat16 numbers, which NumPy has no name for without the package ml_dtypes: a
/// structure of one field. The core computes with its elements; to NumPy they are bytes.
py::dtype bfloat16_stand_in();

/// Nothing where elements are not converted: other dtypes, other byte orders.
std::optional<Type> type_of(const py::dtype& dtype);

/// The dtype that was given; a TypeError that names the argument where NumPy has none such.
py::dtype dtype_named(py::handle input, const char* argument);

/// What the argument `dtype` says; the dtype of `like` for None.
py::dtype dtype_of(py::handle input, const py::dtype& like);

/// A value that repeats: one element, or one row of elements.
struct Fill {
  std::vector<std::byte> bytes;  ///< empty: zero bytes

  [[nodiscard]] const std::byte* data() const { return bytes.empty() ? nullptr : bytes.data(); }
  [[nodiscard]] std::int64_t period() const { return static_cast<std::int64_t>(bytes.size()); }
};

/// None, a number, or an array that broadcasts to `row`. 0 is the zero bytes of any dtype, integers are times
/// in the unit of the dtype, NaN and NaT are NaT. Refuses what the dtype cannot hold.
Fill fill_of(py::handle value, const py::dtype& dtype, const Extents& row, const char* argument);

/// The same as an array of one such row.
py::array fill_row(py::handle value, const py::dtype& dtype, const Extents& row, const char* argument);

/// The element that says that no value is there: NaN or NaT. Empty where the dtype has none.
Fill missing_of(const py::dtype& dtype);

/// One row like those of `like`, of missing elements; nothing where the dtype has none.
std::optional<py::array> missing_row(const py::array& like);

/// The conversion of `values` to `dtype`, after a look at every value: what does not fit is refused by its
/// place. `nan`, where it holds something, takes the place of NaN, and must outlive the result. With `loss`
/// numbers that would become infinite are looked for while they are converted, into memory that nobody has
/// seen yet; raise_if_lost is to be called after that.
Convert convert_of(const py::array& values, const py::dtype& dtype, const Fill& nan, const char* argument,
                   std::atomic<bool>* loss = nullptr);

/// ValueError that names the first number of `values` that `dtype` does not hold, where `loss` says there is
/// one.
void raise_if_lost(const std::atomic<bool>& loss, const py::array& values, const py::dtype& dtype,
                   const char* argument);

/// `values` in the byte order of this machine where they have to be converted, else as they are.
py::array convertible(const py::array& values, const py::dtype& dtype, bool touches_nan);

}  // namespace varlen::bindings
