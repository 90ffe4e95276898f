#include "pack.hpp"

#include <optional>
#include <string>

#include "concat/concat.hpp"
#include "level/level.hpp"
#include "lists/lists.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/model/memory.hpp"

namespace varlen::bindings {

namespace {

py::tuple result(const py::array& data, const PackFields& fields) {
  return py::make_tuple(data, fields.size_at_t, fields.lengths, fields.indices);
}

/// An uninitialised block and what goes with it, of rows of a dtype and shape.
struct PackBlock {
  py::array data;
  PackFields fields;
  Fill fill;

  PackBlock(const Place& place, const py::dtype& dtype, const Extents& row, Offsets level,
            std::int64_t longest, Ties ties, PyObject* given_fill, PyObject* max_bytes) {
    Extents shape{longest, level.count};
    shape.append(row.begin(), row.end());
    std::int64_t total_bytes = 0;
    const std::int64_t limit = max_bytes_of(max_bytes);
    padded_bytes("size_at_t", py::dtype::of<std::int64_t>(), {longest}, limit, total_bytes);
    padded_bytes("data", dtype, shape, limit, total_bytes);
    fill = fill_of(or_none(given_fill), dtype, row, "fill");
    fields = pack_order_of(level, longest, ties);
    data = empty_at(place, dtype, shape);
  }

  void write(const std::byte* const* rows, std::int64_t width) {
    pack(fields.steps(true), rows, width, fill.data(), fill.period(), bytes(data));
  }
};

py::object to_padded(const PackSource& from, PyObject* ties, PyObject* fill, PyObject* max_bytes) {
  from.level->sync();  // a bound has no steps
  const Offsets level = from.level->view();
  const Place place = place_of(from.values);
  PackBlock block(place, from.values.dtype(), from.row(), level, from.level->longest(), ties_of(ties), fill,
                  max_bytes);
  pack_at(place, from, block.fields, true, block.fill, block.data);
  return result(block.data, block.fields);
}

constexpr Signature<5> kPadded{"ragged2padded", {"values", "level", "ties", "fill", "max_bytes"}, 2, 5};

py::object ragged2padded(const Arguments<5>& args) {
  return to_padded(PackSource(args[0], args[1]), args[2], args[3], args[4]);
}

constexpr Signature<4> kList{"list2padded", {"seqs", "ties", "fill", "max_bytes"}, 1, 4};

py::object list2padded(const Arguments<4>& args) {
  const Ties ties = ties_of(args[1]);
  const py::object list = array_list(args[0], "seqs");
  if (lie_on_device(list)) {
    const JoinedRows input = join_there(list, "seqs");
    return to_padded(PackSource(export_result(input.values).ptr(), input.level.ptr()), args[1], args[2],
                     args[3]);
  }
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(list.ptr());
  NewLevel lengths(count);
  Pieces pieces(PySequence_Fast_ITEMS(list.ptr()), count, "seqs", lengths.offsets());
  if (is_given(args[2])) pieces.hold();  // Python code may run, and change the list
  const Offsets level = lengths.view();
  const Extents row = count == 0 ? Extents{0} : Extents(pieces.shape() + 1, pieces.shape() + pieces.nd());
  const auto dtype = count == 0 ? dtype_of(Number::f32) : py::reinterpret_borrow<py::dtype>(pieces.descr());
  PackBlock block({}, dtype, row, level, pieces.longest(), ties, args[2], args[3]);
  Scratch<const std::byte*> rows(count);
  {
    std::optional<GilRelease> gil_release;
    const std::int64_t bytes = block.data.nbytes();
    if (may_unlock(bytes, count)) {
      pieces.hold();
      gil_release.emplace(bytes);
    }
    pack_columns(pieces.data(), block.fields.order(), count, rows.data());
    block.write(rows.data(), pieces.width());
  }
  return result(block.data, block.fields);
}

/// Values end to end in their original order, and their Level.
py::object to_ragged(const py::array& data, const PackFields& fields, bool padded) {
  const int axes = padded ? 2 : 1;
  NewLevel original = fields.level();
  const Offsets level = original.view();
  Extents shape{level.total()};
  shape.append(data.shape() + axes, data.shape() + data.ndim());
  const Place place = place_of(data);
  py::array values = empty_at(place, data.dtype(), shape);
  const std::int64_t width = row_bytes(values);
  const auto* block = data_of(data);
  std::byte* const out = bytes(values);
  if (!place.is_host()) {  // the host unpacks to the addresses of sequences
    const PlacedSteps steps(place, fields, padded, level.total());
    Scratch<std::int64_t> columns(level.count);
    pack_places(fields.order(), level.count, columns.data());
    const PlacedInts device_columns = ints_at(place, columns.data(), level.count);
    LevelRef result = std::move(original).finish();
    place.check(place.kernels->unpack(place.stream, steps.view, block, width,
                                      offsets_at(place, LevelRef::unwrap(result)), device_columns.data,
                                      shape[0], out),
                "unpack");
    return py::make_tuple(values, result);
  }
  {
    const GilRelease gil_release(values.nbytes());
    Scratch<std::byte*> room(level.count);
    unpack(fields.steps(padded), block, width, level, fields.order(), room.data(), out);
  }
  return py::make_tuple(values, std::move(original).finish());
}

constexpr Signature<4> kRagged{"padded2ragged", {"data", "size_at_t", "lengths", "indices"}};
constexpr Signature<4> kRowsBack{"packed2ragged", {"rows", "size_at_t", "lengths", "indices"}};
constexpr Signature<4> kFields{"check_padded", {"shape", "size_at_t", "lengths", "indices"}};

py::object padded2ragged(const Arguments<4>& args) {
  const py::array data = as_placed_rows(args[0], "data");
  if (data.ndim() < 2) {
    raise_value("data", "expected (steps, columns, ...), got shape " + text_of(shape_of(data)));
  }
  return to_ragged(data, pack_fields_of(args[1], args[2], args[3], data.shape(0), data.shape(1)), true);
}

py::object packed2ragged(const Arguments<4>& args) {
  const py::array rows = as_placed_rows(args[0], "rows");
  const PackFields fields = pack_fields_of(args[1], args[2], args[3], -1, -1);
  const std::int64_t total = fields.level().view().total();
  if (total != rows.shape(0)) {
    raise_value("rows", "there are " + std::to_string(rows.shape(0)) + ", but the lengths add up to " +
                            std::to_string(total));
  }
  return to_ragged(rows, fields, false);
}

py::object check_padded(const Arguments<4>& args) {
  const auto shape = py::reinterpret_borrow<py::sequence>(args[0]);
  const PackFields fields =
      pack_fields_of(args[1], args[2], args[3], shape[0].cast<std::int64_t>(), shape[1].cast<std::int64_t>());
  return py::make_tuple(fields.size_at_t, fields.lengths, fields.indices);
}

PyMethodDef pack_methods[] = {
    method<kFields, check_padded>(
        "check_padded(shape, size_at_t, lengths, indices)\n--\n\n"
        "What is said of a block (steps, columns, ...), as read-only int64; sizes that are None are "
        "counted."),
    method<kList, list2padded>("list2padded(seqs, ties='reversed', fill=None, max_bytes=None)\n--\n\n"
                               "Arrays to a time-major block, its size_at_t, lengths and indices."),
    method<kRowsBack, packed2ragged>("packed2ragged(rows, size_at_t, lengths, indices)\n--\n\n"
                                     "Packed rows to values end to end and their Level."),
    method<kRagged, padded2ragged>("padded2ragged(data, size_at_t, lengths, indices)\n--\n\n"
                                   "A block to values end to end, in their original order, and their Level."),
    method<kPadded, ragged2padded>(
        "ragged2padded(values, level, ties='reversed', fill=None, max_bytes=None)\n--\n\n"
        "Values to a time-major block, its size_at_t, lengths and indices."),
    {},
};

}  // namespace

void bind_pack(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), pack_methods) < 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
