// Lists of arrays to one array with gaps of zeros between them, and one array to a list of views.
#include "lists.hpp"
#include "support/arrays.hpp"
#include "support/fastcall.hpp"
#include "support/outputs.hpp"
#include "varlen/support/overflow.hpp"
#include "views.hpp"

namespace varlen::bindings {

namespace {

/// Refuses gaps that take the result out of memory, before any are made.
void check_gaps(const Pieces& pieces, std::int64_t gap) {
  std::int64_t rows = 0;
  std::int64_t total_bytes = 0;
  if (!checked_mul(gap, pieces.count() + 1, rows) || !checked_add(rows, pieces.total(), rows)) {
    raise_overflow("pad", std::to_string(gap) + " rows between " + std::to_string(pieces.count()) +
                              " arrays do not fit 63 bits");
  }
  const auto bytes = py::dtype::of<std::uint8_t>();
  padded_bytes("X", bytes, {rows, pieces.width()}, default_max_bytes(), total_bytes);
}

constexpr Signature<3> kFlatten{"flatten", {"X", "dtype", "pad"}, 1, 3};

py::object flatten(const Arguments<3>& args) {
  const py::object dtype = dtype_given(args[1]);
  const std::int64_t gap = args[2] == nullptr ? 0 : at_least(0, int_of(args[2], "pad"), "pad");
  const py::object list = array_list(args[0], "X");
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(list.ptr());
  NewLevel level(count);
  Pieces pieces(PySequence_Fast_ITEMS(list.ptr()), count, "X", level.offsets(), true);
  py::object keep;
  recast(pieces, level, dtype, keep, "X");
  if (gap == 0) return pieces.flat(level.offsets(), nullptr);
  check_gaps(pieces, gap);
  std::vector<std::int64_t> gap_offsets;
  pieces.space(gap, gap_offsets);
  return pieces.flat(gap_offsets.data(), nullptr);
}

constexpr Signature<3> kViews{"views", {"values", "begins", "ends"}};

py::object views(const Arguments<3>& args) {
  PyObject* const values = array_argument(args[0]);
  const Ints begins = as_ints(args[1], "begins");
  const Ints ends = as_ints(args[2], "ends");
  const std::int64_t rows = fields_of(values)->dimensions[0];
  if (begins.count != ends.count) {
    raise_value("ends", std::to_string(ends.count) + " for " + std::to_string(begins.count) + " begins");
  }
  for (std::int64_t i = 0; i < ends.count; ++i) {
    if (0 <= begins.data[i] && begins.data[i] <= ends.data[i] && ends.data[i] <= rows) continue;
    raise_value("ends", "view " + std::to_string(i) + " is of rows " + std::to_string(begins.data[i]) +
                            " to " + std::to_string(ends.data[i]) + ", but there are " +
                            std::to_string(rows));
  }
  py::object list = new_list(ends.count);
  const Views view(values);
  for (std::int64_t i = 0; i < ends.count; ++i) {
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i),
                    view(begins.data[i], ends.data[i]).release().ptr());
  }
  return list;
}

PyMethodDef lists_flat_methods[] = {
    method<kFlatten, flatten>("flatten(X, dtype=None, pad=0)\n--\n\n"
                              "Arrays laid end to end on axis 0, with `pad` rows of zeros around each."),
    method<kViews, views>("views(values, begins, ends)\n--\n\n"
                          "Rows begins[i] to ends[i] for each i, as views of values."),
    {},
};

}  // namespace

void add_list_flat(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), lists_flat_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
