// The leaves of nested lists: exact ints, floats and bools read straight from their objects.
// Subclasses and everything else are for the caller's slow path. No Python code runs here.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

namespace varlen::bindings {

/// The value of an exact int of at most two digits (60 bits); false for longer ones.
inline bool short_int(PyObject* object, std::int64_t& value) noexcept {
#if PY_VERSION_HEX >= 0x030E0000
  if (!PyUnstable_Long_IsCompact(reinterpret_cast<PyLongObject*>(object))) return false;
  value = PyUnstable_Long_CompactValue(reinterpret_cast<PyLongObject*>(object));
  return true;
#else
  const auto* number = reinterpret_cast<PyLongObject*>(object);
#if PY_VERSION_HEX >= 0x030C0000
  const std::uintptr_t tag = number->long_value.lv_tag;
  const std::int64_t sign = 1 - static_cast<std::int64_t>(tag & 3);
  const std::uintptr_t digits = tag >> 3;
  const digit* digit_of = number->long_value.ob_digit;
#else
  const Py_ssize_t size = Py_SIZE(object);
  const std::int64_t sign = size < 0 ? -1 : 1;
  const Py_ssize_t digits = size < 0 ? -size : size;
  const digit* digit_of = number->ob_digit;
#endif
  if (digits <= 1) {
    value = digits == 0 ? 0 : sign * static_cast<std::int64_t>(digit_of[0]);
    return true;
  }
  if (digits > 2) return false;
  value = sign *
          (static_cast<std::int64_t>(digit_of[1]) << PyLong_SHIFT | static_cast<std::int64_t>(digit_of[0]));
  return true;
#endif
}

// Each of these takes leaves from the front until one is not of its kind, and says how many it took.

inline Py_ssize_t take_bools(PyObject* const* items, Py_ssize_t count, std::uint8_t* out) noexcept {
  Py_ssize_t i = 0;
  for (; i < count; ++i) {
    if (items[i] != Py_True && items[i] != Py_False) break;
    out[i] = items[i] == Py_True;
  }
  return i;
}

inline Py_ssize_t take_ints(PyObject* const* items, Py_ssize_t count, std::int64_t* out) noexcept {
  Py_ssize_t i = 0;
  for (; i < count; ++i) {
    if (Py_TYPE(items[i]) != &PyLong_Type || !short_int(items[i], out[i])) break;
  }
  return i;
}

/// Ints up to 2**digits are taken too, which floats of so many digits hold exactly; `ints` counts them.
inline Py_ssize_t take_floats(PyObject* const* items, Py_ssize_t count, int digits, double* out,
                              Py_ssize_t& ints) noexcept {
  const std::int64_t exact = std::int64_t{1} << digits;
  Py_ssize_t i = 0;
  for (; i < count; ++i) {
    if (Py_TYPE(items[i]) == &PyFloat_Type) {
      out[i] = PyFloat_AS_DOUBLE(items[i]);
      continue;
    }
    std::int64_t value = 0;
    if (Py_TYPE(items[i]) != &PyLong_Type || !short_int(items[i], value)) break;
    if (value > exact || value < -exact) break;
    out[i] = static_cast<double>(value);
    ++ints;
  }
  return i;
}

/// The items of a list or tuple (or a subclass), borrowed.
struct Items {
  PyObject* const* data = nullptr;
  Py_ssize_t size = 0;
};

inline bool is_list(PyObject* object) noexcept {
  return PyList_CheckExact(object) || PyList_Check(object) || PyTuple_Check(object);
}

inline Items items_of(PyObject* list) noexcept {
  return {PySequence_Fast_ITEMS(list), PySequence_Fast_GET_SIZE(list)};
}

}  // namespace varlen::bindings
