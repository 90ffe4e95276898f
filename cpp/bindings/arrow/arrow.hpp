// What the parts of this noun show each other: capsules out, capsules in.
#pragma once

#include <pybind11/pybind11.h>

namespace varlen::bindings {

void add_arrow_import(pybind11::module_& m);

}  // namespace varlen::bindings
