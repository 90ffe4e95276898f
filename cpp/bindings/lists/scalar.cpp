// Leaves that are no plain Python number: large integers, NumPy's scalars, arrays among lists.
#include <array>
#include <cmath>

#include "fill.hpp"
#include "support/arrays.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

struct ScalarType {
  PyTypeObject* type;
  Number number;
};

/// The exact types of NumPy's plain scalars. float16 and long double are not among them.
const std::array<ScalarType, 13>& scalar_types() {
  static const std::array<ScalarType, 13> types = [] {
    const Api& api = Api::get();
    constexpr int numbers[] = {Api::NPY_BOOL_,   Api::NPY_BYTE_,     Api::NPY_UBYTE_,     Api::NPY_SHORT_,
                               Api::NPY_USHORT_, Api::NPY_INT_,      Api::NPY_UINT_,      Api::NPY_LONG_,
                               Api::NPY_ULONG_,  Api::NPY_LONGLONG_, Api::NPY_ULONGLONG_, Api::NPY_FLOAT_,
                               Api::NPY_DOUBLE_};
    std::array<ScalarType, 13> out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto descr = py::reinterpret_steal<py::object>(api.PyArray_DescrFromType_(numbers[i]));
      out[i] = {reinterpret_cast<PyTypeObject*>(api.PyArray_TypeObjectFromType_(numbers[i])),
                *number_of(descr.ptr())};
    }
    return out;
  }();
  return types;
}

/// Whether an int is this double; an infinite one is refused later, as beyond the range. No Python code runs.
bool equals(PyObject* integer, double value) {
  if (std::isinf(value)) return true;
  const auto integer_value = py::reinterpret_steal<py::object>(PyLong_FromDouble(value));
  const auto equality =
      py::reinterpret_steal<py::object>(PyLong_Type.tp_richcompare(integer, integer_value.ptr(), Py_EQ));
  return equality.ptr() == Py_True;
}

PyTypeObject* half_type() {
  static PyObject* const type = numpy("float16").release().ptr();
  return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace

void Walker::put_integer(PyObject* integer) {
  int overflow = 0;
  const std::int64_t value = PyLong_AsLongLongAndOverflow(integer, &overflow);
  kinds_ |= kind_bit(Number::i64);
  if (overflow == 0) {
    writer_.put(Number::i64, reinterpret_cast<const std::byte*>(&value), 8, 1);
    return;
  }
  const std::uint64_t large = PyLong_AsUnsignedLongLong(integer);
  if (!PyErr_Occurred()) {
    writer_.put(Number::u64, reinterpret_cast<const std::byte*>(&large), 8, 1);
    return;
  }
  PyErr_Clear();
  // Beyond 64 bits: only floating point may hold it, and only beside other floats (see from_lists).
  if (want_.number ? *want_.number < Number::f32 : writer_.carrier() != Number::f64) {
    throw Misfit{writer_.position(), want_.number ? Misfit::Why::target : Misfit::Why::signs};
  }
  const double float_value = PyLong_AsDouble(integer);
  if (float_value == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    throw Misfit{writer_.position(), want_.narrow ? Misfit::Why::float32 : Misfit::Why::target};
  }
  if (!want_.number && !equals(integer, want_.narrow ? static_cast<float>(float_value) : float_value)) {
    throw Misfit{writer_.position(), Misfit::Why::rounding};
  }
  put_float(float_value);
}

void Walker::scalar(PyObject* object) {
  const Api& api = Api::get();
  for (const ScalarType& entry : scalar_types()) {
    if (Py_TYPE(object) != entry.type) continue;
    std::byte value[8];
    api.PyArray_ScalarAsCtype_(object, value);
    kinds_ |= kind_bit(entry.number);
    return writer_.put(entry.number, value, 8, 1);
  }
  if (Py_TYPE(object) == half_type()) {
    kinds_ |= kHalf;
    return put_float(PyFloat_AsDouble(object));
  }
  if (is_array(object, api) && fields_of(object)->nd == 0 && !holds_objects(fields_of(object)->descr)) {
    return array_row(object);
  }
  if (never_a_number(object)) raise_type(path(), "expected a number, got " + type_name(object));
  if (is_list(object) || is_array(object, api)) {
    refuse_cycles(root_, name_);
    raise_value(Record{path(),
                       "expected a number, got " + type_name(object) + ": nested deeper than the rest",
                       {},
                       {},
                       {},
                       "nesting"});
  }
  if (is_number(object)) throw NeedsNumpy{};
  throw NeedsPython{};
}

void Walker::array_row(PyObject* array) {
  const auto* fields = fields_of(array);
  const std::int64_t count = fields->nd == 0 ? 1 : fields->dimensions[0];
  if (fields->nd > 1) {
    raise_value(path(), "an array of " + std::to_string(fields->nd) + " dimensions among lists of numbers");
  }
  if (const auto number = number_of(fields->descr)) {
    kinds_ |= kind_bit(*number);
    const std::int64_t stride = fields->nd == 0 ? 0 : fields->strides[0];
    return writer_.put(*number, reinterpret_cast<const std::byte*>(fields->data), stride, count);
  }
  // Foreign byte order and float16 are read through a plain copy; the rest is for NumPy to judge.
  const char kind = py::detail::array_descriptor_proxy(fields->descr)->kind;
  const bool half = kind == 'f' && py::detail::array_descriptor2_proxy(fields->descr)->elsize == 2;
  if (!half && !(is_swapped(fields->descr) && (kind == 'i' || kind == 'u' || kind == 'f')))
    throw NeedsNumpy{};
  const auto self = py::reinterpret_borrow<py::object>(array);
  const py::object native =
      half ? py::object(py::dtype::of<float>()) : self.attr("dtype").attr("newbyteorder")("=");
  const Kinds old_kinds = kinds_;
  array_row(py::object(self.attr("astype")(native)).ptr());
  if (half) kinds_ = old_kinds | kHalf;
}

}  // namespace varlen::bindings
