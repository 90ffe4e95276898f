// What picking is given and gives back.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "level/level.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/ndarray.hpp"
#include "support/raise.hpp"
#include "varlen/model/memory.hpp"

namespace varlen::bindings {

using LevelRefs = std::vector<LevelRef>;
using Ranges = Scratch<Range>;

/// Values and the levels above them, which fit each other: what a call is given and gives back.
struct Nested {
  py::array values;
  LevelRefs levels;

  Nested(py::array rows, LevelRefs nesting) : values(std::move(rows)), levels(std::move(nesting)) {}
  Nested(PyObject* rows, PyObject* nesting) : values(as_placed_rows(rows, "values")) {
    if (!PyTuple_Check(nesting)) raise_type("levels", "expected a tuple, got " + type_name(nesting));
    const Py_ssize_t depth = PyTuple_GET_SIZE(nesting);
    if (depth == 0) raise_value("levels", "expected at least one");
    levels.reserve(static_cast<std::size_t>(depth));
    for (Py_ssize_t d = 0; d < depth; ++d) {
      PyObject* const level = PyTuple_GET_ITEM(nesting, d);
      LevelRef::expect(level, "levels", "Level objects");
      levels.push_back(py::reinterpret_borrow<LevelRef>(level));
      if (d > 0) check_total(static_cast<std::size_t>(d) - 1, levels.back()->count());
    }
    check_total(levels.size() - 1, values.shape(0));
  }

  [[nodiscard]] std::int64_t count() const { return levels[0]->count(); }
  [[nodiscard]] py::tuple nesting() const {
    py::tuple nested(levels.size());
    for (std::size_t d = 0; d < levels.size(); ++d) nested[d] = levels[d];
    return nested;
  }
  [[nodiscard]] py::object result() const { return py::make_tuple(values, nesting()); }

 private:
  void check_total(std::size_t d, std::int64_t child_rows) const {
    if (levels[d]->fits(child_rows)) return;
    raise_value("levels", "level " + std::to_string(d) + " covers " + std::to_string(levels[d]->total()) +
                              " rows, but there are " + std::to_string(child_rows));
  }
};

/// The rows of n ranges of the values, one range after another, to `out`: both on the host, or both on one
/// device. ends[k] = how many rows ranges [0, k] have.
void move_ranges(const py::array& values, const Ranges& ranges, const std::int64_t* ends, std::int64_t n,
                 py::array& out);

/// The sequences of a slice, a mask or integers; those of a slice of step 1 share values.
Nested gather(const Nested& all, py::handle index);

/// Sequence i, a level fewer, values shared.
Nested gather_row(const Nested& all, std::int64_t i);

/// A list of plain ints as an array; null where there are none, or something else is among them.
py::object row_of_ints(PyObject* list);

}  // namespace varlen::bindings
