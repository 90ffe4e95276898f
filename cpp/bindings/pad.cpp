#include "pad.hpp"

#include <algorithm>
#include <string>

#include "arrays.hpp"
#include "cast.hpp"
#include "fastcall.hpp"
#include "joint.hpp"
#include "level.hpp"
#include "outputs.hpp"
#include "raise.hpp"
#include "rooms.hpp"

namespace varlen::bindings {

namespace {

using Sizes = std::vector<std::int64_t>;

/// One number an axis: a sequence, or one for all of them. -1 where nothing is said.
Sizes per_axis(py::handle given, int depth, const char* argument, std::int64_t least) {
  Sizes sizes(static_cast<std::size_t>(depth), -1);
  if (given.is_none()) return sizes;
  const bool one = PyIndex_Check(given.ptr()) != 0;
  if (!one && py::len(given) != sizes.size()) {
    raise_value(std::string(argument) + ": expected one number for each of " + std::to_string(depth) +
                " levels, got " + std::to_string(py::len(given)));
  }
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const py::object size = one ? py::reinterpret_borrow<py::object>(given)
                                : py::reinterpret_borrow<py::object>(given)[py::int_(d)].cast<py::object>();
    if (size.is_none()) continue;
    sizes[d] = size.cast<std::int64_t>();
    if (sizes[d] < least) {
      raise_value(std::string(argument) + ": expected at least " + std::to_string(least) + ", got " +
                  std::to_string(sizes[d]));
    }
  }
  return sizes;
}

Sizes sizes_of(const Levels& levels, py::handle exact, py::handle most, py::handle multiple) {
  const int depth = levels.depth();
  const Sizes given = per_axis(exact, depth, "sizes", 0);
  const Sizes cap = per_axis(most, depth, "max_sizes", 0);
  const Sizes step = per_axis(multiple, depth, "multiple_of", 1);
  Sizes sizes(given);
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] >= 0) continue;
    sizes[d] = levels.keep[d]->stats().longest;
    if (cap[d] >= 0) sizes[d] = std::min(sizes[d], cap[d]);
    if (step[d] > 1) sizes[d] = (sizes[d] + step[d] - 1) / step[d] * step[d];
  }
  return sizes;
}

/// False: no such output. True: a fresh one. An array: that one, checked.
py::object asked(py::handle given, const std::string& name, const Extents& shape, const py::array& source,
                 std::int64_t max_bytes, std::int64_t& used) {
  const py::dtype dtype = py::dtype::of<bool>();
  if (given.ptr() == Py_False || given.is_none()) return py::none();
  if (given.ptr() != Py_True) return checked_out(name, given, dtype, shape, &source);
  padded_bytes(name, dtype, shape, max_bytes, used);
  return empty(dtype, shape);
}

std::byte* bytes_of(const py::object& array) {
  return static_cast<std::byte*>(py::reinterpret_borrow<py::array>(array).mutable_data());
}

/// What was given, or None.
py::handle or_none(PyObject* argument) {
  return argument == nullptr ? py::handle(Py_None) : py::handle(argument);
}

constexpr Signature<15> kPad{
    "pad",
    {"values", "levels", "padding_side", "truncate", "sizes", "max_sizes", "multiple_of", "fill", "mask",
     "out", "dtype", "nan", "nan_mask", "max_bytes", "past_caches"},
    2,
    15};

py::object pad_arrays(const Arguments<15>& args) {
  const auto [given_values, given_levels, side, truncate, exact, most, multiple, given_fill, given_mask,
              given_out, given_dtype, given_nan, given_nan_mask, given_max_bytes, given_past] = args;
  py::array values = as_rows(given_values, "values");
  const Levels levels = levels_of(given_levels, values.shape(0));
  Padding how;
  how.side = side_or_right(side, "padding_side");
  how.cut = side_or_right(truncate, "truncate");
  const Sizes sizes = sizes_of(levels, or_none(exact), or_none(most), or_none(multiple));
  Extents slots{levels.views[0].count};
  slots.insert(slots.end(), sizes.begin(), sizes.end());
  const Extents row(values.shape() + 1, values.shape() + values.ndim());
  Extents shape = slots;
  shape.insert(shape.end(), row.begin(), row.end());

  const py::dtype to = dtype_of(or_none(given_dtype), values.dtype());
  const bool wants_nan = given(given_nan_mask) && given_nan_mask != Py_False;
  values = convertible(values, to, given(given_nan) || wants_nan);
  const Fill pattern = fill_of(or_none(given_fill), to, row, "fill");
  const Fill instead = fill_of(or_none(given_nan), to, {}, "nan");
  how.fill = pattern.data();
  how.period = pattern.period();
  how.convert = convert_of(values, to, instead, "values");
  Convert is_nan;
  if (wants_nan) {
    const auto from = type_of(values.dtype());
    if (!from || !is_float(*from)) {
      raise_type("nan_mask: expected values of a float dtype, got " + std::string(py::str(values.dtype())));
    }
    is_nan = nan_mask_of(*from);
  }

  const std::int64_t max_bytes =
      given(given_max_bytes) ? int_of(given_max_bytes, "max_bytes") : default_max_bytes();
  std::int64_t used = 0;
  const py::object out = [&]() -> py::object {
    if (given(given_out)) return checked_out("out", given_out, to, shape, &values);
    padded_bytes("values", to, shape, max_bytes, used);
    return empty(to, shape);
  }();
  const py::object marks = asked(or_none(given_mask), "mask", slots, values, max_bytes, used);
  const py::object nans = asked(or_none(given_nan_mask), "nan_mask", shape, values, max_bytes, used);

  const Rows rows = rows_of(values);
  const Range all{0, levels.views[0].count};
  std::int64_t bytes = 0;
  for (const py::object* one : {&out, &marks, &nans}) {
    if (!one->is_none()) bytes += py::reinterpret_borrow<py::array>(*one).nbytes();
  }
  how.stores = !given(given_past)      ? stores_for(bytes)
               : given_past == Py_True ? Stores::past_caches
                                       : Stores::cached;
  {
    std::byte* const to_out = bytes_of(out);
    std::byte* const to_marks = marks.is_none() ? nullptr : bytes_of(marks);
    std::byte* const to_nans = nans.is_none() ? nullptr : bytes_of(nans);
    const Unlocked unlocked(bytes);
    pad(levels.views.data(), levels.depth(), all, rows, sizes.data(), how, to_out);
    if (to_marks != nullptr) pad_mask(levels.views.data(), levels.depth(), all, sizes.data(), how, to_marks);
    if (to_nans != nullptr) {
      how.fill = nullptr;
      how.convert = is_nan;
      pad(levels.views.data(), levels.depth(), all, rows, sizes.data(), how, to_nans);
    }
  }
  if (marks.is_none() && nans.is_none()) return out;
  if (nans.is_none()) return py::make_tuple(out, marks);
  if (marks.is_none()) return py::make_tuple(out, nans);
  return py::make_tuple(out, marks, nans);
}

PyMethodDef methods[] = {
    method<kPad, pad_arrays>(
        "pad(values, levels, padding_side='right', truncate='right', sizes=None, max_sizes=None,\n"
        "    multiple_of=None, fill=None, mask=False, out=None, dtype=None, nan=None, nan_mask=False,\n"
        "    max_bytes=None, past_caches=None)\n--\n\n"
        "Ragged values to a rectangle (n, sizes..., ...); with masks a tuple of it and them."),
    {},
};

}  // namespace

Levels levels_of(py::handle given, std::int64_t rows) {
  Levels levels;
  const auto add = [&](py::handle one) {
    if (!py::isinstance<Level>(one)) raise_type("levels: expected Level objects, got " + type_name(one));
    levels.keep.push_back(one.cast<std::shared_ptr<Level>>());
    levels.views.push_back(levels.keep.back()->view());
  };
  if (py::isinstance<Level>(given)) {
    add(given);
  } else {
    for (const py::handle one : given) add(one);
  }
  if (levels.views.empty()) raise_value("levels: expected at least one");
  for (std::size_t d = 0; d < levels.views.size(); ++d) {
    const bool last = d + 1 == levels.views.size();
    const std::int64_t below = last ? rows : levels.views[d + 1].count;
    const std::int64_t total = levels.views[d].total();
    if (below >= 0 && total != below) {
      raise_value("levels: level " + std::to_string(d) + " covers " + std::to_string(total) +
                  (last ? " rows, but values has " : " sequences, but the next level has ") +
                  std::to_string(below));
    }
  }
  return levels;
}

Side side_or_right(PyObject* text, const char* argument) {
  if (text == nullptr) return Side::right;
  return side_of(py::cast<std::string>(py::handle(text)), argument);
}

void bind_pad(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), methods) != 0) throw py::error_already_set();
  add_unpad(m);
}

}  // namespace varlen::bindings
