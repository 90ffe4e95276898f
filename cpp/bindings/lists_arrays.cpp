// Lists of arrays: laid end to end with their level, or padded to one rectangle. One walk over the objects,
// then memory only.
#include "lists_arrays.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "fastcall.hpp"
#include "level.hpp"
#include "lists.hpp"
#include "lists_errors.hpp"
#include "lists_pieces.hpp"
#include "raise.hpp"
#include "varlen/checked.hpp"

namespace varlen::bindings {

namespace {

py::object sequence_of(PyObject* arrays) {
  auto fast = py::reinterpret_steal<py::object>(PySequence_Fast(arrays, "arrays: expected a list of arrays"));
  if (!fast) throw py::error_already_set();
  return fast;
}

/// Zero bytes for every plain kind of zero, else the value in the dtype of the pieces.
struct Fill16 {
  py::object keep;
  FillPattern pattern;
};

bool is_zero(PyObject* fill) {
  std::int64_t value = 1;
  if (fill == nullptr || fill == Py_False) return true;
  if (PyLong_CheckExact(fill)) return short_int(fill, value) && value == 0;
  return PyFloat_CheckExact(fill) && PyFloat_AS_DOUBLE(fill) == 0 && !std::signbit(PyFloat_AS_DOUBLE(fill));
}

Fill16 fill_of(PyObject* fill, const Pieces& pieces) {
  if (is_zero(fill)) return {};
  const auto given_fill = py::reinterpret_borrow<py::object>(fill);
  const auto dtype = py::reinterpret_borrow<py::dtype>(pieces.descr());
  Request request;
  request.dtype = dtype;
  request.want.number = number_of(pieces.descr());
  request.name = "fill";
  const char kind = dtype.kind();
  py::object value = kind == 'm' || kind == 'M' || kind == 'V'
                         ? numpy("array")(given_fill, py::arg("dtype") = dtype)
                         : numpy("asarray")(given_fill);
  const auto* fields = fields_of(value.ptr());
  if (!Api::get().PyArray_EquivTypes_(fields->descr, pieces.descr())) {
    const py::object shape = value.attr("shape");
    value = cast_checked(value.attr("reshape")(-1), Shape{}, request).attr("reshape")(shape);
  }
  std::int64_t unit = pieces.itemsize();
  if (fields_of(value.ptr())->nd > 0) {
    py::tuple row(static_cast<std::size_t>(pieces.nd() - 1));
    for (int axis = 1; axis < pieces.nd(); ++axis)
      row[static_cast<std::size_t>(axis - 1)] = pieces.shape()[axis];
    value = numpy("ascontiguousarray")(numpy("broadcast_to")(value, row));
    unit = pieces.width();
  }
  const auto* data = reinterpret_cast<const std::byte*>(fields_of(value.ptr())->data);
  return {value, FillPattern(data, unit)};
}

/// The pieces in the dtype that was asked for: through one flat array, so that an error can name the place.
void recast(Pieces& pieces, const py::array& offsets, PyObject* dtype, py::object& keep) {
  Request request;
  request.dtype = py::dtype::from_args(py::reinterpret_borrow<py::object>(dtype));
  request.want.number = number_of(request.dtype.ptr());
  request.name = "arrays";
  if (Api::get().PyArray_EquivTypes_(pieces.descr(), request.dtype.ptr())) return;
  Shape shape;
  shape.offsets.push_back(offsets);
  keep = cast_checked(pieces.flat(static_cast<const std::int64_t*>(offsets.data()), nullptr), shape, request);
  pieces.rebase(keep);
}

constexpr Signature<3> kListToRagged{"list2ragged", {"arrays", "dtype", "out"}, 1, 3};

py::object list2ragged(const Arguments<3>& args) {
  const py::object list = sequence_of(args[0]);
  const Py_intptr_t entries[] = {PySequence_Fast_GET_SIZE(list.ptr()) + 1};
  const py::array offsets = make_array(dtype_of(Number::i64).ptr(), 1, entries);
  auto* const to = reinterpret_cast<std::int64_t*>(fields_of(offsets.ptr())->data);
  Pieces pieces(PySequence_Fast_ITEMS(list.ptr()), entries[0] - 1, "arrays", to);
  py::object keep;
  if (given(args[1])) recast(pieces, offsets, args[1], keep);
  const py::array out = pieces.flat(to, given(args[2]) ? args[2] : nullptr);
  return py::make_tuple(out, py::cast(Level::trusted(offsets)));
}

Side side_of(PyObject* side, const char* argument) {
  if (side == nullptr) return Side::right;
  if (PyUnicode_Check(side)) {
    if (PyUnicode_CompareWithASCIIString(side, "right") == 0) return Side::right;
    if (PyUnicode_CompareWithASCIIString(side, "left") == 0) return Side::left;
  }
  raise_value(std::string(argument) + " must be 'left' or 'right'; got " +
              py::repr(side).cast<std::string>());
}

std::int64_t slots_for(std::int64_t longest, std::int64_t max_len, std::int64_t round_to) {
  if (round_to < 1) raise_value("round_to: must be at least 1, got " + std::to_string(round_to));
  std::int64_t slots = max_len >= 0 && max_len < longest ? max_len : longest;
  const std::int64_t rest = slots % round_to;
  if (rest != 0 && !checked_add(slots, round_to - rest, slots)) {
    raise_overflow("round_to: the padded length does not fit 63 bits");
  }
  return slots;
}

void check_bytes(const Pieces& pieces, std::int64_t slots, std::int64_t max_bytes) {
  std::int64_t bytes = 0;
  const bool fits = checked_mul(pieces.count(), slots, bytes) && checked_mul(bytes, pieces.width(), bytes);
  const std::string text = "arrays: " + std::to_string(pieces.count()) + " sequences padded to " +
                           std::to_string(slots) + " rows of " + std::to_string(pieces.width()) + " bytes";
  if (!fits) raise_overflow(text + " do not fit 63 bits");
  if (max_bytes >= 0 && bytes > max_bytes) {
    raise_value(text + " are " + std::to_string(bytes) + " bytes, over max_bytes=" +
                std::to_string(max_bytes) + "; give max_len, or keep them ragged");
  }
}

enum Pad {
  kArrays,
  kRoundTo,
  kFill,
  kSide,
  kMaxLen,
  kTruncate,
  kMask,
  kOut,
  kDtype,
  kMaxBytes,
  kPadArguments
};
constexpr Signature<kPadArguments> kListToDense{"list2dense",
                                                {"arrays", "round_to", "fill", "padding_side", "max_len",
                                                 "truncate", "mask", "out", "dtype", "max_bytes"},
                                                1,
                                                kPadArguments};

py::object list2dense(const Arguments<kPadArguments>& args) {
  const Side side = side_of(args[kSide], "padding_side");
  const Side cut = side_of(args[kTruncate], "truncate");
  const std::int64_t max_len = given(args[kMaxLen]) ? int_of(args[kMaxLen], "max_len") : -1;
  if (given(args[kMaxLen]) && max_len < 0)
    raise_value("max_len: must not be negative, got " + std::to_string(max_len));
  const std::int64_t round_to = args[kRoundTo] != nullptr ? int_of(args[kRoundTo], "round_to") : 1;
  const bool with_mask = args[kMask] != nullptr && truth_of(args[kMask]);

  const py::object list = sequence_of(args[kArrays]);
  PyObject* const* items = PySequence_Fast_ITEMS(list.ptr());
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(list.ptr());
  py::array offsets;
  std::int64_t* ends = nullptr;
  if (given(args[kDtype])) {
    offsets = empty_ints(count + 1);
    ends = static_cast<std::int64_t*>(offsets.mutable_data());
  }
  Pieces pieces(items, count, "arrays", ends);
  py::object keep;
  if (ends != nullptr) recast(pieces, offsets, args[kDtype], keep);

  std::int64_t slots = slots_for(pieces.longest(), max_len, round_to);
  if (max_len >= 0 && max_len < pieces.longest())
    cut_pieces(pieces.data(), count, max_len, pieces.width(), cut);
  check_bytes(pieces, slots, given(args[kMaxBytes]) ? int_of(args[kMaxBytes], "max_bytes") : -1);

  Py_intptr_t shape[kMaxDepth + 1] = {count, slots};
  for (int axis = 1; axis < pieces.nd(); ++axis) shape[axis + 1] = pieces.shape()[axis];
  py::array out;
  if (given(args[kOut])) {
    out = checked_out(args[kOut], pieces.descr(), pieces.nd() + 1, shape, 1);
    slots = shape[1];
  } else {
    out = make_array(pieces.descr(), pieces.nd() + 1, shape);
  }
  const Fill16 fill = fill_of(args[kFill], pieces);
  py::array mask;
  if (with_mask) mask = make_array(dtype_of(Number::boolean).ptr(), 2, shape);
  const std::int64_t bytes = count * slots * pieces.width();
  {
    std::optional<Unlocked> unlocked;
    if (may_unlock(bytes, count)) {
      pieces.hold();
      unlocked.emplace(bytes);
    }
    pad_pieces(pieces.data(), count, slots, pieces.width(), side, fill.pattern,
               reinterpret_cast<std::byte*>(fields_of(out.ptr())->data));
    if (with_mask) {
      mask_pieces(pieces.data(), count, slots, side,
                  reinterpret_cast<std::byte*>(fields_of(mask.ptr())->data));
    }
  }
  if (!with_mask) return out;
  return py::make_tuple(out, mask);
}

PyMethodDef methods[] = {
    method<kListToDense, list2dense>(
        "list2dense(arrays, round_to=1, fill=0, padding_side='right', max_len=None, truncate='right',\n"
        "           mask=False, out=None, dtype=None, max_bytes=None)\n--\n\n"
        "Arrays padded to one rectangle (n, longest, ...); with mask=True also a bool (n, longest)."),
    method<kListToRagged, list2ragged>("list2ragged(arrays, dtype=None, out=None)\n--\n\n"
                                       "Arrays laid end to end on axis 0, and the Level of their lengths."),
    {},
};

}  // namespace

void add_array_lists(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
