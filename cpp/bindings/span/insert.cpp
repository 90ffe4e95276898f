// Rows put between rows, and taken out again.
#include <string>

#include "span.hpp"
#include "support/device.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/ndarray.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/span_rows.hpp"
#include "varlen/support/overflow.hpp"
#include "window/window.hpp"

namespace varlen::bindings {

namespace {

/// Rows that others are put in front of, `total` for the end: checked where the host has them.
PlacedInts between_at(const Place& place, PyObject* given_before, std::int64_t total) {
  if (lies_there(place, given_before)) return ints_of_device(place, given_before, "before");
  const Ints positions = as_own_ints(given_before, "before");
  raise_if(span_between(positions.data, positions.count, total), "before");
  return ints_at(place, positions);
}

constexpr Signature<4> kInsert{"insert_rows", {"X", "before", "rows", "max_bytes"}, 2, 4};

py::object insert(const Arguments<4>& args) {
  const auto [given_x, given_before, given_rows, max_bytes] = args;
  const py::array x = as_placed_rows(given_x, "X");
  const Place place = place_of(x);
  const PlacedInts positions = between_at(place, given_before, x.shape(0));
  Extents shape = shape_of(x);
  shape[0] = positions.count;
  py::array rows;
  const std::byte* new_rows = nullptr;
  if (is_given(given_rows)) {
    rows = rows_at(place, given_rows, "rows");
    const Extents has = shape_of(rows);
    if (has.size() != shape.size() || !std::equal(has.begin(), has.end(), shape.begin()) ||
        !rows.dtype().equal(x.dtype())) {
      raise_value("rows", "expected " + str_of(x.dtype()) + text_of(shape) + ", got " + str_of(rows.dtype()) +
                              text_of(has));
    }
    new_rows = data_of(rows);
  }
  if (!checked_add(x.shape(0), positions.count, shape[0]))
    raise_overflow("at", "the rows do not fit 63 bits");
  py::array result = out_for(nullptr, max_bytes, "X", x.dtype(), shape, {}, place);
  launch(place, "insert_rows", result.nbytes(), &cuda::Kernels::insert_rows, rows_of(x), positions.data,
         positions.count, new_rows, bytes(result));
  return result;
}

constexpr Signature<2> kRemove{"remove_rows", {"Y", "before"}};

/// How many rows are left without those that were put in.
std::int64_t rest_of(std::int64_t rows, std::int64_t insertions) {
  if (insertions <= rows) return rows - insertions;
  raise_value("dY", "has " + std::to_string(rows) + " rows, fewer than the " + std::to_string(insertions) +
                        " that were put in");
}

py::object remove(const Arguments<2>& args) {
  const py::array y = as_placed_rows(args[0], "dY");
  const Place place = place_of(y);
  const bool are_there = lies_there(place, args[1]);
  const Ints given_before = are_there ? Ints{} : as_ints(args[1], "before");
  if (!are_there) rest_of(y.shape(0), given_before.count);
  const PlacedInts positions =
      between_at(place, are_there ? args[1] : given_before.keep.ptr(), y.shape(0) - given_before.count);
  const std::int64_t total = rest_of(y.shape(0), positions.count);
  py::array rest = rows_like_at(place, y, total);
  py::array span_rows = rows_like_at(place, y, positions.count);
  launch(place, "remove_rows", y.nbytes(), &cuda::Kernels::remove_rows, rows_of(y), positions.data,
         positions.count, bytes(rest), bytes(span_rows));
  return py::make_tuple(rest, span_rows);
}

PyMethodDef span_insert_methods[] = {
    method<kInsert, insert>("insert_rows(X, before, rows=None, max_bytes=None)\n--\n\n"
                            "X with rows, or zeros, in front of some of its rows."),
    method<kRemove, remove>("remove_rows(Y, before)\n--\n\n"
                            "What insert_rows made, taken apart: X and the rows."),
    {},
};

}  // namespace

void add_span_insert(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), span_insert_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
