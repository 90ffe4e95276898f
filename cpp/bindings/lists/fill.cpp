#include "fill.hpp"

#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

/// Asks for a row that comes later: its list, then where its items stand, then these. Objects lie
/// anywhere, and the walk waits for each of the three.
void ask_ahead(const Items& rows, Py_ssize_t i) noexcept {
  constexpr Py_ssize_t kStep = 8;
  constexpr Py_ssize_t kMaxLength = 8;
  if (i + 3 * kStep >= rows.size) return;
  ask_for(rows.data[i + 3 * kStep]);
  PyObject* const middle = rows.data[i + 2 * kStep];
  if (PyList_CheckExact(middle)) ask_for(PySequence_Fast_ITEMS(middle));
  PyObject* const next = rows.data[i + kStep];
  if (!PyList_CheckExact(next) || PyList_GET_SIZE(next) > kMaxLength)
    return;  // long ones are waited for once
  PyObject* const* const items = PySequence_Fast_ITEMS(next);
  for (Py_ssize_t k = 0; k < PyList_GET_SIZE(next); ++k) ask_for(items[k]);
}

}  // namespace

Walker::Walker(const Shape& shape, Want want, const char* name)
    : shape_(shape), want_(want), name_(name), writer_(shape.total, want) {}

py::array Walker::run(PyObject* root, bool floats) {
  root_ = root;
  if (floats) {
    writer_.begin(Number::f64);
  } else {
    begin(root);
  }
  if (is_list(root)) {
    walk(root, shape_.depth());
  } else {
    array_row(root);
  }
  return writer_.finish();
}

// A guess from the first leaf; a wrong one costs a conversion of what was filled so far.
void Walker::begin(PyObject* root) {
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
    writer_.begin(Number::f64);  // as NumPy takes an empty list
  } else {
    writer_.begin(PyLong_Check(first) && !PyBool_Check(first) ? Number::i64 : Number::boolean);
  }
}

void Walker::walk(PyObject* node, int steps) {
  const Items items = items_of(node);
  if (steps == 0) return row(node);
  for (Py_ssize_t i = 0; i < items.size; ++i) {
    PyObject* child = items.data[i];
    if (steps == 1) ask_ahead(items, i);
    if (!is_list(child)) {
      array_row(child);
    } else if (steps == 1) {
      row(child);
    } else {
      walk(child, steps - 1);
    }
  }
}

void Walker::row(PyObject* list) {
  Items items = items_of(list);
  while (items.size > 0) {
    const Py_ssize_t room = writer_.room(items.size);
    Py_ssize_t count = 0;
    Py_ssize_t ints = 0;
    switch (writer_.carrier()) {
      case Number::boolean:
        count = take_bools(items.data, room, writer_.tail<std::uint8_t>());
        if (count > 0) kinds_ |= kind_bit(Number::boolean);
        break;
      case Number::i64:
        count = take_ints(items.data, room, writer_.tail<std::int64_t>());
        if (count > 0) kinds_ |= kind_bit(Number::i64);
        break;
      case Number::f64:
        count = take_floats(items.data, room, want_.narrow ? 24 : 53, writer_.tail<double>(), ints);
        if (ints > 0) kinds_ |= kind_bit(Number::i64);
        if (ints < count) kinds_ |= kind_bit(Number::f64);
        break;
      default:
        break;
    }
    writer_.take(count);
    if (count < room) {
      leaf(items.data[count]);
      ++count;
    }
    items.data += count;
    items.size -= count;
  }
}

void Walker::put_float(double value) {
  writer_.become(Number::f64);
  writer_.put_one(value);
}

void Walker::leaf(PyObject* object) {
  if (PyBool_Check(object)) {
    const std::uint8_t value = object == Py_True;
    kinds_ |= kind_bit(Number::boolean);
    writer_.put(Number::boolean, reinterpret_cast<const std::byte*>(&value), 1, 1);
  } else if (PyLong_Check(object)) {
    put_integer(object);
  } else if (PyFloat_Check(object)) {
    kinds_ |= kind_bit(Number::f64);
    put_float(PyFloat_AS_DOUBLE(object));
  } else {
    scalar(object);
  }
}

}  // namespace varlen::bindings
