// What the functions of windows share: what their arguments mean, and their outputs.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

#include "level/level.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/ndarray.hpp"
#include "support/operands.hpp"
#include "support/overlap.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// A number of things, `minimum` at least; `otherwise` where it was left out.
std::int64_t whole_of(PyObject* argument, const char* name, std::int64_t minimum, std::int64_t otherwise);

/// The output that was given, checked, or a fresh one of at most max_bytes, at a place.
py::array out_for(PyObject* given_out, PyObject* given_max_bytes, const char* argument,
                  const py::dtype& dtype, const Extents& shape, Inputs inputs = {}, const Place& place = {});

/// Refuses a level of `argument` that is not the one it has to be: "sequence 3 has 2 windows, ...".
void check_level(const LevelRef& has, const LevelRef& expected, const std::string& argument,
                 const std::string& what, const char* unit);

/// windows and merge_windows.
void add_window_steps(py::module_& m);

}  // namespace varlen::bindings
