// Packed rows out of a level, in an order of their own or in one that was given.
#include <string>

#include "level/level.hpp"
#include "pack.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/fastcall.hpp"
#include "support/raise.hpp"
#include "varlen/model/memory.hpp"

namespace varlen::bindings {

PackSource::PackSource(PyObject* given_values, PyObject* given_level)
    : values(as_placed_rows(given_values, "values")) {
  LevelRef::expect(given_level, "level");
  level = &LevelRef::unwrap(given_level);
  if (!level->fits(values.shape(0))) {
    raise_value("level", "the lengths add up to " + std::to_string(level->total()) + ", but there are " +
                             std::to_string(values.shape(0)) + " values");
  }
  rows = rows_of(values);
}

Extents PackSource::row() const {
  return {values.shape() + 1, values.shape() + values.ndim()};
}

PackFields pack_fields_of(PyObject* input, Offsets level) {
  if (!PyTuple_Check(input) || PyTuple_GET_SIZE(input) != 3) {
    raise_type("fields", "expected size_at_t, lengths and indices, got " + type_name(input));
  }
  PackFields fields = pack_fields_of(PyTuple_GET_ITEM(input, 0), PyTuple_GET_ITEM(input, 1),
                                     PyTuple_GET_ITEM(input, 2), -1, level.count);
  const auto* lengths = static_cast<const std::int64_t*>(fields.lengths.data());
  const Status status = pack_check_level(level, lengths, fields.order());
  if (!status.ok()) {
    raise_value("level", "sequence " + std::to_string(fields.order()[status.where]) + " has length " +
                             std::to_string(status.value) + ", but its column has " +
                             std::to_string(lengths[status.where]));
  }
  return fields;
}

void pack_at(const Place& place, const PackSource& from, const PackFields& fields, bool padded,
             const Fill& fill, py::array& out) {
  const Offsets level = from.level->view();
  if (place.is_host()) {  // which packs from the addresses of sequences
    Scratch<const std::byte*> rows(level.count);
    const GilRelease gil_release(out.nbytes());
    pack_columns(from.rows.data, from.rows.width, level, fields.order(), level.count, rows.data());
    pack(fields.steps(padded), rows.data(), from.rows.width, fill.data(), fill.period(), bytes(out));
    return;
  }
  const PlacedSteps steps(place, fields, padded, level.total());
  const PlacedInts order = ints_at(place, fields.order(), level.count);
  py::object keep;
  const cuda::Fill device_fill = fill_at(place, fill.data(), fill.period(), from.rows.width, keep);
  launch(place, "pack", 0, &cuda::Kernels::pack, steps.view, from.rows, offsets_at(place, *from.level),
         order.data, device_fill, bytes(out));
}

namespace {

constexpr Signature<2> kOrder{"pack_order", {"level", "ties"}, 1, 2};
constexpr Signature<4> kPacked{"ragged2packed", {"values", "level", "ties", "fields"}, 2, 4};

py::object pack_order(const Arguments<2>& args) {
  LevelRef::expect(args[0], "level");
  Level& level = LevelRef::unwrap(args[0]);
  level.sync();  // a bound has no steps
  const PackFields result = pack_order_of(level.view(), level.longest(), ties_of(args[1]));
  return py::make_tuple(result.size_at_t, result.lengths, result.indices);
}

py::object ragged2packed(const Arguments<4>& args) {
  const PackSource from(args[0], args[1]);
  from.level->sync();
  const Offsets level = from.level->view();
  const Ties ties = ties_of(args[2]);
  const PackFields fields =
      is_given(args[3]) ? pack_fields_of(args[3], level) : pack_order_of(level, from.level->longest(), ties);
  Extents shape{level.total()};
  const Extents row = from.row();
  shape.append(row.begin(), row.end());
  const Place place = place_of(from.values);
  py::array data = empty_at(place, from.values.dtype(), shape);
  pack_at(place, from, fields, false, {}, data);
  return py::make_tuple(data, fields.size_at_t, fields.lengths, fields.indices);
}

PyMethodDef pack_rows_methods[] = {
    method<kOrder, pack_order>("pack_order(level, ties='reversed')\n--\n\n"
                               "size_at_t, lengths and indices of the sequences of a level."),
    method<kPacked, ragged2packed>(
        "ragged2packed(values, level, ties='reversed', fields=None)\n--\n\n"
        "Values to packed rows, size_at_t, lengths and indices, which may be given."),
    {},
};

}  // namespace

void bind_pack_rows(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), pack_rows_methods) < 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
