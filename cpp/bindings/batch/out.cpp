// The arrays of a batch: made, or taken from `out`, all of them, before one is written.
#include <algorithm>

#include "batch.hpp"
#include "support/arrays.hpp"
#include "support/ndarray.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace batch_out {

/// A buffer of the caller's as an array of the shape that is needed.
py::array in_buffer(const std::string& name, const py::object& input, const py::dtype& dtype,
                    const Extents& shape, std::int64_t count) {
  const std::string argument = "out['" + name + "']";
  if (!py::isinstance<py::array>(input)) {
    raise_type(argument, "expected an array, got " + type_name(input));
  }
  refuse_masked(input.ptr(), argument);
  auto array = py::reinterpret_borrow<py::array>(input);
  if (!array.dtype().equal(dtype)) {
    raise_type(argument, "has dtype " + py::str(array.dtype()).cast<std::string>() + ", the batch gives " +
                             py::str(dtype).cast<std::string>());
  }
  if ((array.flags() & py::array::c_style) == 0 || !array.writeable()) {
    raise_value(argument, "must be C-contiguous and writeable");
  }
  if (array.size() < count) {
    raise_value(argument, "has room for " + std::to_string(array.size()) + " entries, the batch needs " +
                              std::to_string(count));
  }
  const bool is_match = array.ndim() == static_cast<py::ssize_t>(shape.size()) &&
                        std::equal(shape.begin(), shape.end(), array.shape());
  if (is_match) return array;
  return make_array(dtype.ptr(), static_cast<int>(shape.size()), shape.data(), nullptr, array.mutable_data(),
                    array.ptr());
}

}  // namespace batch_out

py::dtype dtype_of_output(const BatchOutput& output, const std::vector<py::dtype>& dtypes) {
  switch (output.kind) {
    case BatchOutput::Kind::flags:
      return py::dtype::of<bool>();
    case BatchOutput::Kind::bytes:
      return py::dtype::of<std::uint8_t>();
    case BatchOutput::Kind::int32:
      return py::dtype::of<std::int32_t>();
    case BatchOutput::Kind::int64:
    case BatchOutput::Kind::number:
      return py::dtype::of<std::int64_t>();
    case BatchOutput::Kind::values:
      break;
  }
  return dtypes[static_cast<std::size_t>(output.key)];
}

py::dict batch_arrays(BatchPlan& plan, const std::vector<py::str>& names,
                      const std::vector<py::dtype>& dtypes, const MemoryRead& read, py::handle out,
                      py::handle grow) {
  py::dict result;
  const py::dict input = out.is_none() ? py::dict() : out.cast<py::dict>();
  std::size_t match_count = 0;
  MemoryWritten out_memory;
  for (BatchOutput& output : plan.outputs()) {
    const py::str name = output.kind == BatchOutput::Kind::values
                             ? names[static_cast<std::size_t>(output.key)]
                             : py::str(output.name);
    if (output.kind == BatchOutput::Kind::number) {
      result[name] = output.number;
      continue;
    }
    const py::dtype dtype = dtype_of_output(output, dtypes);
    const Extents shape(output.shape.data(), output.shape.data() + output.shape.size());
    const std::int64_t count = dtype.itemsize() > 0 ? output.bytes / dtype.itemsize() : 0;
    py::array array;
    if (!out.is_none() && input.contains(name)) {
      array = batch_out::in_buffer(output.name, input[name], dtype, shape, count);
      out_memory.add("out['" + output.name + "']", array, read);
      ++match_count;
    } else if (!grow.is_none()) {
      array = batch_out::in_buffer(output.name, grow(name, dtype, count), dtype, shape, count);
    } else {
      array = empty(dtype, shape);
    }
    output.data = bytes(array);
    result[name] = std::move(array);
  }
  if (match_count < input.size()) {
    for (const auto& [name, buffer] : input) {
      if (!result.contains(name)) {
        raise_value("out", "the batch has no '" + py::str(name).cast<std::string>() + "'");
      }
    }
  }
  return result;
}

}  // namespace varlen::bindings
