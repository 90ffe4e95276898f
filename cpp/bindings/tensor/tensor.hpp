// Tensors of a library that nothing here links: seen as arrays, and made of arrays.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "support/ndarray.hpp"
#include "support/overlap.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// Whether this is a tensor of one of the types that were made known, and not of a subclass.
[[nodiscard]] bool is_tensor(PyObject* object) noexcept;

/// Whether this is a tensor of another type: a subclass, which may compute as it likes.
[[nodiscard]] bool is_tensor_subclass(PyObject* object) noexcept;

/// Whether nobody follows an object that is a tensor of one of the known types, and no subclass of them.
[[nodiscard]] bool is_plain_tensor(PyObject* object);

/// An array over the memory of a tensor, whatever autograd thinks of it. Null where it shows none on the CPU
/// that NumPy reads as the same numbers.
[[nodiscard]] py::object array_over(PyObject* tensor);

/// The same, or a DeviceArray over the memory of a tensor of a device that kernels are known for.
[[nodiscard]] py::object placed_over(PyObject* tensor);

/// A tensor over the memory of an array, which it keeps alive.
[[nodiscard]] py::object tensor_over(const py::array& array);

/// Where numbers lie, and whether they do so end to end.
struct Footprint {
  Memory memory;
  bool is_contiguous;
};

/// Of a tensor on any device, whoever follows it; nothing where it shows no memory.
[[nodiscard]] std::optional<Footprint> footprint_of(PyObject* tensor);

/// The types of a library of tensors, and its DLPack for C where it has that.
void take_tensor_types(PyObject* types);

}  // namespace varlen::bindings
