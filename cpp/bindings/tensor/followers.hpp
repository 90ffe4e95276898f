// Who follows what is computed of a tensor, and would miss what the core does with its memory.
#pragma once

#include <pybind11/pybind11.h>

namespace varlen::bindings {

/// Whether something looks on at every call: a mode of the library, a tracer, derivatives ahead.
[[nodiscard]] bool calls_are_followed();

/// Whether autograd records what is computed of a tensor of one of the known types.
[[nodiscard]] bool wants_gradient(PyObject* tensor);

/// What is registered of followers is of the right kind.
void take_modes(PyObject* modes);
void take_forward_ad(PyObject* module);

}  // namespace varlen::bindings
