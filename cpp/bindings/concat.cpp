// Arrays, and levels, one after another.
#include "varlen/concat.hpp"

#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/dtypes.hpp"
#include "support/level.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/checked.hpp"

namespace varlen::bindings {

namespace {

/// Refuses rows that are not like those of the first array.
void check_like(const py::array& first, const py::array& other, std::size_t at) {
  bool same = other.ndim() == first.ndim();
  for (py::ssize_t axis = 1; same && axis < first.ndim(); ++axis)
    same = other.shape(axis) == first.shape(axis);
  if (!same)
    raise_value("arrays: rows of array " + std::to_string(at) + " have another shape than the first's");
  if (!other.dtype().is(first.dtype()) && !other.dtype().equal(first.dtype())) {
    raise_value("arrays: array " + std::to_string(at) + " has dtype " + str_of(other.dtype()) +
                ", the first has " + str_of(first.dtype()));
  }
}

py::array concat_arrays(const py::sequence& arrays) {
  const std::size_t n = arrays.size();
  if (n == 0) raise_value("arrays: there is nothing to concatenate");
  std::vector<py::array> parts;
  std::vector<Block> blocks;
  parts.reserve(n);
  blocks.reserve(n);
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < n; ++i) {
    parts.push_back(as_rows(arrays[i], "arrays"));
    if (i > 0) check_like(parts[0], parts[i], i);
    const Rows rows = rows_of(parts[i]);
    blocks.push_back({rows.data, rows.count * rows.width});
    if (!checked_add(count, rows.count, count)) raise_overflow("arrays: the rows do not fit 63 bits");
    bytes += blocks.back().bytes;
  }
  py::array out = rows_like(parts[0], count);
  auto* to = static_cast<std::byte*>(out.mutable_data());
  {
    const Unlocked unlocked(bytes);
    concat(blocks.data(), static_cast<std::int64_t>(n), to);
  }
  return out;
}

LevelRef concat_levels(const std::vector<LevelRef>& levels) {
  if (levels.empty()) raise_value("levels: there is nothing to concatenate");
  std::vector<Offsets> views;
  views.reserve(levels.size());
  std::int64_t count = 0;
  for (const auto& level : levels) {
    views.push_back(level->view());
    count += level->count();
  }
  NewLevel result(count);
  raise_if(concat_ends(views.data(), static_cast<std::int64_t>(views.size()), result.ends()), "levels");
  return std::move(result).done();
}

/// Refuses parts that are not cut into as many sequences as the first, or not by the levels beside them.
void check_woven(const std::vector<py::array>& parts, const std::vector<LevelRef>& levels) {
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::string part = std::to_string(p);
    if (levels[p]->total() != parts[p].shape(0)) {
      raise_value("levels: the lengths of part " + part + " add up to " + std::to_string(levels[p]->total()) +
                  ", but it has " + std::to_string(parts[p].shape(0)) + " rows");
    }
    if (levels[p]->count() != levels[0]->count()) {
      raise_value("levels: part " + part + " has " + std::to_string(levels[p]->count()) +
                  " sequences, the first has " + std::to_string(levels[0]->count()));
    }
  }
}

/// Rows like those of the parts: those of `out` where it was given, which lies in none of them.
py::array interleaved_out(const py::object& out, const py::sequence& arrays,
                          const std::vector<py::array>& parts, std::int64_t count) {
  if (out.is_none()) return rows_like(parts[0], count);
  Extents shape(parts[0].shape(), parts[0].shape() + parts[0].ndim());
  shape[0] = count;
  py::array result = checked_out("out", out, parts[0].dtype(), shape, {});
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const py::object array = arrays[p];
    refuse_overlap("out", result, {array, parts[p]});
  }
  return result;
}

py::tuple interleave_parts(const py::sequence& arrays, const std::vector<LevelRef>& levels,
                           const py::object& out) {
  const std::size_t n = arrays.size();
  if (n == 0) raise_value("arrays: there is nothing to concatenate");
  if (levels.size() != n) {
    raise_value("levels: " + std::to_string(levels.size()) + " of them for " + std::to_string(n) + " arrays");
  }
  std::vector<py::array> parts;
  std::vector<Rows> rows;
  std::vector<Offsets> cuts;
  for (std::size_t p = 0; p < n; ++p) {
    parts.push_back(as_rows(arrays[p], "arrays"));
    if (p > 0) check_like(parts[0], parts[p], p);
    rows.push_back(rows_of(parts[p]));
    cuts.push_back(levels[p]->view());
  }
  check_woven(parts, levels);
  NewLevel level(levels[0]->count());
  raise_if(interleave_ends(cuts.data(), static_cast<std::int64_t>(n), level.ends()), "levels");
  const Offsets interleaved = level.view();
  py::array result = interleaved_out(out, arrays, parts, interleaved.total());
  {
    const Unlocked unlocked(interleaved.total() * rows[0].width);
    interleave(rows.data(), cuts.data(), static_cast<std::int64_t>(n), interleaved, bytes(result));
  }
  return py::make_tuple(result, std::move(level).done());
}

}  // namespace

void bind_concat(py::module_& m) {
  m.def("concat", &concat_arrays, py::arg("arrays"), "Arrays of equal dtype and rows, one after another.");
  m.def("concat_levels", &concat_levels, py::arg("levels"), "Levels one after another, as one.");
  m.def("interleave", &interleave_parts, py::arg("arrays"), py::arg("levels"), py::arg("out") = py::none(),
        "Sequence i of every array, end to end, and the level that they make.");
}

}  // namespace varlen::bindings
