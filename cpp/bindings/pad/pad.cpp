#include "pad.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "cast/cast.hpp"
#include "joint/joint.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/level.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/checked.hpp"

namespace varlen::bindings {

namespace {

/// False: no such output. True: a fresh one. An array: that one, checked.
py::object asked(const Place& place, py::handle given, std::string_view name, const Extents& shape,
                 Inputs inputs, std::int64_t max_bytes, std::int64_t& used) {
  if (given.ptr() == Py_False || given.is_none()) return py::none();
  const py::dtype dtype = py::dtype::of<bool>();
  if (given.ptr() != Py_True) return checked_out_at(place, name, given, dtype, shape, inputs);
  padded_bytes(name, dtype, shape, max_bytes, used);
  return empty_at(place, dtype, shape);
}

py::array array_in(const py::object& output) {
  return py::reinterpret_borrow<py::array>(output);
}

std::byte* bytes_of(const py::object& output) {
  return static_cast<std::byte*>(array_in(output).mutable_data());
}

/// The rectangle, with what else there is behind it.
py::object outputs_of(const py::object& out, const py::object& marks, const py::object& nans) {
  if (marks.is_none() && nans.is_none()) return out;
  if (nans.is_none()) return py::make_tuple(out, marks);
  if (marks.is_none()) return py::make_tuple(out, nans);
  return py::make_tuple(out, marks, nans);
}

constexpr Signature<15> kPad{
    "pad",
    {"values", "levels", "padding_side", "fill", "mask", "max_len", "truncate", "out", "dtype",
     "pad_to_multiple", "max_bytes", "sizes", "nan", "nan_mask", "past_caches"},
    2,
    15};

py::object pad_arrays(const Arguments<15>& args) {
  const auto [given_values, given_levels, side, given_fill, given_mask, most, truncate, given_out,
              given_dtype, multiple, given_max_bytes, exact, given_nan, given_nan_mask, given_past] = args;
  py::array values = as_placed_rows(given_values, "values");
  const Place place = place_of(values);
  const Levels levels = levels_of(given_levels, values.shape(0), place);
  Padding how;
  how.side = side_or_right(side, "padding_side");
  how.cut = side_or_right(truncate, "truncate");
  const auto [sizes, keeps, cuts] = slots_of(levels, exact, most, multiple, how.cut);
  how.keeps = keeps.data();
  Extents slots{levels.views[0].count};
  slots.append(sizes.begin(), sizes.end());
  const Extents row(values.shape() + 1, values.shape() + values.ndim());
  Extents shape = slots;
  shape.append(row.begin(), row.end());

  const py::dtype to = dtype_of(or_none(given_dtype), values.dtype());
  const bool wants_nan = given(given_nan_mask) && given_nan_mask != Py_False;
  refuse_unseen(place, values.dtype(), to, given(given_nan) || wants_nan, "values");
  values = convertible(values, to, given(given_nan) || wants_nan);
  const Fill pattern = fill_of(or_none(given_fill), to, row, "fill");
  const Fill instead = fill_of(or_none(given_nan), to, {}, "nan");
  how.fill = pattern.data();
  how.period = pattern.period();
  // Where all of the values go into fresh memory, what does not fit is found on the way.
  std::atomic<bool> lost{false};
  const bool looks_on_the_way = !cuts && !given(given_out) && place.is_host();
  how.convert = is_seen_at(place)
                    ? convert_of(values, to, instead, "values", looks_on_the_way ? &lost : nullptr)
                    : Convert{};
  Convert is_nan;
  if (wants_nan) {
    const auto from = type_of(values.dtype());
    if (!from || !is_float(*from)) {
      raise_type("nan_mask: expected values of a float dtype, got " + str_of(values.dtype()));
    }
    is_nan = nan_mask_of(*from);
  }

  const std::int64_t max_bytes =
      given(given_max_bytes) ? int_of(given_max_bytes, "max_bytes") : default_max_bytes();
  if (max_bytes < 0) raise_value("max_bytes: expected at least 0, got " + std::to_string(max_bytes));
  std::int64_t used = 0;
  const Inputs inputs{given_values, values, given_fill, given_nan};
  if (!given(given_out)) padded_bytes("values", to, shape, max_bytes, used);
  py::object out = given(given_out) ? checked_out_at(place, "out", given_out, to, shape, inputs)
                                    : empty_at(place, to, shape);
  py::object marks = asked(place, or_none(given_mask), "mask", slots, inputs, max_bytes, used);
  py::object nans = asked(place, or_none(given_nan_mask), "nan_mask", shape, inputs, max_bytes, used);
  if (!marks.is_none()) refuse_shared("mask", array_in(marks), array_in(out));
  if (!nans.is_none()) {
    refuse_shared("nan_mask", array_in(nans), array_in(out));
    if (!marks.is_none()) refuse_shared("nan_mask", array_in(nans), array_in(marks));
  }

  const Rows rows = rows_of(values);
  const Range all{0, levels.views[0].count};
  std::int64_t bytes = 0;
  for (const py::object* one : {&out, &marks, &nans}) {
    if (!one->is_none()) bytes += array_in(*one).nbytes();
  }
  how.stores = !given(given_past)      ? stores_for(bytes)
               : given_past == Py_True ? Stores::past_caches
                                       : Stores::cached;
  {
    std::byte* const to_out = bytes_of(out);
    std::byte* const to_marks = marks.is_none() ? nullptr : bytes_of(marks);
    std::byte* const to_nans = nans.is_none() ? nullptr : bytes_of(nans);
    if (!place.is_host()) {
      const auto there = offsets_at(place, levels);
      const int depth = levels.depth();
      py::object keep;
      const std::int64_t width = row_bytes(values) / values.itemsize() * to.itemsize();
      const auto [fill, period] = fill_at(place, how.fill, how.period > 0 ? how.period : width, width, keep);
      how.fill = fill;
      how.period = period;
      const py::array converted = cast_at(place, values, to, instead);
      place.check(place.kernels->pad(place.stream, there.data(), depth, all, rows_of(converted), sizes.data(),
                                     how, to_out),
                  "pad");
      if (to_marks != nullptr) {
        place.check(
            place.kernels->pad_mask(place.stream, there.data(), depth, all, sizes.data(), how, to_marks),
            "pad");
      }
      if (to_nans != nullptr) {
        const py::array are_nan = nan_mask_at(place, values);
        how.fill = nullptr;
        place.check(place.kernels->pad(place.stream, there.data(), depth, all, rows_of(are_nan), sizes.data(),
                                       how, to_nans),
                    "pad");
      }
      return outputs_of(out, marks, nans);
    }
    const Unlocked unlocked(bytes);
    pad(levels.views.data(), levels.depth(), all, rows, sizes.data(), how, to_out);
    if (to_marks != nullptr) pad_mask(levels.views.data(), levels.depth(), all, sizes.data(), how, to_marks);
    if (to_nans != nullptr) {
      how.fill = nullptr;
      how.convert = is_nan;
      pad(levels.views.data(), levels.depth(), all, rows, sizes.data(), how, to_nans);
    }
  }
  raise_if_lost(lost, values, to, "values");
  return outputs_of(out, marks, nans);
}

PyMethodDef pad_methods[] = {
    method<kPad, pad_arrays>(
        "pad(values, levels, padding_side='right', fill=None, mask=False, max_len=None, truncate='right',\n"
        "    out=None, dtype=None, pad_to_multiple=1, max_bytes=None, sizes=None, nan=None, nan_mask=False,\n"
        "    past_caches=None)\n--\n\n"
        "Ragged values to a rectangle (n, sizes..., ...); with masks a tuple of it and them."),
    {},
};

}  // namespace

void bind_pad(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), pad_methods) != 0) throw py::error_already_set();
  add_unpad(m);
}

}  // namespace varlen::bindings
