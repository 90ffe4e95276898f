// What is computed with, at the door: numbers, and levels over their rows.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "arrays.hpp"
#include "ndarray.hpp"
#include "varlen/cast.hpp"

namespace varlen::bindings {

namespace py = pybind11;

struct Place;

/// Rows of numbers: contiguous, aligned, in the byte order of this machine.
struct Numbers {
  py::array array;
  Type type;

  /// The shape of so many rows.
  [[nodiscard]] Extents rows(std::int64_t count) const;
  /// Numbers of a row.
  [[nodiscard]] std::int64_t columns() const;
};
Numbers numbers_of(PyObject* argument, const char* name);

/// The same on the host or on a device, where bytes of bools are left as they are.
Numbers placed_numbers_of(PyObject* argument, const char* name);

/// The same beside others: ValueError where it is at another place.
Numbers numbers_at(const Place& place, PyObject* argument, const char* name);

/// Contiguous bools as bytes of 0 and 1: a copy where views of other memory hold other bytes, which are True.
py::array plain_bools(py::array bools);

}  // namespace varlen::bindings
