#include "operands.hpp"

#include <optional>
#include <string>

#include "device.hpp"
#include "dtypes.hpp"
#include "raise.hpp"

namespace varlen::bindings {

py::array plain_bools(py::array bools) {
  const auto* const source = data_of(bools);
  const std::int64_t count = bools.size();
  if (are_plain_bools(source, count)) return bools;
  py::array result = empty(bools.dtype().ptr(), static_cast<int>(bools.ndim()), bools.shape());
  cast(cast_of(Type::u8, Type::b1), source, count, bytes(result));
  return result;
}

namespace {

/// Numbers of the host, as they are.
py::array host_numbers(PyObject* argument, const char* name) {
  const py::array any = as_rows(argument, name);
  py::array array = convertible(any, any.dtype(), true);
  if (!type_of(array.dtype())) {
    raise_type(name, "expected bool, integers or floats, got " + str_of(any.dtype()));
  }
  if ((array.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) == 0) array = array.attr("copy")();
  return array;
}

}  // namespace

Numbers numbers_of(PyObject* argument, const char* name) {
  const py::array array = host_numbers(argument, name);
  const Type type = *type_of(array.dtype());
  return {type == Type::b1 ? plain_bools(array) : array, type};
}

Numbers placed_numbers_of(PyObject* argument, const char* name) {
  if (!is_device_array(argument) && kernels_on_host() == nullptr) return numbers_of(argument, name);
  const bool on_device = is_device_array(argument);
  py::array array = as_placed_rows(on_device ? py::handle(argument) : host_numbers(argument, name), name);
  const std::optional<Type> type = type_of(array.dtype());
  if (!type) {
    raise_type(name, "expected bool, integers or floats, got " + str_of(array.dtype()));
  }
  if (*type == Type::b1 && place_of(array).is_host()) array = plain_bools(array);
  return {array, *type};
}

Numbers numbers_at(const Place& place, PyObject* argument, const char* name) {
  Numbers numbers = placed_numbers_of(argument, name);
  check_at(place, numbers.array, name);
  return numbers;
}

Extents Numbers::rows(std::int64_t count) const {
  Extents shape{count};
  shape.append(array.shape() + 1, array.shape() + array.ndim());
  return shape;
}

std::int64_t Numbers::columns() const {
  return row_bytes(array) / array.itemsize();
}

}  // namespace varlen::bindings
