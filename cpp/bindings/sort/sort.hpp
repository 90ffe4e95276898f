// What the functions of order share.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "level/level.hpp"
#include "support/device.hpp"
#include "support/operands.hpp"
#include "varlen/sort.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// OverflowError where a sequence is too long for the device that the values are on.
SortJob job_of(const Numbers& values, const LevelRef& level, PyObject* descending);

/// Bytes that could be moved in the time that sorting takes.
std::int64_t cost_of(const Numbers& values);

/// rank and unique.
void add_ranks(py::module_& m);

}  // namespace varlen::bindings
