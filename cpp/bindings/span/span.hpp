// What the functions of spans share.
#pragma once

#include <pybind11/pybind11.h>

namespace varlen::bindings {

/// Spans and rows that a caller names.
void add_span_rows(pybind11::module_& m);

/// A part of each sequence.
void add_span_cut(pybind11::module_& m);

/// Rows put between rows.
void add_span_insert(pybind11::module_& m);

}  // namespace varlen::bindings
