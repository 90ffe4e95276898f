// What may stand in brackets, as integers.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "arrays.hpp"
#include "varlen/gather.hpp"
#include "varlen/status.hpp"

namespace varlen::bindings {

/// A Python slice object.
Slice slice_of(py::handle slice);

/// Integers, a mask, or a slice of any step, on `count` sequences: all as integers.
Ints index_of(py::handle index, std::int64_t count);

/// Whether `index` is a slice of step 1; then `rows` is what it picks.
bool is_plain_slice(py::handle index, std::int64_t count, Range& rows);

/// "index 5 at position 1 is out of range for 3 sequences"; no position below 0.
[[noreturn]] void raise_beyond(std::int64_t i, std::int64_t position, std::int64_t count, const char* what);

/// Raises for a Status of picking from `count` things.
void refuse(Status status, std::int64_t count, const char* what);

}  // namespace varlen::bindings
