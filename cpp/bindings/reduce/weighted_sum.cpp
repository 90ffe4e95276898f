// Rows added up by weights, and the ways back.
#include <string>

#include "level/level.hpp"
#include "reduce.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/operands.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen::bindings {

namespace {

/// Numbers beside others: of the dtype of the weights, and of so many axes.
Numbers operand_at(const Place& place, PyObject* argument, const char* name, Type type, py::ssize_t axes) {
  Numbers result = numbers_at(place, argument, name);
  if (result.type != type) {
    raise_type(name, std::string("expected float") + (type == Type::f64 ? "64" : "32") + ", got " +
                         str_of(result.array.dtype()));
  }
  if (result.array.ndim() != axes) {
    raise_value(
        name, "expected " + std::to_string(axes) + " dimensions, got " + std::to_string(result.array.ndim()));
  }
  return result;
}

void check_extent(const char* name, std::int64_t has, std::int64_t expected, const char* what) {
  if (has == expected) return;
  raise_value(name, "has " + std::to_string(has) + " " + what + ", expected " + std::to_string(expected));
}

/// Values (total, columns), weights (total, heads) and sums (n, heads, columns) under a level, those that are
/// there, with `lead` as the first: its place is that of all.
struct Weighing {
  Weighing(PyObject* given_values, PyObject* given_weights, PyObject* given_sums, PyObject* given_level,
           Type type_of_values)
      : place(place_of(as_placed_rows(given_values != nullptr ? given_values : given_weights, "values"))) {
    job.type = type_of_values;
    if (given_values != nullptr) {
      values = placed_numbers_of(given_values, "values");
      if (!is_float(values.type))
        raise_type("values", "expected floats, got " + str_of(values.array.dtype()));
      if (values.array.ndim() != 2) {
        raise_value("values", "expected two dimensions, got " + std::to_string(values.array.ndim()));
      }
      job.type = values.type;
      job.columns = values.array.shape(1);
      job.values = data(values);
      rows = values.array.shape(0);
    }
    wide = job.type == Type::f64 ? Type::f64 : Type::f32;
    if (given_weights != nullptr) {
      weights = operand_at(place, given_weights, "weights", wide, 2);
      if (given_values != nullptr) check_extent("weights", weights.array.shape(0), rows, "rows");
      rows = weights.array.shape(0);
      job.heads = weights.array.shape(1);
      job.weights = data(weights);
    }
    level_ref = level_over(given_level, given_values != nullptr ? "values" : "weights", rows);
    Level& level = LevelRef::unwrap(level_ref);
    if (given_sums != nullptr) {
      sums = operand_at(place, given_sums, "sums", wide, 3);
      check_extent("sums", sums.array.shape(0), level.count(), "rows");
      if (given_weights != nullptr) check_extent("sums", sums.array.shape(1), job.heads, "heads");
      if (given_values != nullptr) check_extent("sums", sums.array.shape(2), job.columns, "columns");
      job.heads = sums.array.shape(1);
      job.columns = sums.array.shape(2);
      job.sums = data(sums);
    }
    constexpr std::int64_t kWidthLimit = std::int64_t{1} << 31;
    std::int64_t width = 0;
    if (!checked_mul(job.heads, job.columns, width) || width >= kWidthLimit) {
      raise_value("weights", std::to_string(job.heads) + " heads of " + std::to_string(job.columns) +
                                 " columns are more than 2**31");
    }
    job.level = offsets_at(place, level);
    job.longest = level.length_limit();
    total = level.total();
  }

  static const std::byte* data(const Numbers& numbers) { return data_of(numbers.array); }

  Place place;
  WeightedJob job;
  Numbers values, weights, sums;
  LevelRef level_ref;
  Type wide = Type::f32;
  std::int64_t rows = 0;
  std::int64_t total = 0;
};

constexpr Signature<3> kWeightedSum{"weighted_sum", {"weights", "values", "level"}, 3, 3};

py::object sum_by_weights(const Arguments<3>& args) {
  Weighing work(args[1], args[0], nullptr, args[2], Type::f32);
  py::array out = empty_at(work.place, work.values.array.dtype(),
                           {work.job.level.count, work.job.heads, work.job.columns});
  const ScratchAt scratch(work.place, work.place.kernels->weighted_scratch(work.job, work.total));
  launch(work.place, "weighted_sum", work.values.array.nbytes() * work.job.heads,
         &cuda::Kernels::weighted_sum, work.job, work.total, scratch.data(), bytes(out));
  return out;
}

constexpr Signature<4> kToValues{"weighted_sum_to_values", {"sums", "weights", "level", "dtype"}, 4, 4};

py::object gradient_of_values(const Arguments<4>& args) {
  const py::dtype dtype = dtype_of(args[3], py::dtype::of<float>());
  const auto type = type_of(dtype);
  if (!type || !is_float(*type)) raise_type("dtype", "expected a float dtype, got " + str_of(dtype));
  Weighing work(nullptr, args[1], args[0], args[2], *type);
  py::array out = empty_at(work.place, dtype, {work.total, work.job.columns});
  launch(work.place, "weighted_sum_to_values", out.nbytes() * work.job.heads,
         &cuda::Kernels::weighted_sum_to_values, work.job, work.total, bytes(out));
  return out;
}

constexpr Signature<3> kToWeights{"weighted_sum_to_weights", {"sums", "values", "level"}, 3, 3};

py::object gradient_of_weights(const Arguments<3>& args) {
  Weighing work(args[1], nullptr, args[0], args[2], Type::f32);
  py::array out = empty_at(work.place, work.sums.array.dtype(), {work.total, work.job.heads});
  launch(work.place, "weighted_sum_to_weights", work.values.array.nbytes() * work.job.heads,
         &cuda::Kernels::weighted_sum_to_weights, work.job, work.total, bytes(out));
  return out;
}

PyMethodDef weighted_methods[] = {
    method<kWeightedSum, sum_by_weights>(
        "weighted_sum(weights, values, level)\n--\n\n"
        "The rows of each sequence added up by weights (total, heads): (n, heads, columns)."),
    method<kToValues, gradient_of_values>(
        "weighted_sum_to_values(sums, weights, level, dtype)\n--\n\n"
        "The gradient of the values of `weighted_sum` from that of its result."),
    method<kToWeights, gradient_of_weights>(
        "weighted_sum_to_weights(sums, values, level)\n--\n\n"
        "The gradient of the weights of `weighted_sum` from that of its result."),
    {},
};

}  // namespace

void add_weighted(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), weighted_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
