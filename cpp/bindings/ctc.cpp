// Connectionist temporal classification over packed rows.
#include "varlen/ctc.hpp"

#include <algorithm>
#include <string>

#include "level/level.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/operands.hpp"
#include "support/raise.hpp"
#include "varlen/model/memory.hpp"

namespace varlen::bindings {

namespace {

/// Where a label that is refused stands.
[[noreturn]] void raise_label(const CtcJob& job, Status status) {
  const Offsets level = job.target_level;
  const std::int64_t i = std::upper_bound(level.ends, level.ends + level.count, status.where) - level.ends;
  const std::string label = "label " + std::to_string(status.value) + " of sequence " + std::to_string(i) +
                            " at position " + std::to_string(status.where - level.start(i));
  const std::string fault =
      status.value == job.blank ? " is the blank" : " is none of " + std::to_string(job.classes) + " classes";
  raise_value(Record{"targets", label + fault, status.where, status.value});
}

/// What both calls are given; `labels` and the arrays stay until the job is done.
struct CtcCall {
  Numbers log_probs;
  LevelRef level;
  Ints labels;
  LevelRef target_level;
  CtcJob job;

  CtcCall(PyObject* given_log_probs, PyObject* given_level, PyObject* given_targets,
          PyObject* given_target_level, PyObject* blank, PyObject* zero_infinity)
      : log_probs(numbers_of(given_log_probs, "log_probs")),
        level(level_over(given_level, "log_probs", log_probs.array.shape(0))),
        labels(as_own_ints(given_targets, "targets")),
        target_level(level_over(given_target_level, "targets", labels.count)) {
    if (log_probs.array.ndim() != 2) {
      raise_value("log_probs",
                  "expected (rows, classes), got " + std::to_string(log_probs.array.ndim()) + " dimensions");
    }
    if (log_probs.type != Type::f32 && log_probs.type != Type::f64) {
      raise_type("log_probs", "expected float32 or float64, got " + str_of(log_probs.array.dtype()));
    }
    if (level->count() != target_level->count()) {
      raise_value("targets", "has " + std::to_string(target_level->count()) + " sequences, expected " +
                                 std::to_string(level->count()) + " as log_probs");
    }
    job.type = log_probs.type;
    job.level = level->view();
    job.target_level = target_level->view();
    job.log_probs = data_of(log_probs.array);
    job.labels = labels.data;
    job.classes = log_probs.array.shape(1);
    job.blank = int_of(blank, "blank");
    if (job.blank < 0 || job.blank >= job.classes) {
      raise_value("blank",
                  std::to_string(job.blank) + " is none of " + std::to_string(job.classes) + " classes");
    }
    job.zero_infinity = truth_of(zero_infinity, "zero_infinity");
    const Status status = ctc_check(job);
    if (!status.ok()) raise_label(job, status);
  }

  [[nodiscard]] py::array empty_losses() const { return empty(log_probs.array.dtype(), {job.level.count}); }
  [[nodiscard]] py::array empty_gradient() const {
    return empty(log_probs.array.dtype(), {log_probs.array.shape(0), job.classes});
  }

  void run(std::byte* losses, std::byte* gradient) const {
    const WorkShares shares = ctc_shares(job);
    Scratch<std::byte> scratch(shares.bytes);
    const GilRelease gil_release(shares.work);
    ctc_loss(job, shares, scratch.data(), losses, gradient);
  }
};

constexpr Signature<7> kCtcLoss{
    "ctc_loss",
    {"log_probs", "level", "targets", "target_level", "blank", "zero_infinity", "gradient"},
    6,
    7};

py::object ctc_loss_of(const Arguments<7>& args) {
  CtcCall call(args[0], args[1], args[2], args[3], args[4], args[5]);
  call.job.with_gradient = is_given(args[6]) && truth_of(args[6], "gradient");
  py::array losses = call.empty_losses();
  if (!call.job.with_gradient) {
    call.run(bytes(losses), nullptr);
    return losses;
  }
  py::array gradient = call.empty_gradient();
  call.run(bytes(losses), bytes(gradient));
  return py::make_tuple(losses, gradient);
}

constexpr Signature<7> kBackpropCtcLoss{
    "backprop_ctc_loss", {"d", "log_probs", "level", "targets", "target_level", "blank", "zero_infinity"}};

py::object backprop_ctc_loss_of(const Arguments<7>& args) {
  CtcCall call(args[1], args[2], args[3], args[4], args[5], args[6]);
  const Numbers d = numbers_of(args[0], "d");
  if (d.type != call.job.type) {
    raise_type("d", "expected " + str_of(call.log_probs.array.dtype()) + " as log_probs, got " +
                        str_of(d.array.dtype()));
  }
  if (d.array.ndim() != 1 || d.array.shape(0) != call.job.level.count) {
    raise_value("d",
                "expected one number for each of " + std::to_string(call.job.level.count) + " sequences");
  }
  call.job.with_gradient = true;
  call.job.d = data_of(d.array);
  py::array gradient = call.empty_gradient();
  call.run(nullptr, bytes(gradient));
  return gradient;
}

PyMethodDef ctc_methods[] = {
    method<kCtcLoss, ctc_loss_of>(
        "ctc_loss(log_probs, level, targets, target_level, blank, zero_infinity, gradient=False)\n--\n\n"
        "The loss of each sequence, and the gradient of the log probabilities."),
    method<kBackpropCtcLoss, backprop_ctc_loss_of>(
        "backprop_ctc_loss(d, log_probs, level, targets, target_level, blank, zero_infinity)\n--\n\n"
        "The gradient of log probabilities from that of the losses."),
    {},
};

}  // namespace

void bind_ctc(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), ctc_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
