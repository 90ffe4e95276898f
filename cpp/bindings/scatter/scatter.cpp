// Lookups in a table, and what is added to its rows.
#include "varlen/scatter.hpp"

#include <string>

#include "rooms.hpp"
#include "scatter.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/operands.hpp"
#include "support/outputs.hpp"
#include "support/overlap.hpp"
#include "support/raise.hpp"
#include "varlen/checked.hpp"
#include "varlen/model/memory.hpp"

namespace varlen::bindings {

namespace {

/// Numbers of rows, of any shape.
struct Looked {
  py::array array;
  Lookups lookups;

  [[nodiscard]] Extents shape() const { return {array.shape(), array.shape() + array.ndim()}; }
};

Looked lookups_of(PyObject* given_indices) {
  py::array array = as_rows(given_indices, "indices");
  const char kind = array.dtype().kind();
  if (kind != 'i' && kind != 'u') {
    raise_type("indices: expected integers, got dtype " + str_of(array.dtype()));
  }
  if (array.itemsize() < 4) array = array.attr("astype")(py::dtype::of<std::int64_t>()).cast<py::array>();
  const auto [native, type] = numbers_of(array.ptr(), "indices");
  return {native, {type, static_cast<const std::byte*>(native.data()), native.size()}};
}

void check(const Looked& indices, std::int64_t rows) {
  const Status status = scatter_check(indices.lookups, rows);
  if (status.ok()) return;
  const std::int64_t each = indices.array.ndim() > 1 ? indices.array.size() / indices.array.shape(0) : 1;
  std::string place = "position " + std::to_string(status.where / each);
  if (each > 1) place += ", " + std::to_string(status.where % each);
  const py::object number = indices.array.attr("flat")[py::int_(status.where)];
  raise_index("indices: " + place + " holds " + std::string(py::str(number)) + ", but the table has " +
              std::to_string(rows) + " rows");
}

Looked pairs_of(PyObject* given_indices) {
  Looked indices = lookups_of(given_indices);
  if (indices.array.ndim() != 2) {
    raise_value("indices: expected two dimensions, got " + std::to_string(indices.array.ndim()));
  }
  return indices;
}

/// The output that was given, or a fresh one.
py::array made_for(PyObject* out, const Numbers& like, std::int64_t rows, Inputs inputs) {
  const Extents shape = like.rows(rows);
  return given(out) ? checked_out("out", out, like.array.dtype(), shape, inputs)
                    : empty(like.array.dtype(), shape);
}

constexpr Signature<3> kGather{"gather_add", {"table", "indices", "out"}, 2, 3};

py::object gather(const Arguments<3>& args) {
  const Numbers table = numbers_of(args[0], "table");
  const Looked indices = pairs_of(args[1]);
  const std::int64_t rows = table.array.shape(0);
  check(indices, rows);
  const std::int64_t n = indices.array.shape(0);
  const std::int64_t each = indices.array.shape(1);
  py::array result = made_for(args[2], table, n, {args[0], table.array, args[1], indices.array});
  std::byte* const to = bytes(result);
  const auto* const from = static_cast<const std::byte*>(table.array.data());
  const std::int64_t columns = table.columns();
  {
    const Unlocked unlocked(result.nbytes());
    gather_add(table.type, from, rows, columns, indices.lookups, n, each, to);
  }
  return result;
}

constexpr Signature<4> kBackpropGatherAdd{"backprop_gather_add", {"dY", "indices", "rows", "out"}, 3, 4};

py::object backprop_gather_add(const Arguments<4>& args) {
  const Numbers dy = numbers_of(args[0], "dY");
  const Looked indices = pairs_of(args[1]);
  const std::int64_t rows = int_of(args[2], "rows");
  if (rows < 0) raise_value("rows: expected at least 0, got " + std::to_string(rows));
  if (indices.array.shape(0) != dy.array.shape(0)) {
    raise_value("dY: has " + std::to_string(dy.array.shape(0)) + " rows for " +
                std::to_string(indices.array.shape(0)) + " of indices");
  }
  check(indices, rows);
  py::array result = made_for(args[3], dy, rows, {args[0], dy.array, args[1], indices.array});
  add_to(dy, indices.lookups, indices.array.shape(1), true, result);
  return result;
}

constexpr Signature<3> kAdd{"scatter_add", {"table", "indices", "values"}};

py::object add(const Arguments<3>& args) {
  const Numbers values = numbers_of(args[2], "values");
  if (!py::isinstance<py::array>(args[0])) {
    raise_type("table: expected an array, got " + type_name(args[0]));
  }
  const auto given_table = py::reinterpret_borrow<py::array>(args[0]);
  if (given_table.ndim() == 0) raise_value("table: expected at least one dimension, got a scalar");
  if (!given_table.dtype().equal(values.array.dtype())) {
    raise_type("values: expected " + str_of(given_table.dtype()) + ", the dtype of the table, got " +
               str_of(values.array.dtype()));
  }
  const Extents shape(given_table.shape(), given_table.shape() + given_table.ndim());
  py::array table = checked_out("table", args[0], values.array.dtype(), shape, {args[2], values.array});
  if ((table.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) == 0) raise_value("table: is not aligned");
  const Looked indices = lookups_of(args[1]);
  Extents needed = indices.shape();
  needed.append(table.shape() + 1, table.shape() + table.ndim());
  const Extents has(values.array.shape(), values.array.shape() + values.array.ndim());
  if (has.size() != needed.size() || !std::equal(has.begin(), has.end(), needed.begin())) {
    raise_value("values: expected " + text_of(needed) + ", the shape of indices and of a row, got " +
                text_of(has));
  }
  check(indices, table.shape(0));
  refuse_overlap("table", table, {args[1], indices.array});
  add_to(values, indices.lookups, 1, false, table);
  return py::none();
}

PyMethodDef scatter_methods[] = {
    method<kGather, gather>("gather_add(table, indices, out=None)\n--\n\n"
                            "The sum of the rows of a table that each row of indices names."),
    method<kBackpropGatherAdd, backprop_gather_add>(
        "backprop_gather_add(dY, indices, rows, out=None)\n--\n\n"
        "For each of so many rows the sum of the rows of dY whose indices name it."),
    method<kAdd, add>("scatter_add(table, indices, values)\n--\n\n"
                      "Adds each row of values to a row of the table, in place."),
    {},
};

}  // namespace

void add_to(const Numbers& values, Lookups lookups, std::int64_t each, bool fresh, py::array& table) {
  const std::int64_t rows = table.shape(0);
  const std::int64_t columns = row_bytes(table) / table.itemsize();
  std::byte* const to = bytes(table);
  const auto* const from = static_cast<const std::byte*>(values.array.data());
  const std::int64_t moved = values.array.nbytes() + (fresh ? table.nbytes() : 0);
  if (!scatter_in_order(values.type, columns, lookups.count)) {
    const Unlocked unlocked(moved);
    scatter_direct(values.type, from, columns, lookups, each, rows, fresh, to);
    return;
  }
  // Counting walks the table's rows, comparing takes some 15 steps a lookup.
  const bool counted = rows <= 16 * lookups.count;
  Scratch<Addition> additions(lookups.count);
  Scratch<std::int64_t> counts(counted ? rows + 1 : 0);
  Scratch<std::int64_t> own(counted ? lookups.count : 0);
  const Unlocked unlocked(moved);
  scatter_order(lookups, each, rows, counted ? counts.data() : nullptr, own.data(), additions.data());
  scatter_add(values.type, from, columns, additions.data(), lookups.count, rows, fresh, to);
}

void bind_scatter(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), scatter_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
