#include "lists_fill.hpp"

#include <array>
#include <cmath>

#include "raise.hpp"

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

PyTypeObject* half_type() {
  static PyObject* const type = numpy("float16").release().ptr();
  return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace

Fill::Fill(const Shape& shape, Want want, const char* name)
    : shape_(shape), want_(want), name_(name), sink_(shape.total, want) {}

py::array Fill::run(PyObject* root, bool floats) {
  if (floats) {
    sink_.begin(Number::f64);
  } else {
    begin(root);
  }
  if (is_list(root)) {
    walk(root, shape_.depth());
  } else {
    array_row(root);
  }
  return sink_.finish();
}

// A guess from the first leaf; a wrong one costs a conversion of what was filled so far.
void Fill::begin(PyObject* root) {
  PyObject* first = root;
  while (is_list(first)) {
    const Items items = items_of(first);
    PyObject* next = nullptr;
    for (Py_ssize_t i = 0; i < items.size && next == nullptr; ++i) {
      if (!is_list(items.data[i]) || items_of(items.data[i]).size > 0) next = items.data[i];
    }
    if (next == nullptr) break;
    first = next;
  }
  if (shape_.total == 0 || PyFloat_Check(first)) {
    sink_.begin(Number::f64);  // as NumPy takes an empty list
  } else {
    sink_.begin(PyLong_Check(first) && !PyBool_Check(first) ? Number::i64 : Number::boolean);
  }
}

void Fill::walk(PyObject* node, int steps) {
  const Items items = items_of(node);
  if (steps == 0) return row(node);
  for (Py_ssize_t i = 0; i < items.size; ++i) {
    PyObject* child = items.data[i];
    if (!is_list(child)) {
      array_row(child);
    } else if (steps == 1) {
      row(child);
    } else {
      walk(child, steps - 1);
    }
  }
}

void Fill::row(PyObject* list) {
  Items items = items_of(list);
  while (items.size > 0) {
    const Py_ssize_t room = sink_.room(items.size);
    Py_ssize_t taken = 0;
    Py_ssize_t ints = 0;
    switch (sink_.carrier()) {
      case Number::boolean:
        taken = take_bools(items.data, room, sink_.tail<std::uint8_t>());
        if (taken > 0) seen_ |= kind_bit(Number::boolean);
        break;
      case Number::i64:
        taken = take_ints(items.data, room, sink_.tail<std::int64_t>());
        if (taken > 0) seen_ |= kind_bit(Number::i64);
        break;
      case Number::f64:
        taken = take_floats(items.data, room, sink_.tail<double>(), ints);
        if (ints > 0) seen_ |= kind_bit(Number::i64);
        if (ints < taken) seen_ |= kind_bit(Number::f64);
        break;
      default:
        break;
    }
    sink_.take(taken);
    if (taken < room) {
      leaf(items.data[taken]);
      ++taken;
    }
    items.data += taken;
    items.size -= taken;
  }
}

void Fill::put_float(double value) {
  sink_.become(Number::f64);
  sink_.put_one(value);
}

void Fill::leaf(PyObject* object) {
  if (PyBool_Check(object)) {
    const std::uint8_t value = object == Py_True;
    seen_ |= kind_bit(Number::boolean);
    sink_.put(Number::boolean, reinterpret_cast<const std::byte*>(&value), 1, 1);
  } else if (PyLong_Check(object)) {
    whole(object);
  } else if (PyFloat_Check(object)) {
    seen_ |= kind_bit(Number::f64);
    put_float(PyFloat_AS_DOUBLE(object));
  } else {
    scalar(object);
  }
}

void Fill::whole(PyObject* integer) {
  int overflow = 0;
  const std::int64_t value = PyLong_AsLongLongAndOverflow(integer, &overflow);
  seen_ |= kind_bit(Number::i64);
  if (overflow == 0) {
    sink_.put(Number::i64, reinterpret_cast<const std::byte*>(&value), 8, 1);
    return;
  }
  const std::uint64_t large = PyLong_AsUnsignedLongLong(integer);
  if (!PyErr_Occurred()) {
    sink_.put(Number::u64, reinterpret_cast<const std::byte*>(&large), 8, 1);
    return;
  }
  PyErr_Clear();
  // Beyond 64 bits: only floating point may hold it, and only beside other floats (see from_lists).
  if (want_.number ? *want_.number < Number::f32 : sink_.carrier() != Number::f64) {
    throw Misfit{sink_.position(), want_.number ? Misfit::Why::target : Misfit::Why::signs};
  }
  const double rounded = PyLong_AsDouble(integer);
  if (rounded == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    throw Misfit{sink_.position(), want_.narrow ? Misfit::Why::float32 : Misfit::Why::target};
  }
  put_float(rounded);
}

void Fill::scalar(PyObject* object) {
  const Api& api = Api::get();
  for (const ScalarType& known : scalar_types()) {
    if (Py_TYPE(object) != known.type) continue;
    std::byte value[8];
    api.PyArray_ScalarAsCtype_(object, value);
    seen_ |= kind_bit(known.number);
    return sink_.put(known.number, value, 8, 1);
  }
  if (Py_TYPE(object) == half_type()) {
    seen_ |= kHalf;
    return put_float(PyFloat_AsDouble(object));
  }
  if (is_array(object, api) && fields_of(object)->nd == 0 && !holds_objects(fields_of(object)->descr)) {
    return array_row(object);
  }
  if (never_a_number(object)) raise_type(path() + ": expected a number, got " + type_name(object));
  if (is_list(object) || is_array(object, api)) {
    raise_value(path() + ": expected a number, got " + type_name(object) + ": nested deeper than the rest");
  }
  if (is_number(object)) throw NeedsNumpy{};
  throw NeedsPython{};
}

void Fill::array_row(PyObject* array) {
  const auto* fields = fields_of(array);
  const std::int64_t count = fields->nd == 0 ? 1 : fields->dimensions[0];
  if (fields->nd > 1) {
    raise_value(path() + ": an array of " + std::to_string(fields->nd) +
                " dimensions among lists of numbers");
  }
  if (const auto number = number_of(fields->descr)) {
    seen_ |= kind_bit(*number);
    const std::int64_t stride = fields->nd == 0 ? 0 : fields->strides[0];
    return sink_.put(*number, reinterpret_cast<const std::byte*>(fields->data), stride, count);
  }
  // Foreign byte order and float16 are read through a plain copy; the rest is for NumPy to judge.
  const char kind = py::detail::array_descriptor_proxy(fields->descr)->kind;
  const bool half = kind == 'f' && py::detail::array_descriptor2_proxy(fields->descr)->elsize == 2;
  if (!half && !(is_swapped(fields->descr) && (kind == 'i' || kind == 'u' || kind == 'f')))
    throw NeedsNumpy{};
  const auto self = py::reinterpret_borrow<py::object>(array);
  const py::object native =
      half ? py::object(py::dtype::of<float>()) : self.attr("dtype").attr("newbyteorder")("=");
  const Kinds before = seen_;
  array_row(py::object(self.attr("astype")(native)).ptr());
  if (half) seen_ = before | kHalf;
}

}  // namespace varlen::bindings
