// Arrays of a device laid end to end: what lists of them have in common.
#pragma once

#include <pybind11/pybind11.h>

#include "support/level.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// Whether the first of some arrays lies on a device.
[[nodiscard]] bool lie_on_device(const py::sequence& arrays);

struct JoinedRows {
  py::array values;
  LevelRef level;  ///< of the lengths of the arrays
};

/// The rows of arrays of one device, in `dtype` where it is not None, and in `out` where that is given.
[[nodiscard]] JoinedRows join_there(const py::sequence& arrays, const char* name,
                                    const py::object& dtype = py::none(), PyObject* out = nullptr);

}  // namespace varlen::bindings
