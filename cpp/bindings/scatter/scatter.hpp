// Rows that are added to rows of a table: what lookups and spans share.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "support/ndarray.hpp"
#include "support/operands.hpp"
#include "varlen/scatter.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// Row k / each of `values` is added to row lookups[k] of the table, which first has the numbers of `start`:
/// its own, those of another table, or, where it is null, zeros. Lookups of the host are checked.
void add_to(const Numbers& values, Lookups lookups, std::int64_t index_count, const std::byte* start,
            py::array& table);

}  // namespace varlen::bindings
