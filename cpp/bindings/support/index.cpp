#include "index.hpp"

#include <optional>
#include <string>
#include <utility>

#include "raise.hpp"

namespace varlen::bindings {

Slice slice_of(py::handle slice) {
  Slice out;
  Py_ssize_t start = 0;
  Py_ssize_t stop = 0;
  Py_ssize_t step = 1;
  if (PySlice_Unpack(slice.ptr(), &start, &stop, &step) < 0) {
    if (PyErr_ExceptionMatches(PyExc_ValueError) != 0) {
      PyErr_Clear();
      raise_value("", "slice step cannot be zero", std::nullopt, 0);
    }
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
    PyErr_Clear();
    raise_type("slice indices must be integers or None, got " + std::string(py::repr(slice)));
  }
  out.start = start;
  out.stop = stop;
  out.step = step;
  return out;
}

Ints index_of(py::handle index, std::int64_t count) {
  if (PySlice_Check(index.ptr())) {
    const Slice slice = slice_of(index);
    const Slice::Pick selection = slice.resolve(count);
    py::array result = empty_ints(selection.size);
    auto* out = static_cast<std::int64_t*>(result.mutable_data());
    gather_steps(selection, slice.step, out);
    return {std::move(result), out, selection.size};
  }
  if (!py::isinstance<py::array>(index) || py::reinterpret_borrow<py::array>(index).dtype().kind() != 'b') {
    return as_ints(index, "index");
  }
  auto mask = py::reinterpret_borrow<py::array>(index);
  if (mask.ndim() != 1 || mask.size() != count) {
    raise_index("the mask has " + std::to_string(mask.size()) + " entries in " + std::to_string(mask.ndim()) +
                " dimensions for " + std::to_string(count) + " sequences");
  }
  if ((mask.flags() & py::array::c_style) == 0) mask = mask.attr("copy")().cast<py::array>();
  const auto* bytes = static_cast<const std::uint8_t*>(mask.data());
  const std::int64_t selection = gather_count(bytes, count);
  py::array result = empty_ints(selection + 1);
  auto* out = static_cast<std::int64_t*>(result.mutable_data());
  // Fewer than were counted where another thread wrote to the mask meanwhile.
  const std::int64_t match_count = gather_mask(bytes, count, selection, out);
  return {std::move(result), out, match_count};
}

bool is_plain_slice(py::handle index, std::int64_t count, Range& rows) {
  if (!PySlice_Check(index.ptr())) return false;
  const Slice slice = slice_of(index);
  const Slice::Pick selection = slice.resolve(count);
  rows = {selection.first, selection.first + selection.size};
  return slice.step == 1;
}

void raise_beyond(std::int64_t i, std::int64_t position, std::int64_t count, const char* what) {
  std::string text = "index " + std::to_string(i);
  if (position >= 0) text += " at position " + std::to_string(position);
  const std::optional<std::int64_t> row = position < 0 ? std::nullopt : std::optional(position);
  raise_index("", text + " is out of range for " + std::to_string(count) + " " + what, row, i);
}

void refuse(Status status, std::int64_t count, const char* what) {
  if (status.code == Code::index_out_of_range) raise_beyond(status.value, status.where, count, what);
  raise_if(status, "index");
}

}  // namespace varlen::bindings
