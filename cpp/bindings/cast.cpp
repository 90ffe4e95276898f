#include "cast.hpp"

#include <cstring>
#include <string>

#include "arrays.hpp"
#include "raise.hpp"
#include "rooms.hpp"

namespace varlen::bindings {

namespace {

py::module_ numpy() {
  return py::module_::import("numpy");
}

std::string text(py::handle object) {
  return py::str(object);
}

py::tuple tuple_of(const Extents& shape) {
  py::tuple made(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) made[i] = py::int_(shape[i]);
  return made;
}

/// A Python number as one element: what it is, and its bytes.
struct Number {
  Type type = Type::i64;
  std::byte bytes[8]{};

  template <class T>
  void hold(Type t, T value) {
    type = t;
    std::memcpy(bytes, &value, sizeof value);
  }
};

std::optional<Number> number_of(py::handle value) {
  Number number;
  if (PyBool_Check(value.ptr())) {
    number.hold(Type::b1, static_cast<std::uint8_t>(value.ptr() == Py_True));
    return number;
  }
  if (PyFloat_CheckExact(value.ptr())) {
    number.hold(Type::f64, PyFloat_AS_DOUBLE(value.ptr()));
    return number;
  }
  if (!PyLong_CheckExact(value.ptr())) return std::nullopt;
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0) {
    number.hold(Type::i64, static_cast<std::int64_t>(small));
    return number;
  }
  const unsigned long long large = PyLong_AsUnsignedLongLong(value.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return std::nullopt;
  }
  number.hold(Type::u64, static_cast<std::uint64_t>(large));
  return number;
}

[[noreturn]] void refuse(const char* argument, py::handle value, const py::dtype& dtype) {
  raise_value(std::string(argument) + ": " + text(py::repr(value)) + " does not fit " + text(dtype));
}

/// Elements through the kernel: checked, converted.
void convert_into(Type from, Type to, const std::byte* in, std::int64_t count, std::byte* out) {
  const Convert how = cast_of(from, to);
  if (how.run == nullptr) {
    std::memcpy(out, in, static_cast<std::size_t>(count * size_of(to)));
  } else {
    how.run(in, count, nullptr, out);
  }
}

}  // namespace

std::optional<Type> type_of(const py::dtype& dtype) {
  const char order = dtype.byteorder();
  if (order != '=' && order != '|') return std::nullopt;
  const auto size = dtype.itemsize();
  const int power = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  switch (dtype.kind()) {
    case 'b':
      return Type::b1;
    case 'i':
      return static_cast<Type>(static_cast<int>(Type::i8) + power);
    case 'u':
      return static_cast<Type>(static_cast<int>(Type::u8) + power);
    case 'f':
      if (size > 8) return std::nullopt;
      return size == 2 ? Type::f16 : size == 4 ? Type::f32 : Type::f64;
    case 'V':
      if (size == 2 && text(dtype) == "bfloat16") return Type::bf16;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

py::dtype dtype_of(py::handle given, const py::dtype& like) {
  if (given.is_none()) return like;
  return py::dtype::from_args(py::reinterpret_borrow<py::object>(given));
}

Fill fill_of(py::handle value, const py::dtype& dtype, const Extents& row, const char* argument) {
  Fill fill;
  if (value.is_none()) return fill;
  const std::optional<Type> to = type_of(dtype);
  const auto size = static_cast<std::size_t>(dtype.itemsize());
  if (const std::optional<Number> number = to ? number_of(value) : std::nullopt) {
    if (!cast_check(number->type, *to, false, number->bytes, 1).ok()) refuse(argument, value, dtype);
    fill.bytes.resize(size);
    convert_into(number->type, *to, number->bytes, 1, fill.bytes.data());
    return fill;
  }
  py::array given = numpy().attr("asarray")(value).cast<py::array>();
  const std::optional<Type> from = type_of(given.dtype());
  given = numpy().attr("ascontiguousarray")(given).attr("reshape")(given.attr("shape")).cast<py::array>();
  if (to && from) {
    const auto* in = static_cast<const std::byte*>(given.data());
    if (!cast_check(*from, *to, false, in, given.size()).ok()) refuse(argument, value, dtype);
    py::array made(dtype, Extents(given.shape(), given.shape() + given.ndim()));
    convert_into(*from, *to, in, given.size(), static_cast<std::byte*>(made.mutable_data()));
    given = made;
  } else if (!given.dtype().equal(dtype)) {
    if (!numpy().attr("can_cast")(given.dtype(), dtype, "same_kind").cast<bool>())
      refuse(argument, value, dtype);
    given = given.attr("astype")(dtype).cast<py::array>();
  }
  if (given.size() != 1) {
    try {
      given = numpy().attr("broadcast_to")(given, tuple_of(row)).attr("copy")().cast<py::array>();
    } catch (const py::error_already_set&) {
      const Extents has(given.shape(), given.shape() + given.ndim());
      raise_value(std::string(argument) + ": shape " + text_of(has) +
                  " does not broadcast to a row of shape " + text_of(row));
    }
  }
  fill.bytes.resize(static_cast<std::size_t>(given.nbytes()));
  if (!fill.bytes.empty()) std::memcpy(fill.bytes.data(), given.data(), fill.bytes.size());
  return fill;
}

py::array convertible(const py::array& values, const py::dtype& dtype, bool touches_nan) {
  const char order = values.dtype().byteorder();
  if (order == '=' || order == '|' || (!touches_nan && values.dtype().equal(dtype))) return values;
  return values.attr("astype")(values.dtype().attr("newbyteorder")("=")).cast<py::array>();
}

Convert convert_of(const py::array& values, const py::dtype& dtype, const Fill& nan, const char* argument) {
  const std::optional<Type> from = type_of(values.dtype());
  const bool replaces = nan.data() != nullptr && from && is_float(*from);
  if (!replaces && values.dtype().equal(dtype)) return {};
  const std::optional<Type> to = type_of(dtype);
  if (!from || !to) {
    raise_type(std::string(argument) + ": " + text(values.dtype()) + " does not become " + text(dtype));
  }
  const auto* in = static_cast<const std::byte*>(values.data());
  Status status;
  {
    const Unlocked unlocked(values.nbytes());
    status = cast_check(*from, *to, replaces, in, values.size());
  }
  if (!status.ok()) {
    const py::object bad = values.attr("reshape")(-1).attr("item")(status.where);
    const std::int64_t row = status.where / (values.size() / values.shape(0));
    raise_value(std::string(argument) + ": element " + std::to_string(status.where) + " (row " +
                std::to_string(row) + ") is " + text(bad) + ", which does not fit " + text(dtype));
  }
  return cast_of(*from, *to, replaces ? nan.data() : nullptr);
}

void bind_cast(py::module_& m) {
  m.def(
      "cast",
      [](py::handle given, py::handle dtype, py::handle nan) {
        py::array values = as_rows(given, "values");
        const py::dtype to = dtype_of(dtype, values.dtype());
        values = convertible(values, to, !nan.is_none());
        const Fill instead = fill_of(nan, to, {}, "nan");
        const Convert how = convert_of(values, to, instead, "values");
        py::array out = empty(to, Extents(values.shape(), values.shape() + values.ndim()));
        const std::int64_t count = how.run == nullptr ? values.nbytes() : values.size();
        auto* target = static_cast<std::byte*>(out.mutable_data());
        const auto* source = static_cast<const std::byte*>(values.data());
        {
          const Unlocked unlocked(out.nbytes() + values.nbytes());
          cast(how, source, count, target);
        }
        return out;
      },
      py::arg("values"), py::arg("dtype"), py::arg("nan") = py::none(),
      "A copy in another dtype. What does not fit is refused; `nan` takes the place of NaN.");
}

}  // namespace varlen::bindings
