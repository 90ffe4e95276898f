// Rows put between rows, and taken out again.
#include <string>

#include "span.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/ndarray.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/checked.hpp"
#include "varlen/span_rows.hpp"
#include "window/window.hpp"

namespace varlen::bindings {

namespace {

/// Rows that others are put in front of, `total` for the end.
Ints between_of(PyObject* given_before, std::int64_t total) {
  Ints before = as_own_ints(given_before, "before");
  raise_if(span_between(before.data, before.count, total), "before");
  return before;
}

constexpr Signature<4> kInsert{"insert_rows", {"X", "before", "rows", "max_bytes"}, 2, 4};

py::object insert(const Arguments<4>& args) {
  const auto [given_x, given_before, given_rows, max_bytes] = args;
  const py::array x = as_rows(given_x, "X");
  const Ints before = between_of(given_before, x.shape(0));
  Extents shape(x.shape(), x.shape() + x.ndim());
  shape[0] = before.count;
  py::array rows;
  const std::byte* added = nullptr;
  if (given(given_rows)) {
    rows = as_rows(given_rows, "rows");
    const Extents has(rows.shape(), rows.shape() + rows.ndim());
    if (has.size() != shape.size() || !std::equal(has.begin(), has.end(), shape.begin()) ||
        !rows.dtype().equal(x.dtype())) {
      raise_value("rows: expected " + str_of(x.dtype()) + text_of(shape) + ", got " + str_of(rows.dtype()) +
                  text_of(has));
    }
    added = static_cast<const std::byte*>(rows.data());
  }
  if (!checked_add(x.shape(0), before.count, shape[0])) raise_overflow("at: the rows do not fit 63 bits");
  py::array result = out_for(nullptr, max_bytes, "X", x.dtype(), shape);
  std::byte* const to = bytes(result);
  const Rows all = rows_of(x);
  {
    const Unlocked unlocked(result.nbytes());
    insert_rows(all, before.data, before.count, added, to);
  }
  return result;
}

constexpr Signature<2> kRemove{"remove_rows", {"Y", "before"}};

py::object remove(const Arguments<2>& args) {
  const py::array y = as_rows(args[0], "dY");
  Ints before = as_ints(args[1], "before");
  const std::int64_t total = y.shape(0) - before.count;
  if (total < 0) {
    raise_value("dY: has " + std::to_string(y.shape(0)) + " rows, fewer than the " +
                std::to_string(before.count) + " that were put in");
  }
  before = between_of(before.keep.ptr(), total);
  py::array kept = rows_like(y, total);
  py::array taken = rows_like(y, before.count);
  std::byte* const to_kept = bytes(kept);
  std::byte* const to_taken = bytes(taken);
  const Rows all = rows_of(y);
  {
    const Unlocked unlocked(y.nbytes());
    remove_rows(all, before.data, before.count, to_kept, to_taken);
  }
  return py::make_tuple(kept, taken);
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
