// One step of an LSTM and its way back, on buffers that the caller keeps.
#include "varlen/lstm.hpp"

#include <string>

#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

/// The shape and dtype that all buffers of a call share; the first says what they are.
class Buffers {
 public:
  /// Gates of so many rows, four of the width side by side.
  explicit Buffers(PyObject* gates) {
    const py::array array = checked_array(gates, "gates");
    const auto type = type_of(array.dtype());
    if (!type || (*type != Type::f32 && *type != Type::f64)) {
      raise_type("gates", "expected float32 or float64, got " + str_of(array.dtype()));
    }
    if (array.ndim() != 2 || array.shape(1) % 4 != 0) raise_value("gates", "expected (rows, 4 * width)");
    type_ = *type;
    rows_ = array.shape(0);
    width_ = array.shape(1) / 4;
    dtype_ = array.dtype();
  }

  [[nodiscard]] Type type() const { return type_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t width() const { return width_; }

  /// A buffer of (rows, each * width), or of one row without the first axis.
  std::byte* pointer(PyObject* argument, const char* name, std::int64_t factor, bool is_output,
                     bool one_row = false) const {
    py::array array = checked_array(argument, name);
    const bool fits = one_row
                          ? array.ndim() == 1 && array.shape(0) == factor * width_
                          : array.ndim() == 2 && array.shape(0) == rows_ && array.shape(1) == factor * width_;
    if (!fits || !array.dtype().equal(dtype_)) {
      raise_value(name, "expected " + (one_row ? "" : std::to_string(rows_) + " rows of ") +
                            std::to_string(factor * width_) + " numbers of the dtype of gates");
    }
    if (is_output && !array.writeable()) raise_value(name, "read-only");
    return static_cast<std::byte*>(const_cast<void*>(array.data()));
  }

 private:
  static py::array checked_array(PyObject* argument, const char* name) {
    if (!py::isinstance<py::array>(argument)) {
      raise_type(name, "expected an array, got " + type_name(argument));
    }
    auto array = py::reinterpret_borrow<py::array>(argument);
    constexpr int kPlain = int{py::array::c_style} | int{py::detail::npy_api::NPY_ARRAY_ALIGNED_};
    if ((array.flags() & kPlain) != kPlain) raise_value(name, "expected contiguous memory");
    return array;
  }

  Type type_ = Type::f32;
  std::int64_t rows_ = 0;
  std::int64_t width_ = 0;
  py::dtype dtype_;
};

constexpr Signature<8> kStep{
    "lstm_step", {"gates", "more", "bias", "cells", "hidden", "out", "cells_were", "hidden_were"}, 6, 8};

py::object step_of(const Arguments<8>& args) {
  const Buffers buffers(args[0]);
  LstmStep step{buffers.type(), buffers.rows(), buffers.width()};
  step.gates = buffers.pointer(args[0], "gates", 4, true);
  step.addend = buffers.pointer(args[1], "more", 4, false);
  step.bias = buffers.pointer(args[2], "bias", 4, false, true);
  step.cells = buffers.pointer(args[3], "cells", 1, true);
  step.hidden = buffers.pointer(args[4], "hidden", 1, true);
  step.out = buffers.pointer(args[5], "out", 1, true);
  if (is_given(args[6]) != is_given(args[7])) raise_type("hidden_were", "needed beside cells_were");
  if (is_given(args[6])) {
    step.cells_were = buffers.pointer(args[6], "cells_were", 1, true);
    step.hidden_were = buffers.pointer(args[7], "hidden_were", 1, true);
  }
  const GilRelease gil_release(step.rows * step.width * 64);
  lstm_step(step);
  return py::none();
}

constexpr Signature<6> kStepBack{"lstm_step_back",
                                 {"gates", "cells_were", "d_out", "d_hidden", "d_cells", "d_gates"}};

py::object back_of(const Arguments<6>& args) {
  const Buffers buffers(args[0]);
  LstmBack job{buffers.type(), buffers.rows(), buffers.width()};
  job.gates = buffers.pointer(args[0], "gates", 4, false);
  job.cells_were = buffers.pointer(args[1], "cells_were", 1, false);
  job.d_out = buffers.pointer(args[2], "d_out", 1, false);
  job.d_hidden = buffers.pointer(args[3], "d_hidden", 1, false);
  job.d_cells = buffers.pointer(args[4], "d_cells", 1, true);
  job.d_gates = buffers.pointer(args[5], "d_gates", 4, true);
  const GilRelease gil_release(job.rows * job.width * 64);
  lstm_step_back(job);
  return py::none();
}

PyMethodDef lstm_methods[] = {
    method<kStep, step_of>(
        "lstm_step(gates, more, bias, cells, hidden, out, cells_were=None, hidden_were=None)"
        "\n--\n\nOne step of an LSTM, in place."),
    method<kStepBack, back_of>("lstm_step_back(gates, cells_were, d_out, d_hidden, d_cells, d_gates)\n--\n\n"
                               "The way back of one step, into d_cells and d_gates."),
    {},
};

}  // namespace

void bind_lstm(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), lstm_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
