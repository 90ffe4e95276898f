// What may stand in brackets, as integers.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "arrays.hpp"
#include "varlen/gather.hpp"

namespace varlen::bindings {

/// A Python slice object.
Slice slice_of(py::handle slice);

/// Integers, a mask, or a slice of any step, on `count` sequences: all as integers.
Ints index_of(py::handle index, std::int64_t count);

/// Whether `index` is a slice of step 1; then `rows` is what it picks.
bool is_plain_slice(py::handle index, std::int64_t count, Range& rows);

}  // namespace varlen::bindings
