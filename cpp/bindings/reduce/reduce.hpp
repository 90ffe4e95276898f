// What reductions and their ways back take.
#pragma once

#include <pybind11/pybind11.h>

#include "support/ndarray.hpp"
#include "support/operands.hpp"
#include "varlen/reduce.hpp"

namespace varlen::bindings {

/// "sum", "mean", ...
Reduce op_named(PyObject* name);

/// What is taken off the number of rows; 0 where it was left out.
double ddof_of(PyObject* argument);

/// Of what sums are: floats keep their dtype, whole numbers become int64 or uint64.
pybind11::dtype summed_dtype(const Numbers& values);

/// backprop_reduce, reduce_blocks.
void add_reduce_back(pybind11::module_& m);

/// weighted_sum and the ways back.
void add_weighted(pybind11::module_& m);

}  // namespace varlen::bindings
