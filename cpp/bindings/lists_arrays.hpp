// Lists of arrays, forth and back: what lists.cpp adds to the module beside nested lists.
#pragma once

#include <pybind11/pybind11.h>

namespace varlen::bindings {

void add_array_lists(pybind11::module_& m);
void add_list_views(pybind11::module_& m);

}  // namespace varlen::bindings
