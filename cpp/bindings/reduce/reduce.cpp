// Sequences to one row each.
#include "varlen/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <string>

#include "level/level.hpp"
#include "pad/pad.hpp"
#include "reduce.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/operands.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/pad.hpp"

namespace varlen::bindings {

Reduce op_named(PyObject* name) {
  constexpr const char* kNames[] = {"sum", "mean", "prod",      "max", "min", "any",
                                    "all", "norm", "logsumexp", "var", "std"};
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, kNames[i]) == 0) {
      return static_cast<Reduce>(i);
    }
  }
  raise_value("op", "there is none called " + std::string(py::repr(py::handle(name))));
}

double ddof_of(PyObject* argument) {
  if (argument == nullptr) return 0;
  const double number = number_of(argument, "ddof");
  if (!std::isfinite(number)) {
    raise_type("ddof", "expected a number, got " + std::string(py::repr(py::handle(argument))));
  }
  return number;
}

py::dtype summed_dtype(const Numbers& values) {
  if (is_float(values.type)) return values.array.dtype();
  const bool is_unsigned = values.type >= Type::u8 && values.type <= Type::u64;
  return is_unsigned ? py::dtype::of<std::uint64_t>() : py::dtype::of<std::int64_t>();
}

namespace {

/// Of which dtype the results are for the caller.
py::dtype final_dtype(Reduce op, const Numbers& values) {
  switch (op) {
    case Reduce::any:
    case Reduce::all:
      return py::dtype::of<bool>();
    case Reduce::max:
    case Reduce::min:
      return values.array.dtype();
    case Reduce::mean:
    case Reduce::norm:
    case Reduce::logsumexp:
    case Reduce::var:
    case Reduce::std:
      return is_float(values.type) ? values.array.dtype() : py::dtype::of<double>();
    case Reduce::sum:
    case Reduce::prod:
      break;
  }
  return summed_dtype(values);
}

[[noreturn]] void refuse_empty(Level& level) {
  const Offsets view = level.view();
  std::int64_t i = 0;
  while (view.length(i) != 0) ++i;
  raise_value(
      Record{"lengths", "sequence " + std::to_string(i) + " is empty", i, 0, "pass empty= for its result"});
}

/// The plain 0 of Python, which is zero bytes in any dtype.
bool is_zero(PyObject* number) {
  if (!PyLong_CheckExact(number)) return false;
  int overflow = 0;
  return PyLong_AsLongAndOverflow(number, &overflow) == 0 && overflow == 0;
}

/// The level of a rectangle: as many sequences as that has, none of more rows than it is wide.
LevelRef level_of_block(PyObject* given_level, const py::array& block) {
  if (block.ndim() < 2) {
    raise_value("block", "expected (n, width, ...), got shape " + text_of(shape_of(block)));
  }
  LevelRef level_ref = level_over(given_level, "block", -1);
  Level& level = LevelRef::unwrap(level_ref);
  if (level.count() != block.shape(0)) {
    raise_value("lengths",
                std::to_string(level.count()) + " of them for " + std::to_string(block.shape(0)) + " rows");
  }
  if (!level.keeps_to(block.shape(1))) {
    const Status status = unpad_check(level.view(), block.shape(1));
    raise_value("lengths", "row " + std::to_string(status.where) + " has length " +
                               std::to_string(status.value) + ", the block is " +
                               std::to_string(block.shape(1)) + " wide");
  }
  return level_ref;
}

/// A reduction of arguments that were found right: what it needs, and what it makes. With a side the values
/// are a rectangle.
struct Work {
  Work(PyObject* op, PyObject* given_values, PyObject* given_level, PyObject* given_empty,
       PyObject* given_out, const Side* side = nullptr)
      : values(placed_numbers_of(given_values, side != nullptr ? "block" : "X")),
        place(place_of(values.array)),
        level_ref(side != nullptr ? level_of_block(given_level, values.array)
                                  : level_over(given_level, "X", values.array.shape(0))) {
    Level& level = LevelRef::unwrap(level_ref);
    job.op = op_named(op);
    const py::dtype dtype = final_dtype(job.op, values);
    out_type = *type_of(dtype);
    if (level.count() > 0 && !is_given(given_empty) && level.shortest() == 0) refuse_empty(level);
    // Zero is what `one` holds, and fits any dtype.
    const bool is_number = is_given(given_empty) && !is_zero(given_empty);
    const Fill empty_as = is_number ? fill_of(given_empty, dtype, {}, "empty") : Fill{};
    shape = {level.count()};
    const py::ssize_t axes = side != nullptr ? 2 : 1;
    shape.append(values.array.shape() + axes, values.array.shape() + values.array.ndim());
    job.columns = 1;
    for (py::ssize_t axis = axes; axis < values.array.ndim(); ++axis) job.columns *= values.array.shape(axis);
    if (side != nullptr) {
      job.slots = values.array.shape(1);
      job.fill_left = *side == Side::left;
    }
    py::array to = out_at(place, given_out, dtype, shape, {given_values, values.array, given_empty});
    target = bytes(to);
    out = std::move(to);
    job.type = values.type;
    job.level = offsets_at(place, level);
    job.longest = level.length_limit();
    job.values = data_of(values.array);
    if (empty_as.data() != nullptr) {
      std::memcpy(one, empty_as.data(), static_cast<std::size_t>(size_of(out_type)));
    }
    job.empty = one;
    // In a rectangle as many rows as it has do for the number of those that are there.
    total = side == nullptr || level.knows_total() ? level.total() : level.count() * job.slots;
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  Work(Work&&) = delete;
  Work& operator=(Work&&) = delete;
  ~Work() = default;

  Numbers values;
  Place place;
  LevelRef level_ref;
  ReduceJob job;
  Extents shape;
  py::object out;
  std::byte* target = nullptr;
  Type out_type{};
  alignas(8) std::byte one[8] = {};
  std::int64_t total = 0;
};

constexpr Signature<6> kReduce{"reduce", {"op", "values", "level", "empty", "out", "ddof"}, 3, 6};

py::object run(Work& work, double ddof) {
  work.job.ddof = ddof;
  const ScratchAt scratch(work.place, work.place.kernels->reduce_scratch(work.job, work.total));
  launch(work.place, "reduce", work.values.array.nbytes(), &cuda::Kernels::reduce, work.job, work.total,
         work.out_type, scratch.data(), work.target);
  return work.out;
}

py::object reduce_array(const Arguments<6>& args) {
  const double ddof = ddof_of(args[5]);
  Work work(args[0], args[1], args[2], args[3], args[4]);
  return run(work, ddof);
}

constexpr Signature<7> kReduceDense{
    "reduce_dense", {"op", "block", "level", "padding_side", "empty", "out", "ddof"}, 3, 7};

py::object reduce_block(const Arguments<7>& args) {
  const double ddof = ddof_of(args[6]);
  const Side side = side_or_right(args[3], "padding_side");
  Work work(args[0], args[1], args[2], args[4], args[5], &side);
  return run(work, ddof);
}

constexpr Signature<5> kExtreme{"reduce_extreme", {"op", "values", "level", "empty", "narrow"}, 3, 5};

py::object reduce_extreme_array(const Arguments<5>& args) {
  Work work(args[0], args[1], args[2], args[3], nullptr);
  if (work.job.op != Reduce::max && work.job.op != Reduce::min) {
    raise_value("op", "expected 'max' or 'min', got " + std::string(py::repr(py::handle(args[0]))));
  }
  const bool narrow = is_given(args[4]) && truth_of(args[4], "narrow");
  if (narrow && work.job.longest > std::numeric_limits<std::int32_t>::max()) {
    raise_overflow("which", std::to_string(work.job.longest) + " rows of a sequence do not fit int32");
  }
  py::array which = empty_at(
      work.place, narrow ? py::dtype::of<std::int32_t>() : py::dtype::of<std::int64_t>(), work.shape);
  const Places places{narrow ? nullptr : ints(which),
                      narrow ? static_cast<std::int32_t*>(which.mutable_data()) : nullptr};
  const ScratchAt scratch(work.place, work.place.kernels->reduce_scratch(work.job, work.total));
  launch(work.place, "reduce", work.values.array.nbytes(), &cuda::Kernels::reduce_extreme, work.job,
         work.total, scratch.data(), work.target, places);
  return py::make_tuple(work.out, which);
}

PyMethodDef reduce_methods[] = {
    method<kReduce, reduce_array>(
        "reduce(op, values, level, empty=None, out=None, ddof=0)\n--\n\n"
        "One row a sequence: sum, mean, prod, max, min, any, all, norm, logsumexp, var or std of its rows."),
    method<kReduceDense, reduce_block>(
        "reduce_dense(op, block, level, padding_side='right', empty=None, out=None, ddof=0)\n--\n\n"
        "The same of the rows of a padded rectangle that are there."),
    method<kExtreme, reduce_extreme_array>(
        "reduce_extreme(op, values, level, empty=None, narrow=False)\n--\n\n"
        "The largest or smallest row of each sequence, column by column, and the first row that holds it."),
    {},
};

}  // namespace

void bind_reduce(py::module_& m) {
  add_reduce_back(m);
  add_weighted(m);
  if (PyModule_AddFunctions(m.ptr(), reduce_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
