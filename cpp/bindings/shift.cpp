// Rows that change places inside their sequence.
#include "varlen/shift.hpp"

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

namespace varlen::bindings {

namespace {

/// Rows of any dtype, a level over them, and where the result goes.
struct ShiftJob {
  py::array values;
  LevelRef level;
  Place place;
  py::array out;

  /// `other`: what else is read.
  ShiftJob(PyObject* rows, PyObject* given_level, PyObject* target, PyObject* other, PyObject* fill = nullptr)
      : values(as_placed_rows(rows, "X")),
        level(level_over(given_level, "X", values.shape(0))),
        place(place_of(values)),
        out(make_output(rows, target, other, fill)) {}
  [[nodiscard]] Offsets offsets() const { return offsets_at(place, LevelRef::unwrap(level)); }

 private:
  [[nodiscard]] py::array make_output(PyObject* rows, PyObject* target, PyObject* other,
                                      PyObject* fill) const {
    const Extents shape = shape_of(values);
    if (!is_given(target)) return empty_at(place, values.dtype(), shape);
    return checked_out_at(place, "out", target, values.dtype(), shape, {rows, values, other, fill});
  }
};

/// How far: one integer, or one for each sequence.
struct MovesOf {
  PlacedInts steps;
  std::int64_t all = 0;

  MovesOf(PyObject* amount, const Place& place, const Level& level) {
    if (is_device_array(amount)) {
      steps = ints_of_device(place, amount, "by");
      check_count(steps.count, level);
      return;
    }
    const bool is_array =
        py::isinstance<py::array>(amount) && py::reinterpret_borrow<py::array>(amount).ndim() > 0;
    if (!is_array && is_integer(amount)) {
      all = int_of(amount, "by");
      return;
    }
    const Ints numbers = as_ints(py::handle(amount), "by");
    check_count(numbers.count, level);
    steps = ints_at(place, numbers);
  }

  [[nodiscard]] Moves view() const { return steps.data == nullptr ? Moves{&all, 0} : Moves{steps.data, 1}; }

 private:
  static void check_count(std::int64_t count, const Level& level) {
    if (count == level.count()) return;
    raise_value("by", "has " + std::to_string(count) + " numbers for " + std::to_string(level.count()) +
                          " sequences");
  }
};

constexpr Signature<3> kReverse{"reverse", {"values", "level", "out"}, 2, 3};

py::object reverse(const Arguments<3>& args) {
  ShiftJob job(args[0], args[1], args[2], nullptr);
  const Rows rows = rows_of(job.values);
  std::byte* const to = bytes(job.out);
  launch(job.place, "reverse", job.out.nbytes(), &cuda::Kernels::reverse_rows, rows, job.offsets(), to);
  return job.out;
}

constexpr Signature<5> kShift{"shift", {"values", "level", "by", "fill", "out"}, 3, 5};

py::object shift(const Arguments<5>& args) {
  const auto [values, level, amount, given_fill, out] = args;
  ShiftJob job(values, level, out, amount, given_fill);
  const MovesOf moves(amount, job.place, LevelRef::unwrap(job.level));
  const Extents row(job.values.shape() + 1, job.values.shape() + job.values.ndim());
  const Fill one = is_given(given_fill) ? fill_of(given_fill, job.values.dtype(), row, "fill") : Fill{};
  const Rows rows = rows_of(job.values);
  std::byte* const to = bytes(job.out);
  py::object keep;
  const std::int64_t period = one.period() > 0 ? one.period() : rows.width;
  const cuda::Fill fill = fill_at(job.place, one.data(), period, rows.width, keep);
  launch(job.place, "shift", job.out.nbytes(), &cuda::Kernels::shift_rows, rows, job.offsets(), moves.view(),
         fill, to);
  return job.out;
}

constexpr Signature<4> kRoll{"roll", {"values", "level", "by", "out"}, 3, 4};

py::object roll(const Arguments<4>& args) {
  ShiftJob job(args[0], args[1], args[3], args[2]);
  const MovesOf moves(args[2], job.place, LevelRef::unwrap(job.level));
  const Rows rows = rows_of(job.values);
  std::byte* const to = bytes(job.out);
  launch(job.place, "roll", job.out.nbytes(), &cuda::Kernels::roll_rows, rows, job.offsets(), moves.view(),
         to);
  return job.out;
}

PyMethodDef shift_methods[] = {
    method<kReverse, reverse>("reverse(values, level, out=None)\n--\n\n"
                              "The rows of each sequence, last to first."),
    method<kRoll, roll>("roll(values, level, by, out=None)\n--\n\n"
                        "The rows of each sequence, `by` places on, round and round."),
    method<kShift, shift>("shift(values, level, by, fill=None, out=None)\n--\n\n"
                          "The rows of each sequence, `by` places on; `fill` where none arrives."),
    {},
};

}  // namespace

void bind_shift(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), shift_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
