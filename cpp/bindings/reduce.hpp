// What reductions and their gradients ask of their arguments.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>

#include "arrays.hpp"
#include "level.hpp"
#include "varlen/cast.hpp"

namespace varlen::bindings {

/// Rows of numbers that can be worked on: contiguous, aligned, of this machine's byte order.
struct Numbers {
  Numbers(py::handle given, const char* argument);

  /// The shape of so many rows.
  [[nodiscard]] Extents rows(std::int64_t count) const;
  /// Elements of a row.
  [[nodiscard]] std::int64_t columns() const;

  py::array array;
  Type type = Type::f32;
};

/// A level that covers `rows` rows; an error says that the lengths do not add up to those of the argument.
Level& level_over(py::handle given, std::int64_t rows, const char* argument);

/// A level of as many sequences as an argument has rows.
Level& level_of_rows(py::handle given, std::int64_t rows, const char* argument);

}  // namespace varlen::bindings
