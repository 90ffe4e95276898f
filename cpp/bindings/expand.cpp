// One row for each sequence to the rows of the sequences: what gradients of reductions are made of.
#include "varlen/expand.hpp"

#include <algorithm>
#include <string>
#include <utility>

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
  Extents shape{level.total()};
  shape.append(rows.shape() + 1, rows.shape() + rows.ndim());
  return out_at(place, given_out, rows.dtype(), shape, inputs);
}

constexpr Signature<3> kExpand{"expand", {"rows", "level", "out"}, 2, 3};

py::object expand_rows(const Arguments<3>& args) {
  const py::array rows = as_placed_rows(args[0], "rows");
  const LevelRef row_level = level_of_rows(args[1], "rows", rows.shape(0));
  Level& level = LevelRef::unwrap(row_level);
  const Place place = place_of(rows);
  const Offsets level_ends = offsets_at(place, level);
  py::array out = target(rows, level, args[2], {args[0], rows});
  launch(place, "expand", out.nbytes(), &cuda::Kernels::expand, level_ends, level.total(), rows_of(rows),
         bytes(out));
  return out;
}

constexpr Signature<4> kExpandEnd{"expand_end", {"rows", "level", "last", "out"}, 3, 4};

py::object expand_to_end(const Arguments<4>& args) {
  const py::array rows = as_placed_rows(args[0], "rows");
  const LevelRef row_level = level_of_rows(args[1], "rows", rows.shape(0));
  Level& level = LevelRef::unwrap(row_level);
  const bool last = truth_of(args[2], "last");
  const Place place = place_of(rows);
  const Offsets level_ends = offsets_at(place, level);
  py::array out = target(rows, level, args[3], {args[0], rows});
  launch(place, "expand", out.nbytes(), &cuda::Kernels::expand_end, level_ends, level.total(), rows_of(rows),
         last, bytes(out));
  return out;
}

/// Every place inside its sequence, or -1 for an empty one.
void check_which(const std::int64_t* which, const Offsets& level, std::int64_t columns) {
  for (std::int64_t i = 0; i < level.count; ++i) {
    const std::int64_t length = level.length(i);
    for (std::int64_t c = i * columns; c < (i + 1) * columns; ++c) {
      if (which[c] >= (length == 0 ? -1 : 0) && which[c] < length) continue;
      raise_index("which",
                  std::to_string(which[c]) + " in row " + std::to_string(i) +
                      " is outside a sequence of length " + std::to_string(length),
                  i, which[c]);
    }
  }
}

constexpr Signature<4> kExpandWhich{"expand_which", {"rows", "level", "which", "out"}, 3, 4};

/// Places that are where the rows are: those of the host are checked, those of a device not looked at.
struct PlacedWhich {
  py::object keep;
  cuda::WhichRows rows;
};

/// ValueError where places are not shaped as the rows are.
void check_shape_of_which(const py::array& which, const py::array& rows) {
  if (which.ndim() == rows.ndim() && std::equal(rows.shape(), rows.shape() + rows.ndim(), which.shape())) {
    return;
  }
  raise_value("which", "expected " + text_of(shape_of(rows)) + ", got " + text_of(shape_of(which)));
}

PlacedWhich which_of_device(const Place& place, PyObject* argument, const py::array& rows) {
  const Numbers which = numbers_at(place, argument, "which");
  PlacedWhich result{which.array, {}};
  if (which.type == Type::i64) {
    result.rows.wide = static_cast<const std::int64_t*>(which.array.data());
  } else if (which.type == Type::i32) {
    result.rows.narrow = static_cast<const std::int32_t*>(which.array.data());
  } else {
    raise_type("which", "expected int64 or int32 on a device, got dtype " + str_of(which.array.dtype()));
  }
  check_shape_of_which(which.array, rows);
  return result;
}

PlacedWhich which_of_host(const Place& place, PyObject* argument, const py::array& rows, Level& level,
                          std::int64_t columns) {
  const py::array which_array = as_rows(argument, "which");
  check_shape_of_which(which_array, rows);
  const Ints which = as_ints(which_array.attr("reshape")(-1), "which");
  check_which(which.data, level.view(), columns);
  PlacedInts indices = ints_at(place, which);
  return {std::move(indices.keep), {indices.data, nullptr}};
}

py::object expand_to_which(const Arguments<4>& args) {
  const py::array rows = as_placed_rows(args[0], "rows");
  const Place place = place_of(rows);
  const LevelRef row_level = level_of_rows(args[1], "rows", rows.shape(0));
  Level& level = LevelRef::unwrap(row_level);
  const std::int64_t size = rows.itemsize();
  const std::int64_t columns = size > 0 ? row_bytes(rows) / size : 0;
  const PlacedWhich which = is_device_array(args[2]) ? which_of_device(place, args[2], rows)
                                                     : which_of_host(place, args[2], rows, level, columns);
  const Offsets level_ends = offsets_at(place, level);
  py::array out = target(rows, level, args[3], {args[0], rows, args[2], which.keep});
  launch(place, "expand_which", out.nbytes(), &cuda::Kernels::expand_which, level_ends, level.total(),
         data_of(rows), columns, size, which.rows, bytes(out));
  return out;
}

constexpr Signature<3> kExpandMean{"expand_mean", {"rows", "level", "out"}, 2, 3};

py::object expand_means(const Arguments<3>& args) {
  const Numbers rows = placed_numbers_of(args[0], "rows");
  if (!is_float(rows.type)) {
    raise_type("rows", "expected floats, got dtype " + str_of(rows.array.dtype()));
  }
  const Place place = place_of(rows.array);
  const LevelRef row_level = level_of_rows(args[1], "rows", rows.array.shape(0));
  Level& level = LevelRef::unwrap(row_level);
  py::array out = target(rows.array, level, args[2], {args[0], rows.array});
  const Offsets level_ends = offsets_at(place, level);
  const Rows all = rows_of(rows.array);
  const ScratchAt quotients(place, rows.array.nbytes());
  launch(place, "expand", 2 * rows.array.nbytes(), &cuda::Kernels::divide_by_lengths, rows.type, level_ends,
         rows.columns(), all.data, quotients.data());
  launch(place, "expand", out.nbytes(), &cuda::Kernels::expand, level_ends, level.total(),
         Rows{quotients.data(), all.count, all.width}, bytes(out));
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
    method<kExpandMean, expand_means>("expand_mean(rows, level, out=None)\n--\n\n"
                                      "Row i over the length of sequence i, for every row of it."),
    {},
};

}  // namespace

void bind_expand(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), expand_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
