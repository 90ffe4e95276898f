// Lookups in a table, and what is added to its rows.
#include "varlen/scatter.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "cast/cast.hpp"
#include "rooms.hpp"
#include "scatter.hpp"
#include "support/device.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/operands.hpp"
#include "support/outputs.hpp"
#include "support/overlap.hpp"
#include "support/raise.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen::bindings {

namespace {

/// Numbers of rows, of any shape.
struct LookupArray {
  py::array array;
  Lookups lookups;

  [[nodiscard]] Extents shape() const { return shape_of(array); }
};

Lookups lookups_in(const py::array& array, Type type) {
  return {type, data_of(array), array.size()};
}

LookupArray lookups_of(py::handle given_indices) {
  py::array array = as_rows(given_indices, "indices");
  const char kind = array.dtype().kind();
  if (kind != 'i' && kind != 'u') {
    raise_type("indices", "expected integers, got dtype " + str_of(array.dtype()));
  }
  if (array.itemsize() < 4) array = array.attr("astype")(py::dtype::of<std::int64_t>()).cast<py::array>();
  const auto [native, type] = numbers_of(array.ptr(), "indices");
  return {native, lookups_in(native, type)};
}

/// Those that lie on a device, which nobody looks at.
LookupArray lookups_there(const Place& place, PyObject* given_indices) {
  py::array array = rows_at(place, given_indices, "indices");
  const char kind = array.dtype().kind();
  if (kind != 'i' && kind != 'u') {
    raise_type("indices", "expected integers, got dtype " + str_of(array.dtype()));
  }
  if (array.itemsize() < 4) array = cast_at(place, array, py::dtype::of<std::int64_t>(), Fill{});
  const std::optional<Type> type = type_of(array.dtype());
  return {array, lookups_in(array, *type)};
}

void check(const LookupArray& indices, std::int64_t rows) {
  const Status status = scatter_check(indices.lookups, rows);
  if (status.ok()) return;
  const std::int64_t index_count =
      indices.array.ndim() > 1 ? indices.array.size() / indices.array.shape(0) : 1;
  std::string place = "position " + std::to_string(status.where / index_count);
  if (index_count > 1) place += ", " + std::to_string(status.where % index_count);
  const py::object number = indices.array.attr("flat")[py::int_(status.where)];
  int overflow = 0;
  const std::int64_t value = PyLong_AsLongLongAndOverflow(py::int_(number).ptr(), &overflow);
  const std::optional<std::int64_t> lookup = overflow == 0 ? std::optional(value) : std::nullopt;
  raise_index("indices",
              place + " holds " + std::string(py::str(number)) + ", but the table has " +
                  std::to_string(rows) + " rows",
              status.where / index_count, lookup);
}

/// Lookups beside a table, checked where the host has them.
class PlacedIndices {
 public:
  PlacedIndices(const Place& place, PyObject* given_indices) : place_(place) {
    if (!is_device_array(given_indices)) {
      lookup_array_ = lookups_of(given_indices);
    } else if (const py::object readable = readable_array(given_indices)) {
      lookup_array_ = lookups_of(readable);
    } else {
      lookup_array_ = lookups_there(place, given_indices);
      is_there_ = true;
    }
  }

  [[nodiscard]] const LookupArray& lookup_array() const noexcept { return lookup_array_; }
  [[nodiscard]] py::array& array() noexcept { return lookup_array_.array; }

  /// ValueError where there are not two dimensions.
  void expect_pairs() const {
    if (lookup_array_.array.ndim() == 2) return;
    raise_value("indices", "expected two dimensions, got " + std::to_string(lookup_array_.array.ndim()));
  }
  void check(std::int64_t rows) const {
    if (!is_there_) bindings::check(lookup_array_, rows);
  }
  /// At the place of the table.
  [[nodiscard]] Lookups lookups() {
    if (is_there_) return lookup_array_.lookups;
    copy_ = bytes_at(place_, lookup_array_.lookups.data, lookup_array_.array.nbytes());
    return {lookup_array_.lookups.type, copy_.data, lookup_array_.lookups.count};
  }

 private:
  Place place_;
  LookupArray lookup_array_;
  PlacedBytes copy_;
  bool is_there_ = false;
};

/// The output that was given, or a fresh one.
py::array made_for(const Place& place, PyObject* out, const Numbers& like, std::int64_t rows, Inputs inputs) {
  return out_at(place, out, like.array.dtype(), like.rows(rows), inputs);
}

constexpr Signature<3> kGather{"gather_add", {"table", "indices", "out"}, 2, 3};

py::object gather(const Arguments<3>& args) {
  const Numbers table = placed_numbers_of(args[0], "table");
  const Place place = place_of(table.array);
  PlacedIndices indices(place, args[1]);
  indices.expect_pairs();
  const std::int64_t rows = table.array.shape(0);
  indices.check(rows);
  const std::int64_t n = indices.array().shape(0);
  const std::int64_t index_count = indices.array().shape(1);
  py::array result = made_for(place, args[2], table, n, {args[0], table.array, args[1], indices.array()});
  const std::int64_t columns = table.columns();
  const ScratchAt scratch(place, place.kernels->gather_add_scratch(table.type, columns, n, index_count));
  launch(place, "gather_add", result.nbytes(), &cuda::Kernels::gather_add, table.type, data_of(table.array),
         rows, columns, indices.lookups(), n, index_count, scratch.data(), bytes(result));
  return result;
}

constexpr Signature<4> kBackpropGatherAdd{"backprop_gather_add", {"dY", "indices", "rows", "out"}, 3, 4};

py::object backprop_gather_add(const Arguments<4>& args) {
  const Numbers dy = placed_numbers_of(args[0], "dY");
  const Place place = place_of(dy.array);
  PlacedIndices indices(place, args[1]);
  indices.expect_pairs();
  const std::int64_t rows = at_least(0, int_of(args[2], "rows"), "rows");
  if (indices.array().shape(0) != dy.array.shape(0)) {
    raise_value("dY", "has " + std::to_string(dy.array.shape(0)) + " rows for " +
                          std::to_string(indices.array().shape(0)) + " of indices");
  }
  indices.check(rows);
  py::array result = made_for(place, args[3], dy, rows, {args[0], dy.array, args[1], indices.array()});
  add_to(dy, indices.lookups(), indices.array().shape(1), nullptr, result);
  return result;
}

constexpr Signature<3> kAdd{"scatter_add", {"table", "indices", "values"}};

/// What an array of the host or of a device is.
struct TableShape {
  py::dtype dtype;
  Extents shape;
};

TableShape table_of(PyObject* given_table) {
  TableShape table;
  if (is_device_array(given_table)) {
    const DeviceArray& array = device_array_in(given_table);
    table = {array.dtype, array.shape};
  } else {
    if (!py::isinstance<py::array>(given_table)) {
      raise_type("table", "expected an array, got " + type_name(given_table));
    }
    const auto array = py::reinterpret_borrow<py::array>(given_table);
    table = {array.dtype(), {array.shape(), array.shape() + array.ndim()}};
  }
  if (table.shape.empty()) raise_value("table", "expected at least one dimension, got a scalar");
  return table;
}

void check_dtype(const Numbers& values, const py::dtype& dtype) {
  if (dtype.equal(values.array.dtype())) return;
  raise_type("values",
             "expected " + str_of(dtype) + ", the dtype of the table, got " + str_of(values.array.dtype()));
}

/// Refuses values that are not a row of the table for each index, and indices that are no rows of it.
void check_fit(const Numbers& values, const Extents& table, const PlacedIndices& indices) {
  Extents expected = indices.lookup_array().shape();
  expected.append(table.begin() + 1, table.end());
  const Extents has = shape_of(values.array);
  if (has.size() != expected.size() || !std::equal(has.begin(), has.end(), expected.begin())) {
    raise_value("values",
                "expected " + text_of(expected) + ", the shape of indices and of a row, got " + text_of(has));
  }
  indices.check(table[0]);
}

py::object add(const Arguments<3>& args) {
  const Numbers values = placed_numbers_of(args[2], "values");
  const Place place = place_of(values.array);
  const auto [dtype, shape] = table_of(args[0]);
  check_dtype(values, dtype);
  py::array table = checked_out_at(place, "table", args[0], dtype, shape, {args[2], values.array});
  if ((table.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) == 0) raise_value("table", "is not aligned");
  PlacedIndices indices(place, args[1]);
  check_fit(values, shape, indices);
  refuse_overlap("table", table, {args[1], indices.array()});
  add_to(values, indices.lookups(), 1, bytes(table), table);
  return py::none();
}

constexpr Signature<3> kScatterAdded{"scatter_added", {"table", "indices", "values"}};

py::object scatter_added(const Arguments<3>& args) {
  const Numbers table = placed_numbers_of(args[0], "table");
  const Place place = place_of(table.array);
  const Numbers values = numbers_at(place, args[2], "values");
  check_dtype(values, table.array.dtype());
  PlacedIndices indices(place, args[1]);
  check_fit(values, table.rows(table.array.shape(0)), indices);
  py::array result = rows_like_at(place, table.array, table.array.shape(0));
  add_to(values, indices.lookups(), 1, data_of(table.array), result);
  return result;
}

PyMethodDef scatter_methods[] = {
    method<kGather, gather>("gather_add(table, indices, out=None)\n--\n\n"
                            "The sum of the rows of a table that each row of indices names."),
    method<kBackpropGatherAdd, backprop_gather_add>(
        "backprop_gather_add(dY, indices, rows, out=None)\n--\n\n"
        "For each of so many rows the sum of the rows of dY whose indices name it."),
    method<kAdd, add>("scatter_add(table, indices, values)\n--\n\n"
                      "Adds each row of values to a row of the table, in place."),
    method<kScatterAdded, scatter_added>(
        "scatter_added(table, indices, values)\n--\n\n"
        "A copy of a table after each row of values was added to a row of it."),
    {},
};

}  // namespace

void add_to(const Numbers& values, Lookups lookups, std::int64_t index_count, const std::byte* start,
            py::array& table) {
  const std::int64_t rows = table.shape(0);
  const std::int64_t columns = row_bytes(table) / table.itemsize();
  const Place place = place_of(values.array);
  if (!place.is_host() && lookups.count > cuda::kSortLimit) {
    raise_overflow("indices", std::to_string(lookups.count) + " are not sorted on a device");
  }
  const ScratchAt scratch(place, place.kernels->scatter_add_scratch(values.type, columns, lookups, rows));
  const std::int64_t work = values.array.nbytes() + (start == nullptr ? table.nbytes() : 0);
  launch(place, "scatter_add", work, &cuda::Kernels::scatter_add, values.type, data_of(values.array), columns,
         lookups, index_count, rows, start, scratch.data(), bytes(table));
}

void bind_scatter(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), scatter_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
