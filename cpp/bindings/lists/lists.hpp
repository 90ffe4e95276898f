// Lists of arrays: what list2ragged and list2dense share, and what lists.cpp adds to the module.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>

#include "level/level.hpp"
#include "pieces.hpp"
#include "support/ndarray.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// A list or tuple of what was given; the items of any other iterable.
py::object array_list(PyObject* arrays, const char* name);

/// The dtype that was asked for, or None. Before anything of the list is looked at: this may run Python code.
py::object dtype_given(PyObject* dtype);

/// The pieces in that dtype: through one flat array, which `keep` then owns, so that an error can name the
/// place.
void recast(Pieces& pieces, NewLevel& level, const py::object& dtype, py::object& keep,
            const char* name = "arrays");

inline std::byte* memory_of(const py::object& array) {
  return reinterpret_cast<std::byte*>(fields_of(array.ptr())->data);
}

void add_list2ragged(py::module_& m);
void add_list2dense(py::module_& m);
void add_list_columns(py::module_& m);
void add_list_flat(py::module_& m);
void add_list_views(py::module_& m);

}  // namespace varlen::bindings
