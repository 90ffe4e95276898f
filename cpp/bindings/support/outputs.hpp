// Outputs: how large one may be, one that was given, and fresh memory for large ones.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "arrays.hpp"
#include "ndarray.hpp"
#include "overlap.hpp"
#include "varlen/model/memory.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// "(2, 3)", as Python writes it.
std::string text_of(const Extents& shape);

/// Half of the memory that this machine has: what one call may make where nothing else is said.
std::int64_t default_max_bytes();

/// A limit for what one call may make.
std::int64_t max_bytes_of(PyObject* argument);

/// Bytes of an output `name`; `total_bytes` counts those of the call. Refuses, before anything is made, what
/// does not fit 63 bits (OverflowError) or takes `total_bytes` over max_bytes (ValueError; below 0: no
/// limit).
std::int64_t padded_bytes(std::string_view name, const py::dtype& dtype, const Extents& shape,
                          std::int64_t max_bytes, std::int64_t& total_bytes);

/// An output that the caller gave: the dtype and shape that are needed, C-contiguous, writable, and apart
/// from all that the call reads. `inputs`: see refuse_overlap.
py::array checked_out(std::string_view name, py::handle output, const py::dtype& dtype, const Extents& shape,
                      Inputs inputs);

/// Uninitialised, C-contiguous, aligned to a cache line. The memory of large arrays that died lately is used
/// again, because a first touch costs several times the writing; some of it is kept for that.
py::array large_empty(const py::dtype& dtype, const Extents& shape, std::int64_t bytes);

}  // namespace varlen::bindings
