// Windows that step through sequences, and the way back.
#include <string>
#include <utility>

#include "gather/gather.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/gather.hpp"
#include "varlen/window.hpp"
#include "window.hpp"

namespace varlen::bindings {

namespace {

/// Which windows the sequences of a level have, and the rows of each.
struct WindowPlan {
  LevelRef windows;  ///< sequences > windows
  LevelRef rows;     ///< windows > rows
  Ranges ranges;
};

Stepping steps_of(PyObject* size, PyObject* step, PyObject* drop_last) {
  return {whole_of(size, "size", 1, 1), whole_of(step, "step", 1, 1),
          drop_last != nullptr && truth_of(drop_last, "drop_last")};
}

WindowPlan plan(const LevelRef& level, Stepping how) {
  NewLevel counts(level->count());
  raise_if(window_counts(level->view(), how, counts.ends()), "lengths");
  LevelRef windows = std::move(counts).finish();
  Ranges ranges(windows->total());
  NewLevel rows(windows->total());
  raise_if(window_ranges(level->view(), windows->view(), how, ranges.data(), rows.ends()), "lengths");
  return {std::move(windows), std::move(rows).finish(), std::move(ranges)};
}

constexpr Signature<7> kWindows{
    "windows", {"X", "lengths", "size", "step", "drop_last", "max_bytes", "shared"}, 4, 7};

/// Each row divided by how many windows it lies in.
py::array shared_rows(PyObject* given_x, const char* name, Level& level, Level& windows, Stepping how) {
  const auto [x, type] = placed_numbers_of(given_x, name);
  const Place place = place_of(x);
  if (!is_float(type)) {
    raise_type(name, "expected floats, got " + str_of(x.dtype()));
  }
  py::array out = rows_like_at(place, x, x.shape(0));
  const std::int64_t count = row_bytes(x) / x.itemsize();
  launch(place, "share_windows", 2 * out.nbytes(), &cuda::Kernels::share_windows, type, data_of(x), count,
         offsets_at(place, level), offsets_at(place, windows), how, level.total(), bytes(out));
  return out;
}

py::object windows(const Arguments<7>& args) {
  const auto [given_x, lengths, size, step, drop_last, max_bytes, shared] = args;
  const Stepping how = steps_of(size, step, drop_last);
  const bool is_shared = shared != nullptr && truth_of(shared, "shared");
  const char* const name = is_shared ? "dX" : "X";
  py::array x = as_placed_rows(given_x, name);
  const LevelRef level = level_over(lengths, name, x.shape(0));
  const WindowPlan window_plan = plan(level, how);
  if (is_shared)
    x = shared_rows(given_x, name, LevelRef::unwrap(level), LevelRef::unwrap(window_plan.windows), how);
  Extents shape = shape_of(x);
  shape[0] = window_plan.rows->total();
  py::array result = out_for(nullptr, max_bytes, name, x.dtype(), shape, {}, place_of(x));
  const Offsets ends = window_plan.rows->view();
  move_ranges(x, window_plan.ranges, ends.ends, ends.count, result);
  return py::make_tuple(result, window_plan.windows, window_plan.rows);
}

constexpr Signature<8> kMerge{
    "merge_windows", {"Y", "levels", "lengths", "size", "step", "drop_last", "mean", "max_bytes"}, 7, 8};

py::object merge(const Arguments<8>& args) {
  const auto [given_y, levels, lengths, size, step, drop_last, mean, max_bytes] = args;
  const Stepping how = steps_of(size, step, drop_last);
  const bool is_mean = truth_of(mean, "mean");
  const char* const name = is_mean ? "Y" : "dY";
  const auto [y, type] = placed_numbers_of(given_y, name);
  const Place place = place_of(y);
  const LevelRef level = level_over(lengths, name, -1);
  const WindowPlan window_plan = plan(level, how);
  if (is_given(levels)) {
    const auto [outer, inner] =
        py::reinterpret_borrow<py::object>(levels).cast<std::pair<py::object, py::object>>();
    check_level(level_over(outer.ptr(), name, -1), window_plan.windows, name, "sequence", "windows");
    check_level(level_over(inner.ptr(), name, -1), window_plan.rows, name, "window", "rows");
  }
  if (y.shape(0) != window_plan.rows->total()) {
    raise_value(name, "has " + std::to_string(y.shape(0)) + " rows, but the windows of lengths have " +
                          std::to_string(window_plan.rows->total()));
  }
  Extents shape = shape_of(y);
  shape[0] = level->total();
  const py::dtype dtype = is_mean && !is_float(type) ? py::dtype::of<double>() : y.dtype();
  py::array result = out_for(nullptr, max_bytes, name, dtype, shape, {}, place);
  const std::int64_t count = row_bytes(y) / y.itemsize();
  launch(place, "merge_windows", result.nbytes() + y.nbytes(), &cuda::Kernels::merge_windows, type,
         data_of(y), y.shape(0), count, offsets_at(place, LevelRef::unwrap(level)),
         offsets_at(place, LevelRef::unwrap(window_plan.windows)),
         offsets_at(place, LevelRef::unwrap(window_plan.rows)), how, is_mean, level->total(), bytes(result));
  return result;
}

PyMethodDef window_steps_methods[] = {
    method<kWindows, windows>(
        "windows(X, lengths, size, step, drop_last=False, max_bytes=None, shared=False)\n--\n\n"
        "The rows of windows that step through every sequence, and their two levels; shared: each\n"
        "row divided by how many windows it lies in."),
    method<kMerge, merge>(
        "merge_windows(Y, levels, lengths, size, step, drop_last, mean, max_bytes=None)\n--\n\n"
        "The mean, or the sum, of the places that each row has in windows."),
    {},
};

}  // namespace

void add_window_steps(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), window_steps_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
