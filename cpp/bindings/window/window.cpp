#include "varlen/window.hpp"

#include <string>
#include <utility>

#include "gather/gather.hpp"
#include "rooms.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/support/overflow.hpp"
#include "window.hpp"

namespace varlen::bindings {

std::int64_t whole_of(PyObject* argument, const char* name, std::int64_t minimum, std::int64_t otherwise) {
  return argument == nullptr ? otherwise : at_least(minimum, int_of(argument, name), name);
}

py::array out_for(PyObject* given_out, PyObject* given_max_bytes, const char* argument,
                  const py::dtype& dtype, const Extents& shape, Inputs inputs, const Place& place) {
  if (is_given(given_out)) return checked_out_at(place, "out", given_out, dtype, shape, inputs);
  std::int64_t bytes = dtype.itemsize();
  bool fits = true;
  for (const py::ssize_t size : shape) {
    fits = fits && checked_mul(bytes, size, bytes);
    if (size == 0) return empty_at(place, dtype, shape);
  }
  const std::string what =
      "the result, " + text_of(shape) + " of " + std::to_string(dtype.itemsize()) + " bytes a number, ";
  if (!fits) raise_overflow(argument, what + "does not fit 63 bits");
  const std::int64_t limit = max_bytes_of(given_max_bytes);
  if (bytes > limit) {
    raise_value(argument,
                what + "takes " + std::to_string(bytes) + " bytes, over max_bytes=" + std::to_string(limit));
  }
  return empty_at(place, dtype, shape);
}

void check_level(const LevelRef& has, const LevelRef& expected, const std::string& argument,
                 const std::string& what, const char* unit) {
  if (has.is(expected)) return;
  if (has->count() != expected->count()) {
    raise_value(argument, "has " + std::to_string(has->count()) + " " + what + "s, but lengths make " +
                              std::to_string(expected->count()));
  }
  const std::int64_t i = window_difference(has->view(), expected->view());
  if (i < 0) return;
  const std::int64_t length = has->view().length(i);
  raise_value(argument,
              what + " " + std::to_string(i) + " has " + std::to_string(length) + " " + unit +
                  ", but lengths make " + std::to_string(expected->view().length(i)),
              i, length);
}

namespace {

/// Left and right of a row, how far apart, and of which rows.
Window window_of(PyObject* left, PyObject* right, PyObject* dilation, PyObject* stride) {
  Window how;
  how.left = whole_of(left, "left", 0, 0);
  how.right = whole_of(right, "right", 0, 0);
  how.dilation = whole_of(dilation, "dilation", 1, 1);
  how.stride = whole_of(stride, "stride", 1, 1);
  std::int64_t places = 0;
  if (!checked_add(how.left, how.right, places) || !checked_add(places, 1, places)) {
    raise_overflow("left", std::to_string(how.left) + " places and " + std::to_string(how.right) +
                               " to the right do not fit 63 bits");
  }
  return how;
}

/// The level of the rows that have a window: the same where all have.
LevelRef strided_level(const LevelRef& level, std::int64_t stride) {
  if (stride == 1) return level;
  NewLevel out_level(level->count());
  window_kept(level->view(), stride, out_level.ends());
  return std::move(out_level).finish();
}

constexpr Signature<9> kForward{
    "seq2col", {"X", "lengths", "left", "right", "dilation", "stride", "out", "max_bytes", "apart"}, 4, 9};

py::object forward(const Arguments<9>& args) {
  const auto [given_x, lengths, left, right, dilation, stride, out, max_bytes, given_apart] = args;
  const Window how = window_of(left, right, dilation, stride);
  const py::array x = as_placed_rows(given_x, "X");
  const Place place = place_of(x);
  const LevelRef level = level_over(lengths, "X", x.shape(0));
  const LevelRef out_level = strided_level(level, how.stride);
  Extents shape{out_level->total()};
  if (x.ndim() > 2 || (given_apart != nullptr && truth_of(given_apart, "apart"))) {
    shape.push_back(how.places());
    shape.append(x.shape() + 1, x.shape() + x.ndim());
  } else {
    std::int64_t width = x.ndim() == 2 ? x.shape(1) : 1;
    if (!checked_mul(width, how.places(), width)) {
      raise_overflow("X", std::to_string(how.places()) + " places of " + std::to_string(x.shape(1)) +
                              " numbers a row do not fit 63 bits");
    }
    shape.push_back(width);
  }
  py::array result = out_for(out, max_bytes, "X", x.dtype(), shape, {given_x, x}, place);
  launch(place, "seq2col", result.nbytes(), &cuda::Kernels::seq2col, rows_of(x),
         offsets_at(place, LevelRef::unwrap(level)), offsets_at(place, LevelRef::unwrap(out_level)), how,
         out_level->total(), bytes(result));
  return py::make_tuple(result, out_level);
}

constexpr Signature<10> kSeqToColBack{
    "backprop_seq2col",
    {"dY", "lengths", "left", "right", "dilation", "stride", "out", "max_bytes", "kept", "apart"},
    4,
    10};

py::object seq2col_back(const Arguments<10>& args) {
  const auto [given_dy, lengths, left, right, dilation, stride, out, max_bytes, given_kept, given_apart] =
      args;
  const Window how = window_of(left, right, dilation, stride);
  const auto [dy, type] = placed_numbers_of(given_dy, "dY");
  const Place place = place_of(dy);
  const LevelRef level = level_over(lengths, "dY", how.stride == 1 ? dy.shape(0) : -1);
  const LevelRef out_level = strided_level(level, how.stride);
  if (is_given(given_kept))
    check_level(level_over(given_kept, "dY", -1), out_level, "dY", "sequence", "rows");
  if (!out_level->fits(dy.shape(0))) {
    raise_value("lengths", "with stride " + std::to_string(how.stride) + " they keep " +
                               std::to_string(out_level->total()) + " rows, but dY has " +
                               std::to_string(dy.shape(0)));
  }
  const std::int64_t places = how.places();
  const std::string layout_text = std::to_string(places) + " places (left " + std::to_string(how.left) +
                                  ", right " + std::to_string(how.right) + ")";
  if (dy.ndim() == 1) raise_value("dY", "expected at least two dimensions, got one");
  Extents shape{level->total()};
  if (dy.ndim() == 2 && !(given_apart != nullptr && truth_of(given_apart, "apart"))) {
    if (dy.shape(1) % places != 0) {
      raise_value("dY", std::to_string(dy.shape(1)) + " numbers a row do not divide into " + layout_text);
    }
    shape.push_back(dy.shape(1) / places);
  } else {
    if (dy.shape(1) != places) {
      raise_value("dY", "axis 1 has " + std::to_string(dy.shape(1)) + " entries, not " + layout_text);
    }
    shape.append(dy.shape() + 2, dy.shape() + dy.ndim());
  }
  py::array dx = out_for(out, max_bytes, "dY", dy.dtype(), shape, {given_dy, dy}, place);
  const std::int64_t count = row_bytes(dx) / dx.itemsize();
  launch(place, "backprop_seq2col", dy.nbytes() + dx.nbytes(), &cuda::Kernels::backprop_seq2col, type,
         data_of(dy), dy.shape(0), count, offsets_at(place, LevelRef::unwrap(level)),
         offsets_at(place, LevelRef::unwrap(out_level)), how, level->total(), bytes(dx));
  return dx;
}

PyMethodDef window_methods[] = {
    method<kForward, forward>(
        "seq2col(X, lengths, left, right, dilation=1, stride=1, out=None, max_bytes=None, apart=False)\n"
        "--\n\nEach row with its neighbours, and the level of the rows that are kept. The places have an "
        "axis "
        "of their own where rows have two axes or more, or `apart` says so."),
    method<kSeqToColBack, seq2col_back>(
        "backprop_seq2col(dY, lengths, left, right, dilation=1, stride=1, out=None,\n"
        "    max_bytes=None, kept=None, apart=False)\n--\n\nThe sum of the places that each "
        "row was used in."),
    {},
};

}  // namespace

void bind_window(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), window_methods) != 0) throw py::error_already_set();
  add_window_steps(m);
}

}  // namespace varlen::bindings
