// What reductions and their ways back take.
#pragma once

#include <pybind11/pybind11.h>

#include "varlen/reduce.hpp"

namespace varlen::bindings {

/// "sum", "mean", ...
Reduce op_named(PyObject* name);

/// What is taken off the number of rows; 0 where it was left out.
double ddof_of(PyObject* argument);

/// backprop_reduce.
void add_reduce_back(pybind11::module_& m);

}  // namespace varlen::bindings
