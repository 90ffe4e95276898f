// Nested Python lists: what one call asks for, and the parts that its files share.
#pragma once

#include <pybind11/pybind11.h>

#include "leaf_writer.hpp"
#include "shape.hpp"
#include "support/ndarray.hpp"

namespace varlen::bindings {

struct Request {
  Want want;
  py::object dtype = py::none();  ///< the dtype that was asked for, or None
  const char* name = "values";
};

/// Values and a list of levels, `depth` of them; all where it is negative. Throws NeedsPython.
py::object read_lists(PyObject* root, int depth, const Request& request);

/// Every row is an array: laid end to end, their dtypes promoted as NumPy does, trailing dimensions kept.
py::object from_array_rows(PyObject* root, const Shape& shape, const Request& request);

/// values as request.dtype, where they are not yet; numbers are checked, an error names the path.
py::object cast_checked(const py::object& values, const Shape& shape, const Request& request);

}  // namespace varlen::bindings
