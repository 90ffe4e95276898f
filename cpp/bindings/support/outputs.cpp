#include "outputs.hpp"

#include <algorithm>

#include "dtypes.hpp"
#include "fastcall.hpp"
#include "ndarray.hpp"
#include "raise.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen::bindings {

std::string text_of(const Extents& shape) {
  std::string text = "(";
  for (const py::ssize_t size : shape) text += (text.size() == 1 ? "" : ", ") + std::to_string(size);
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::int64_t default_max_bytes() {
  static const std::int64_t bytes = physical_bytes() / 2;
  return bytes;
}

std::int64_t max_bytes_of(PyObject* argument) {
  return is_given(argument) ? at_least(0, int_of(argument, "max_bytes"), "max_bytes") : default_max_bytes();
}

std::int64_t padded_bytes(std::string_view name, const py::dtype& dtype, const Extents& shape,
                          std::int64_t max_bytes, std::int64_t& total_bytes) {
  static_assert(sizeof(py::ssize_t) == sizeof(std::int64_t));
  return varlen::padded_bytes(name, dtype.itemsize(), reinterpret_cast<const std::int64_t*>(shape.data()),
                              shape.size(), max_bytes, total_bytes);
}

py::array checked_out(std::string_view name, py::handle output, const py::dtype& dtype, const Extents& shape,
                      Inputs inputs) {
  if (!py::isinstance<py::array>(output)) {
    raise_type(name, "expected an array, got " + type_name(output));
  }
  refuse_masked(output.ptr(), name);
  auto array = py::reinterpret_borrow<py::array>(output);
  const bool is_match = array.ndim() == static_cast<py::ssize_t>(shape.size()) &&
                        std::equal(shape.begin(), shape.end(), array.shape());
  if (!is_match || !array.dtype().equal(dtype)) {
    const Extents has = shape_of(array);
    raise_value(name,
                "needs " + str_of(dtype) + text_of(shape) + ", got " + str_of(array.dtype()) + text_of(has));
  }
  if (!array.writeable()) raise_value(name, "is read-only");
  if ((array.flags() & py::array::c_style) == 0) raise_value(name, "is not C-contiguous");
  refuse_overlap(name, array, inputs);
  return array;
}

void bind_outputs(py::module_& m) {
  m.def("release_memory", &varlen::release_memory,
        "Gives the memory that is kept for large outputs back to the system; how many bytes that was.");
}

}  // namespace varlen::bindings
