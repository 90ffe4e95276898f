// One row for each sequence to the rows of the sequences: what gradients of reductions are made of.
#include "varlen/expand.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "level/level.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/operands.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/reduce.hpp"

namespace varlen::bindings {

namespace {

/// Rows for all sequences, like those of `rows`, given or fresh.
py::array target(const py::array& rows, Level& level, PyObject* given_out, Inputs inputs) {
  const Place place = place_of(rows);
  if (place.is_host()) level.see();
  Extents shape{level.total()};
  shape.append(rows.shape() + 1, rows.shape() + rows.ndim());
  if (given(given_out)) return checked_out_at(place, "out", given_out, rows.dtype(), shape, inputs);
  return empty_at(place, rows.dtype(), shape);
}

constexpr Signature<3> kExpand{"expand", {"rows", "level", "out"}, 2, 3};

py::object expand_rows(const Arguments<3>& args) {
  const py::array rows = as_placed_rows(args[0], "rows");
  const LevelRef of = level_of_rows(args[1], "rows", rows.shape(0));
  Level& level = LevelRef::in(of);
  py::array out = target(rows, level, args[2], {args[0], rows});
  const Rows in = rows_of(rows);
  std::byte* const to = bytes(out);
  if (const Place place = place_of(rows); !place.is_host()) {
    const Offsets there = offsets_at(place, level);
    place.check(place.kernels->expand(place.stream, there, level.total(), in, to), "expand");
  } else {
    const Unlocked unlocked(out.nbytes());
    expand(level.view(), in, to);
  }
  return out;
}

constexpr Signature<4> kExpandEnd{"expand_end", {"rows", "level", "last", "out"}, 3, 4};

py::object expand_to_end(const Arguments<4>& args) {
  const py::array rows = as_placed_rows(args[0], "rows");
  const LevelRef of = level_of_rows(args[1], "rows", rows.shape(0));
  Level& level = LevelRef::in(of);
  const bool last = truth_of(args[2], "last");
  py::array out = target(rows, level, args[3], {args[0], rows});
  const Rows in = rows_of(rows);
  std::byte* const to = bytes(out);
  if (const Place place = place_of(rows); !place.is_host()) {
    const Offsets there = offsets_at(place, level);
    place.check(place.kernels->expand_end(place.stream, there, level.total(), in, last, to), "expand");
  } else {
    const Unlocked unlocked(out.nbytes());
    expand_end(level.view(), in, last, to);
  }
  return out;
}

/// Every place inside its sequence, or -1 for an empty one.
void check_which(const std::int64_t* which, const Offsets& level, std::int64_t columns) {
  for (std::int64_t i = 0; i < level.count; ++i) {
    const std::int64_t length = level.length(i);
    for (std::int64_t c = i * columns; c < (i + 1) * columns; ++c) {
      if (which[c] >= (length == 0 ? -1 : 0) && which[c] < length) continue;
      raise_index("which", std::to_string(which[c]) + " in row " + std::to_string(i) +
                               " is outside a sequence of length " + std::to_string(length));
    }
  }
}

constexpr Signature<4> kExpandWhich{"expand_which", {"rows", "level", "which", "out"}, 3, 4};

/// What a device is to take for places: those of the host are checked and copied there, its own are not
/// looked at.
struct PlacedWhich {
  py::array keep;
  cuda::WhichRows rows;
};

PlacedWhich which_of_device(const Place& place, PyObject* argument) {
  const Numbers which = numbers_at(place, argument, "which");
  PlacedWhich result{which.array, {}};
  if (which.type == Type::i64) {
    result.rows.wide = static_cast<const std::int64_t*>(which.array.data());
  } else if (which.type == Type::i32) {
    result.rows.narrow = static_cast<const std::int32_t*>(which.array.data());
  } else {
    raise_type("which", "expected int64 or int32 on a device, got dtype " + str_of(which.array.dtype()));
  }
  return result;
}

PlacedWhich which_to_device(const Place& place, const Ints& which) {
  py::array copy = empty_at(place, py::dtype::of<std::int64_t>(), {which.count});
  place.check(
      place.kernels->upload(place.stream, which.data, which.count * copy.itemsize(), copy.mutable_data()),
      "which");
  const auto* const data = static_cast<const std::int64_t*>(copy.data());
  return {std::move(copy), {data, nullptr}};
}

/// ValueError where places are not shaped as the rows are.
void check_shape_of_which(const py::array& which, const py::array& rows) {
  if (which.ndim() == rows.ndim() && std::equal(rows.shape(), rows.shape() + rows.ndim(), which.shape())) {
    return;
  }
  raise_value("which", "expected " + text_of(Extents(rows.shape(), rows.shape() + rows.ndim())) + ", got " +
                           text_of(Extents(which.shape(), which.shape() + which.ndim())));
}

py::object expand_to_which(const Arguments<4>& args) {
  const py::array rows = as_placed_rows(args[0], "rows");
  const Place place = place_of(rows);
  const LevelRef of = level_of_rows(args[1], "rows", rows.shape(0));
  Level& level = LevelRef::in(of);
  const std::int64_t size = rows.itemsize();
  const std::int64_t columns = size > 0 ? row_bytes(rows) / size : 0;
  const bool is_hidden = is_device_array(args[2]);
  Ints which;
  PlacedWhich placed;
  if (is_hidden) {
    placed = which_of_device(place, args[2]);
    check_shape_of_which(placed.keep, rows);
  } else {
    const py::array given_which = as_rows(args[2], "which");
    check_shape_of_which(given_which, rows);
    which = as_ints(given_which.attr("reshape")(-1), "which");
    check_which(which.data, level.view(), columns);
  }
  py::array out = target(rows, level, args[3], {args[0], rows, args[2], which.keep});
  const auto* in = static_cast<const std::byte*>(rows.data());
  std::byte* const to = bytes(out);
  if (!place.is_host()) {
    if (!is_hidden) placed = which_to_device(place, which);
    place.check(place.kernels->expand_which(place.stream, offsets_at(place, level), level.total(), in,
                                            columns, size, placed.rows, to),
                "expand_which");
  } else {
    const Unlocked unlocked(out.nbytes());
    expand_which(level.view(), in, columns, size, which.data, to);
  }
  return out;
}

constexpr Signature<2> kDivided{"divided_by_lengths", {"rows", "level"}};

py::object divided(const Arguments<2>& args) {
  const Numbers rows = placed_numbers_of(args[0], "rows");
  if (!is_float(rows.type)) {
    raise_type("rows", "expected floats, got dtype " + str_of(rows.array.dtype()));
  }
  const Place place = place_of(rows.array);
  const LevelRef of = level_of_rows(args[1], "rows", rows.array.shape(0));
  Level& level = LevelRef::in(of);
  py::array out = empty_at(place, rows.array.dtype(), rows.rows(rows.array.shape(0)));
  const auto* const in = static_cast<const std::byte*>(rows.array.data());
  if (!place.is_host()) {
    place.check(place.kernels->divide_by_lengths(place.stream, rows.type, offsets_at(place, level),
                                                 rows.columns(), in, bytes(out)),
                "divided_by_lengths");
    return out;
  }
  std::memcpy(bytes(out), in, static_cast<std::size_t>(out.nbytes()));
  divide_by_lengths(rows.type, level.view(), rows.columns(), bytes(out));
  return out;
}

PyMethodDef expand_methods[] = {
    method<kExpand, expand_rows>("expand(rows, level, out=None)\n--\n\n"
                                 "Row i for every row of sequence i."),
    method<kExpandEnd, expand_to_end>("expand_end(rows, level, last, out=None)\n--\n\n"
                                      "Row i for the first or last row of sequence i, zeros for the others."),
    method<kExpandWhich, expand_to_which>(
        "expand_which(rows, level, which, out=None)\n--\n\n"
        "Each element to the row of its sequence that `which` says; else zeros."),
    method<kDivided, divided>("divided_by_lengths(rows, level)\n--\n\n"
                              "Row i divided by the length of sequence i, but for empty ones."),
    {},
};

}  // namespace

void bind_expand(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), expand_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
