// Softmax inside sequences, its logarithm, and the ways back.
#include "varlen/softmax.hpp"

#include <cmath>
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

double temperature_of(PyObject* argument) {
  if (argument == nullptr) return 1;
  const double number = number_of(argument, "temperature");
  // So that it is neither zero nor infinite in float.
  if (!(number >= 1e-30 && number <= 1e30)) {
    raise_value("temperature",
                "expected a number from 1e-30 to 1e30, got " + std::string(py::repr(py::handle(argument))));
  }
  return number;
}

Softmax op_of(PyObject* log, Softmax plain, Softmax logarithm) {
  return is_given(log) && truth_of(log, "log") ? logarithm : plain;
}

/// The job over rows that the caller gave, of which `out` are those to write.
py::object run(SoftmaxJob& job, const Numbers& values, PyObject* level, PyObject* temperature,
               const char* name, py::array out) {
  const LevelRef level_ref = level_over(level, name, values.array.shape(0));
  Level& rows = LevelRef::unwrap(level_ref);
  job.type = values.type;
  const Place place = place_of(values.array);
  job.level = offsets_at(place, rows);
  job.longest = rows.length_limit();
  job.values = data_of(values.array);
  job.columns = values.columns();
  job.temperature = temperature_of(temperature);
  std::byte* const to = bytes(out);
  const ScratchAt scratch(place, place.kernels->softmax_scratch(job, rows.total()));
  launch(place, "softmax", values.array.nbytes(), &cuda::Kernels::softmax, job, rows.total(), scratch.data(),
         to);
  return out;
}

constexpr Signature<6> kForward{"softmax", {"values", "level", "log", "temperature", "out", "inplace"}, 2, 6};

py::object forward(const Arguments<6>& args) {
  const auto [given_values, level, log, temperature, given_out, inplace] = args;
  SoftmaxJob job;
  job.op = op_of(log, Softmax::softmax, Softmax::log_softmax);
  const Numbers values = placed_numbers_of(given_values, "X");
  const Place place = place_of(values.array);
  const py::dtype dtype = is_float(values.type) ? values.array.dtype() : py::dtype::of<double>();
  const Extents shape = values.rows(values.array.shape(0));
  // Checked before anything is made or written.
  level_over(level, "X", values.array.shape(0));
  temperature_of(temperature);
  if (is_given(inplace) && truth_of(inplace, "inplace")) {
    if (is_given(given_out)) raise_type("out", "there is none where Xs is written in place");
    const py::array target = checked_out_at(place, "X", given_values, dtype, shape, {});
    if (target.data() != values.array.data()) raise_value("X", "is not aligned");
    return run(job, values, level, temperature, "X", target);
  }
  return run(job, values, level, temperature, "X",
             out_at(place, given_out, dtype, shape, {given_values, values.array}));
}

constexpr Signature<6> kBackpropSoftmax{
    "backprop_softmax", {"dY", "Y", "level", "log", "temperature", "out"}, 3, 6};

py::object backprop_softmax(const Arguments<6>& args) {
  const auto [given_dy, given_y, level, log, temperature, given_out] = args;
  SoftmaxJob job;
  job.op = op_of(log, Softmax::back_softmax, Softmax::back_log_softmax);
  const Numbers dy = placed_numbers_of(given_dy, "dY");
  const Place place = place_of(dy.array);
  const Numbers y = numbers_at(place, given_y, "Y");
  if (!is_float(dy.type)) raise_type("dY", "expected floats, got " + str_of(dy.array.dtype()));
  if (y.type != dy.type) {
    raise_type("Y", "expected " + str_of(dy.array.dtype()) + " as dY, got " + str_of(y.array.dtype()));
  }
  const Extents shape = dy.rows(dy.array.shape(0));
  const Extents has = shape_of(y.array);
  if (text_of(has) != text_of(shape)) {
    raise_value("Y", "expected the shape of dY, " + text_of(shape) + ", got " + text_of(has));
  }
  level_over(level, "dY", dy.array.shape(0));
  temperature_of(temperature);
  job.result = data_of(y.array);
  py::array out = out_at(place, given_out, dy.array.dtype(), shape, {given_dy, dy.array, given_y, y.array});
  return run(job, dy, level, temperature, "dY", out);
}

PyMethodDef softmax_methods[] = {
    method<kForward, forward>(
        "softmax(values, level, log=False, temperature=1.0, out=None, inplace=False)\n--\n\n"
        "Softmax inside each sequence, or its logarithm."),
    method<kBackpropSoftmax, backprop_softmax>(
        "backprop_softmax(dY, Y, level, log=False, temperature=1.0, out=None)\n--\n\n"
        "The gradient of softmax, or of its logarithm, from its results."),
    {},
};

}  // namespace

void bind_softmax(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), softmax_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
