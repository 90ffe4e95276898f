// Who follows what is computed of a tensor, and would miss what the core does with its memory.
#pragma once

#include <pybind11/pybind11.h>

namespace varlen::bindings {

/// Whether something looks on at every call: a mode of the library, a tracer, derivatives ahead.
[[nodiscard]] bool calls_are_followed();

/// Whether autograd records what is computed of a tensor of one of the known types.
[[nodiscard]] bool wants_gradient(PyObject* tensor);

/// Makes known what is asked: functions without arguments that count or say yes where calls are followed,
/// those that say whether a transform is active, whose tensors show no memory, and whether autograd records,
/// and the module whose `_current_level` says of derivatives ahead.
void know_followers(const pybind11::tuple& modes, pybind11::object transforms, pybind11::object grad_enabled,
                    pybind11::object forward_ad);

}  // namespace varlen::bindings
