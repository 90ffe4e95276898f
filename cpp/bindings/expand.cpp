// One row for each sequence to the rows of the sequences: what gradients of reductions are made of.
#include "varlen/expand.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/level.hpp"
#include "support/operands.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/reduce.hpp"

namespace varlen::bindings {

namespace {

/// Rows for all sequences, like those of `rows`, given or fresh.
py::array target(const py::array& rows, const Level& level, PyObject* given_out, Inputs inputs) {
  Extents shape{level.total()};
  shape.append(rows.shape() + 1, rows.shape() + rows.ndim());
  if (given(given_out)) return checked_out("out", given_out, rows.dtype(), shape, inputs);
  return empty(rows.dtype(), shape);
}

constexpr Signature<3> kExpand{"expand", {"rows", "level", "out"}, 2, 3};

py::object expand_rows(const Arguments<3>& args) {
  const py::array rows = as_rows(args[0], "rows");
  const LevelRef of = level_of_rows(args[1], "rows", rows.shape(0));
  const Level& level = LevelRef::in(of);
  py::array out = target(rows, level, args[2], {args[0], rows});
  const Rows in = rows_of(rows);
  std::byte* const to = bytes(out);
  {
    const Unlocked unlocked(out.nbytes());
    expand(level.view(), in, to);
  }
  return out;
}

constexpr Signature<4> kExpandEnd{"expand_end", {"rows", "level", "last", "out"}, 3, 4};

py::object expand_to_end(const Arguments<4>& args) {
  const py::array rows = as_rows(args[0], "rows");
  const LevelRef of = level_of_rows(args[1], "rows", rows.shape(0));
  const Level& level = LevelRef::in(of);
  const bool last = truth_of(args[2], "last");
  py::array out = target(rows, level, args[3], {args[0], rows});
  const Rows in = rows_of(rows);
  std::byte* const to = bytes(out);
  {
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
      raise_index("which: " + std::to_string(which[c]) + " in row " + std::to_string(i) +
                  " is outside a sequence of length " + std::to_string(length));
    }
  }
}

constexpr Signature<4> kExpandWhich{"expand_which", {"rows", "level", "which", "out"}, 3, 4};

py::object expand_to_which(const Arguments<4>& args) {
  const py::array rows = as_rows(args[0], "rows");
  const LevelRef of = level_of_rows(args[1], "rows", rows.shape(0));
  const Level& level = LevelRef::in(of);
  const py::array given_which = as_rows(args[2], "which");
  if (given_which.ndim() != rows.ndim() ||
      !std::equal(rows.shape(), rows.shape() + rows.ndim(), given_which.shape())) {
    raise_value("which: expected " + text_of(Extents(rows.shape(), rows.shape() + rows.ndim())) + ", got " +
                text_of(Extents(given_which.shape(), given_which.shape() + given_which.ndim())));
  }
  const Ints which = as_ints(given_which.attr("reshape")(-1), "which");
  const std::int64_t size = rows.itemsize();
  const std::int64_t columns = size > 0 ? row_bytes(rows) / size : 0;
  check_which(which.data, level.view(), columns);
  py::array out = target(rows, level, args[3], {args[0], rows, args[2], which.keep});
  const auto* in = static_cast<const std::byte*>(rows.data());
  std::byte* const to = bytes(out);
  {
    const Unlocked unlocked(out.nbytes());
    expand_which(level.view(), in, columns, size, which.data, to);
  }
  return out;
}

constexpr Signature<2> kDivided{"divided_by_lengths", {"rows", "level"}};

py::object divided(const Arguments<2>& args) {
  const Numbers rows = numbers_of(args[0], "rows");
  if (!is_float(rows.type)) {
    raise_type("rows: expected floats, got dtype " + str_of(rows.array.dtype()));
  }
  const LevelRef of = level_of_rows(args[1], "rows", rows.array.shape(0));
  const Level& level = LevelRef::in(of);
  py::array out = empty(rows.array.dtype(), rows.rows(rows.array.shape(0)));
  std::memcpy(bytes(out), rows.array.data(), static_cast<std::size_t>(out.nbytes()));
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
