// Sequences to one row each.
#include "varlen/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>

#include "arrays.hpp"
#include "cast.hpp"
#include "fastcall.hpp"
#include "level.hpp"
#include "operands.hpp"
#include "outputs.hpp"
#include "raise.hpp"
#include "reduce.hpp"
#include "scratch.hpp"

namespace varlen::bindings {

Reduce op_named(PyObject* name) {
  constexpr const char* kNames[] = {"sum", "mean", "prod",      "max", "min", "any",
                                    "all", "norm", "logsumexp", "var", "std"};
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, kNames[i]) == 0) {
      return static_cast<Reduce>(i);
    }
  }
  raise_value("op: there is none called " + std::string(py::repr(py::handle(name))));
}

double ddof_of(PyObject* argument) {
  if (!given(argument)) return 0;
  const double number = PyFloat_AsDouble(argument);
  if (PyErr_Occurred() != nullptr || !std::isfinite(number)) {
    PyErr_Clear();
    raise_type("ddof: expected a number, got " + std::string(py::repr(py::handle(argument))));
  }
  return number;
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
  if (is_float(values.type)) return values.array.dtype();
  const bool is_unsigned = values.type >= Type::u8 && values.type <= Type::u64;
  return is_unsigned ? py::dtype::of<std::uint64_t>() : py::dtype::of<std::int64_t>();
}

[[noreturn]] void refuse_empty(Level& level) {
  const Offsets view = level.view();
  std::int64_t i = 0;
  while (view.length(i) != 0) ++i;
  raise_value("lengths: sequence " + std::to_string(i) + " is empty; say what it gives with empty=");
}

constexpr Signature<6> kReduce{"reduce", {"op", "values", "level", "empty", "out", "ddof"}, 3, 6};

py::object reduce_array(const Arguments<6>& args) {
  const auto [given_op, given_values, given_level, given_empty, given_out, ddof] = args;
  ReduceJob job;
  job.op = op_named(given_op);
  job.ddof = ddof_of(ddof);
  const Numbers values = numbers_of(given_values, "X");
  const LevelRef over = level_over(given_level, "X", values.array.shape(0));
  Level& level = LevelRef::in(over);
  const py::dtype dtype = final_dtype(job.op, values);
  const Type asked = *type_of(dtype);
  const Type made = reduced_type(job.op, values.type);
  const LevelStats stats = level.stats();
  const bool some_empty = level.count() > 0 && stats.shortest == 0;
  if (some_empty && !given(given_empty)) refuse_empty(level);
  const Fill empty_as = given(given_empty) ? fill_of(given_empty, dtype, {}, "empty") : Fill{};

  const Extents shape = values.rows(level.count());
  py::array out =
      given(given_out) ? checked_out("out", given_out, dtype, shape, &values.array) : empty(dtype, shape);
  job.type = values.type;
  job.level = level.view();
  job.longest = stats.longest;
  job.columns = values.columns();
  job.values = static_cast<const std::byte*>(values.array.data());
  // Bools are counted in u64 and given as i64, which hold the same bits.
  const bool direct = made == asked || (made == Type::u64 && asked == Type::i64);
  alignas(8) std::byte one[8] = {};
  if (empty_as.data() != nullptr) {
    const Convert back = direct ? Convert{} : cast_of(asked, made);
    if (back.run != nullptr) {
      back.run(empty_as.data(), 1, nullptr, one);
    } else {
      std::memcpy(one, empty_as.data(), static_cast<std::size_t>(size_of(asked)));
    }
  }
  job.empty = one;
  const std::int64_t elements = level.count() * job.columns;
  Scratch<std::byte> scratch(reduce_scratch(job));
  Scratch<std::byte> wide(direct ? 0 : elements * size_of(made));
  std::byte* const target = bytes(out);
  {
    const Unlocked unlocked(values.array.nbytes());
    reduce(job, scratch.data(), direct ? target : wide.data());
    if (!direct) cast(cast_of(made, asked), wide.data(), elements, target);
  }
  return out;
}

constexpr Signature<3> kWhich{"reduce_which", {"values", "level", "found"}};

py::object reduce_which_array(const Arguments<3>& args) {
  const Numbers values = numbers_of(args[0], "X");
  const Numbers found = numbers_of(args[2], "found");
  const LevelRef over = level_over(args[1], "X", values.array.shape(0));
  const Level& level = LevelRef::in(over);
  const Extents shape = values.rows(level.count());
  if (found.type != values.type || !std::equal(shape.begin(), shape.end(), found.array.shape(),
                                               found.array.shape() + found.array.ndim())) {
    raise_value("found: expected " + text_of(shape) + " of the dtype of X, got " +
                text_of(Extents(found.array.shape(), found.array.shape() + found.array.ndim())));
  }
  ReduceJob job;
  job.type = values.type;
  job.level = level.view();
  job.columns = values.columns();
  job.values = static_cast<const std::byte*>(values.array.data());
  py::array which = empty(py::dtype::of<std::int64_t>(), shape);
  const auto* wanted = static_cast<const std::byte*>(found.array.data());
  std::int64_t* const to = ints(which);
  {
    const Unlocked unlocked(values.array.nbytes());
    reduce_which(job, wanted, to);
  }
  return which;
}

PyMethodDef methods[] = {
    method<kReduce, reduce_array>(
        "reduce(op, values, level, empty=None, out=None, ddof=0)\n--\n\n"
        "One row a sequence: sum, mean, prod, max, min, any, all, norm, logsumexp, var or std of its rows."),
    method<kWhich, reduce_which_array>("reduce_which(values, level, found)\n--\n\n"
                                       "The first row of each sequence that equals what was found, or -1."),
    {},
};

}  // namespace

void bind_reduce(py::module_& m) {
  add_reduce_back(m);
  if (PyModule_AddFunctions(m.ptr(), methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
