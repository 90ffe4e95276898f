// Lists of arrays padded to one rectangle, with its mask.
#include "pad/pad.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include "concat/concat.hpp"
#include "errors.hpp"
#include "lists.hpp"
#include "request.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen::bindings {

namespace {

/// What stands where no data is; `row_fill` owns its bytes, or `plain` holds them.
struct Fill16 {
  Fill row_fill;
  alignas(16) std::byte plain[16] = {};
  FillPattern pattern;
};

bool is_zero(PyObject* fill) {
  std::int64_t value = 1;
  if (fill == nullptr || fill == Py_False) return true;
  if (PyLong_CheckExact(fill)) return short_int(fill, value) && value == 0;
  return PyFloat_CheckExact(fill) && PyFloat_AS_DOUBLE(fill) == 0 && !std::signbit(PyFloat_AS_DOUBLE(fill));
}

/// Ints and floats that the dtype holds, without a detour over NumPy; false for others.
bool plain_fill(PyObject* fill, const Pieces& pieces, Fill16& out) {
  const auto number = number_of(pieces.descr());
  if (!number) return false;
  std::byte carrier[8];
  std::int64_t integer = 0;
  Number from = Number::i64;
  if (PyLong_CheckExact(fill) && short_int(fill, integer)) {
    std::memcpy(carrier, &integer, sizeof(integer));
  } else if (PyFloat_CheckExact(fill)) {
    const double value = PyFloat_AS_DOUBLE(fill);
    std::memcpy(carrier, &value, sizeof(value));
    from = Number::f64;
  } else {
    return false;
  }
  if (store_numbers(from, carrier, 1, *number, out.plain) >= 0) return false;
  out.pattern = FillPattern(out.plain, pieces.itemsize());
  return true;
}

void make_fill(PyObject* fill, Pieces& pieces, Fill16& out) {
  if (is_zero(fill) || plain_fill(fill, pieces, out)) return;
  if (fill == Py_None) raise_type("fill", "expected a value, got None");
  pieces.hold();  // from here on Python code may run, and change the list
  const auto given_fill = py::reinterpret_borrow<py::object>(fill);
  const auto dtype = py::reinterpret_borrow<py::dtype>(pieces.descr());
  const Extents row(pieces.shape() + 1, pieces.shape() + pieces.nd());
  out.row_fill = fill_of(given_fill, dtype, row, "fill");
  out.pattern = FillPattern(out.row_fill.data(), out.row_fill.period());
}

std::int64_t slots_for(std::int64_t longest, std::int64_t round_to) {
  const std::int64_t rest = longest % at_least(1, round_to, "round_to");
  std::int64_t slots = longest;
  if (rest != 0 && !checked_add(slots, round_to - rest, slots)) {
    raise_overflow("round_to", "the padded length does not fit 63 bits");
  }
  return slots;
}

void check_bytes(std::int64_t count, std::int64_t slots, std::int64_t width, std::int64_t max_bytes) {
  std::int64_t bytes = 0;
  const bool fits = checked_mul(count, slots, bytes) && checked_mul(bytes, width, bytes);
  if (fits && bytes <= max_bytes) return;
  const std::string text = std::to_string(count) + " sequences padded to " + std::to_string(slots) +
                           " rows of " + std::to_string(width) + " bytes";
  if (!fits) raise_overflow(Record{"arrays", text + " do not fit 63 bits", {}, {}, {}, "padded_size"});
  raise_value(
      Record{"arrays",
             text + " are " + std::to_string(bytes) + " bytes, over max_bytes=" + std::to_string(max_bytes),
             {},
             bytes,
             "give max_len, or keep them ragged",
             "padded_size"});
}

/// What list2dense was asked for.
struct PadRequest {
  Side side, cut;
  std::int64_t max_len, round_to, max_bytes;
  bool with_mask;
  py::object dtype;
  PyObject* fill;
  PyObject* out;
};

/// Arrays that lie on a device.
py::object pad_there(const py::sequence& list, const PadRequest& request) {
  if (request.fill == Py_None) raise_type("fill", "expected a value, got None");
  const JoinedRows input = join_there(list, "arrays", request.dtype);
  const Place place = place_of(input.values);
  const Rows rows = rows_of(input.values);
  Level& level = LevelRef::unwrap(input.level);
  const std::int64_t length = std::min(level.stats().longest, request.max_len);
  const std::int64_t slots = slots_for(length, request.round_to);
  check_bytes(level.count(), slots, rows.width, request.max_bytes);
  const Extents row(input.values.shape() + 1, input.values.shape() + input.values.ndim());
  Extents shape{level.count(), slots};
  shape.append(row.begin(), row.end());
  const py::dtype dtype = input.values.dtype();
  const Fill pattern = fill_of(or_none(request.fill), dtype, row, "fill");
  py::array out = out_at(place, request.out, dtype, shape, {input.values});
  py::object keep;
  const cuda::Fill fill =
      fill_at(place, pattern.data(), pattern.period() > 0 ? pattern.period() : rows.width, rows.width, keep);
  Padding how;
  how.side = request.side;
  how.cut = request.cut;
  how.fill = fill.data;
  how.period = fill.period;
  how.keeps = &length;
  const Offsets level_ends = offsets_at(place, level);
  const Range all{0, level.count()};
  cuda::PadMore extras;
  py::object mask;
  if (request.with_mask) {
    py::array marks = empty_at(place, py::dtype::of<bool>(), {level.count(), slots});
    extras.mask = bytes(marks);
    mask = std::move(marks);
  }
  place.check(place.kernels->pad(place.stream, &level_ends, 1, all, rows, &slots, how, extras, bytes(out)),
              "pad");
  if (!request.with_mask) return out;
  return py::make_tuple(out, mask);
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
  const Side side = side_or_right(args[kSide], "padding_side");
  const Side cut = side_or_right(args[kTruncate], "truncate");
  const std::int64_t max_len =
      is_given(args[kMaxLen]) ? at_least(0, int_of(args[kMaxLen], "max_len"), "max_len") : INT64_MAX;
  const std::int64_t round_to = args[kRoundTo] != nullptr ? int_of(args[kRoundTo], "round_to") : 1;
  const std::int64_t max_bytes = max_bytes_of(args[kMaxBytes]);
  const bool with_mask = args[kMask] != nullptr && truth_of(args[kMask], "mask");
  const py::object dtype = dtype_given(args[kDtype]);

  const py::object list = array_list(args[kArrays], "arrays");
  if (lie_on_device(list)) {
    return pad_there(list,
                     {side, cut, max_len, round_to, max_bytes, with_mask, dtype, args[kFill], args[kOut]});
  }
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(list.ptr());
  std::optional<NewLevel> level;
  if (!dtype.is_none()) level.emplace(count);
  Pieces pieces(PySequence_Fast_ITEMS(list.ptr()), count, "arrays", level ? level->offsets() : nullptr);
  py::object keep;
  if (level) recast(pieces, *level, dtype, keep);
  Fill16 fill;
  make_fill(args[kFill], pieces, fill);

  Py_intptr_t shape[kMaxDepth + 1];
  shape[0] = count;
  shape[1] = slots_for(std::min(pieces.longest(), max_len), round_to);
  for (int axis = 1; axis < pieces.nd(); ++axis) shape[axis + 1] = pieces.shape()[axis];
  check_bytes(count, shape[1], pieces.width(), max_bytes);
  if (max_len < pieces.longest()) cut_pieces(pieces.data(), count, max_len, pieces.width(), cut);
  py::object out = is_given(args[kOut]) ? checked_out(args[kOut], pieces, pieces.nd() + 1, shape, 1)
                                        : empty(pieces.descr(), pieces.nd() + 1, shape);
  const std::int64_t slots = shape[1];
  py::object mask;
  if (with_mask) mask = empty(dtype_of(Number::boolean).ptr(), 2, shape);
  const std::int64_t bytes = count * slots * pieces.width();
  {
    std::optional<GilRelease> gil_release;
    if (may_unlock(bytes, count)) {
      pieces.hold();
      gil_release.emplace(bytes);
    }
    pad_pieces(pieces.data(), count, slots, pieces.width(), side, fill.pattern, memory_of(out));
    if (with_mask) mask_pieces(pieces.data(), count, slots, side, memory_of(mask));
  }
  if (!with_mask) return out;
  return py::make_tuple(out, mask);
}

PyMethodDef lists_pad_methods[] = {
    method<kListToDense, list2dense>(
        "list2dense(arrays, round_to=1, fill=0, padding_side='right', max_len=None, truncate='right',\n"
        "           mask=False, out=None, dtype=None, max_bytes=None)\n--\n\n"
        "Arrays padded to one rectangle (n, longest, ...); with mask=True also a bool (n, longest)."),
    {},
};

}  // namespace

void add_list2dense(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), lists_pad_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
