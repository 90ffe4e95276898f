// A value that fills: a number or a row of them, as bytes of the dtype that it is to have.
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "arrays.hpp"
#include "dtypes.hpp"
#include "fastcall.hpp"
#include "ndarray.hpp"
#include "raise.hpp"
#include "varlen/copy.hpp"

namespace varlen::bindings {

namespace {

constexpr int kFirstUserType = 256;  // NPY_USERDEF of NumPy's public header

py::module_ numpy() {
  return py::module_::import("numpy");
}

py::tuple tuple_of(const Extents& shape) {
  py::tuple result(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) result[i] = py::int_(shape[i]);
  return result;
}

/// A Python number as one element: what it is, and its bytes.
struct PythonNumber {
  Type type = Type::i64;
  std::byte bytes[8]{};

  template <class T>
  void hold(Type t, T value) {
    type = t;
    std::memcpy(bytes, &value, sizeof value);
  }
};

std::optional<PythonNumber> python_number(py::handle value) {
  PythonNumber number;
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

bool is_text(char kind) {
  return kind == 'S' || kind == 'U';
}

bool is_time(char kind) {
  return kind == 'm' || kind == 'M';
}

std::string name_of(const py::dtype& dtype) {
  const bool is_stand_in = dtype.kind() == 'V' && dtype.equal(bfloat16_stand_in());
  return is_stand_in ? "bfloat16" : str_of(dtype);
}

[[noreturn]] void refuse(const char* argument, py::handle value, const py::dtype& dtype) {
  raise_value(argument, str_of(py::repr(value)) + " does not fit " + name_of(dtype));
}

/// Dates and spans of Python, and texts that say them, in the unit that they need; NumPy's own as they are.
py::array times_of(const py::array& source, py::handle value, const py::dtype& dtype, const char* argument) {
  const char kind = source.dtype().kind();
  const bool is_date = dtype.kind() == 'M';
  // NumPy makes spans of bools, and of numbers that wrap.
  const bool is_wide = kind == 'u' && numpy().attr("greater")(source, INT64_MAX).attr("any")().cast<bool>();
  if (kind == 'b' || is_wide) refuse(argument, value, dtype);
  if (kind != 'O' && !is_text(kind)) return source;
  const py::object items = source.attr("ravel")().attr("tolist")();
  for (const py::handle item : items) {
    // A number among dates would count other units than theirs.
    const bool is_word = py::isinstance<py::str>(item);
    const bool is_missing = is_word && str_of(item) == "NaT";
    const bool has_zone = py::hasattr(item, "tzinfo") && !item.attr("tzinfo").is_none();
    const char* const method = is_date ? "toordinal" : "total_seconds";
    if (has_zone) {
      raise_value(argument,
                  str_of(py::repr(value)) + " has a time zone, which " + str_of(dtype) + " does not hold");
    }
    if (!is_missing && !(is_word && is_date) && !py::hasattr(item, method)) refuse(argument, value, dtype);
  }
  try {
    return source.attr("astype")(std::string(1, dtype.kind())).cast<py::array>();
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_TypeError)) throw;
    refuse(argument, value, dtype);
  }
}

/// A value as NumPy reads it, which is to fill. A gradient would be lost.
py::array value_of(py::handle value, const py::dtype& dtype, const char* argument) {
  if (py::isinstance<py::array>(value)) refuse_masked(value.ptr(), argument);
  refuse_gradient(value, argument);
  py::array source = array_of(value, argument);
  if (is_time(dtype.kind())) source = times_of(source, value, dtype, argument);
  return numpy().attr("ascontiguousarray")(source).attr("reshape")(source.attr("shape")).cast<py::array>();
}

/// Elements through the kernel: checked, converted.
void convert_into(Type from, Type to, const std::byte* input, std::int64_t count, std::byte* out) {
  const Convert how = cast_of(from, to);
  if (how.run == nullptr) {
    copy_exact(out, input, count * size_of(to));
  } else {
    how.run(input, count, nullptr, out);
  }
}

/// Whether text, bytes, dates and spans of time are what they were when they are turned back.
bool is_kept(const py::array& source, const py::array& result) {
  const std::string kind(1, result.dtype().kind());
  if (kind == "f" || kind == "c") {  // finite numbers stay finite
    return numpy()
        .attr("isfinite")(source)
        .attr("__le__")(numpy().attr("isfinite")(result))
        .attr("all")()
        .cast<bool>();
  }
  if (std::string("SUMm").find(kind) == std::string::npos) return true;
  if (is_text(kind[0])) {
    return source.attr("astype")(kind).attr("__eq__")(result).attr("all")().cast<bool>();
  }
  const py::object round_trip = result.attr("astype")(source.dtype());
  const py::object equality = round_trip.attr("__eq__")(source);
  const py::object no_time = source.attr("__ne__")(source);
  return equality.attr("__or__")(no_time).attr("all")().cast<bool>();
}

/// A value as NumPy takes it for a dtype of times: integers count its unit, and NaN and NaT are NaT.
py::array as_times(const py::array& source, const py::dtype& dtype) {
  const char kind = source.dtype().kind();
  const py::dtype native = dtype.attr("newbyteorder")("=").cast<py::dtype>();
  if (kind == 'i' || kind == 'u') {
    const bool fits =
        cast_check(*type_of(source.dtype()), Type::i64, false, data_of(source), source.size()).ok();
    return fits ? source.attr("astype")("int64").attr("view")(native).cast<py::array>() : source;
  }
  const bool may_miss = kind == 'f' || kind == 'm' || kind == 'M';
  if (!may_miss || kind == dtype.kind() || !source.attr("__ne__")(source).attr("all")().cast<bool>()) {
    return source;
  }
  return numpy().attr("full")(source.attr("shape"), "NaT", native).cast<py::array>();
}

/// 0, which every dtype has: the value of zero bytes.
bool is_nothing(py::handle value) {
  if (PyLong_CheckExact(value.ptr())) return PyObject_IsTrue(value.ptr()) == 0;
  return PyFloat_CheckExact(value.ptr()) && PyFloat_AS_DOUBLE(value.ptr()) == 0 &&
         !std::signbit(PyFloat_AS_DOUBLE(value.ptr()));
}

/// The fill again and again, over the whole array; zero bytes where there is none.
void repeat(const Fill& fill, py::array& array) {
  std::byte* const out = bytes(array);
  if (fill.bytes.empty()) std::memset(out, 0, static_cast<std::size_t>(array.nbytes()));
  const std::int64_t step = std::max<std::int64_t>(fill.period(), 1);
  for (std::int64_t offset = 0; offset < array.nbytes() && !fill.bytes.empty(); offset += step) {
    std::memcpy(out + offset, fill.data(), fill.bytes.size());
  }
}

}  // namespace

Fill fill_of(py::handle value, const py::dtype& dtype, const Extents& row, const char* argument) {
  Fill fill;
  if (value.is_none()) return fill;
  const std::optional<Type> to = type_of(dtype);
  const py::dtype native = dtype.attr("newbyteorder")("=").cast<py::dtype>();
  if (!to && type_of(native)) {  // the other byte order: checked in the native one, then swapped
    fill = fill_of(value, native, row, argument);
    const py::bytes buffer(reinterpret_cast<const char*>(fill.bytes.data()), fill.bytes.size());
    const py::array native_array =
        numpy().attr("frombuffer")(buffer, native).attr("byteswap")().cast<py::array>();
    if (!fill.bytes.empty()) std::memcpy(fill.bytes.data(), native_array.data(), fill.bytes.size());
    return fill;
  }
  const auto size = static_cast<std::size_t>(dtype.itemsize());
  if (const std::optional<PythonNumber> number = to ? python_number(value) : std::nullopt) {
    if (!cast_check(number->type, *to, false, number->bytes, 1).ok()) refuse(argument, value, dtype);
    fill.bytes.resize(size);
    convert_into(number->type, *to, number->bytes, 1, fill.bytes.data());
    return fill;
  }
  if (!to && is_nothing(value)) {
    fill.bytes.resize(size);
    return fill;
  }
  py::array source = value_of(value, dtype, argument);
  const std::optional<Type> from = type_of(source.dtype());
  if (to && from) {
    const auto* input = data_of(source);
    if (!cast_check(*from, *to, false, input, source.size()).ok()) refuse(argument, value, dtype);
    py::array result = empty(dtype.ptr(), static_cast<int>(source.ndim()), source.shape());
    convert_into(*from, *to, input, source.size(), static_cast<std::byte*>(result.mutable_data()));
    source = std::move(result);
  } else if (!source.dtype().equal(dtype)) {
    if (is_time(dtype.kind())) source = as_times(source, dtype);
    // To NumPy the stand-in for bfloat16 is a structure, whose field a number would become.
    if (to == Type::bf16 && dtype.equal(bfloat16_stand_in())) refuse(argument, value, dtype);
    // Text takes text alone, in either of its dtypes; NumPy would write numbers out.
    const bool may_fit = is_text(dtype.kind())
                             ? is_text(source.dtype().kind())
                             : numpy().attr("can_cast")(source.dtype(), dtype, "same_kind").cast<bool>();
    if (!may_fit) refuse(argument, value, dtype);
    bool is_exact = false;
    py::array result;
    try {
      const py::object silent = numpy().attr("errstate")(py::arg("over") = "ignore");
      silent.attr("__enter__")();
      try {
        result = source.attr("astype")(dtype).cast<py::array>();
      } catch (...) {
        silent.attr("__exit__")(py::none(), py::none(), py::none());
        throw;
      }
      silent.attr("__exit__")(py::none(), py::none(), py::none());
      is_exact = is_kept(source, result);
    } catch (py::error_already_set& error) {
      // Text of other letters, numbers that are cut short, dates beyond the unit.
      if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_OverflowError)) throw;
    }
    if (!is_exact) refuse(argument, value, dtype);
    source = std::move(result);
  }
  if (source.size() != 1) {
    try {
      source = numpy().attr("broadcast_to")(source, tuple_of(row)).attr("copy")().cast<py::array>();
    } catch (const py::error_already_set&) {
      const Extents has = shape_of(source);
      if (row.empty()) {
        raise_value(argument, "expected one number, got shape " + text_of(has));
      }
      raise_value(argument,
                  "shape " + text_of(has) + " does not broadcast to a row of shape " + text_of(row));
    }
  }
  fill.bytes.resize(static_cast<std::size_t>(source.nbytes()));
  if (!fill.bytes.empty()) std::memcpy(fill.bytes.data(), source.data(), fill.bytes.size());
  return fill;
}

Fill missing_of(const py::dtype& dtype) {
  const char kind = dtype.kind();
  // Dtypes that other packages registered are of kind V: those among them that hold NaN are floats.
  const bool is_user_type = kind == 'V' && dtype.num() >= kFirstUserType;
  const py::float_ nan(std::numeric_limits<double>::quiet_NaN());
  if (kind == 'f' || kind == 'c' || type_of(dtype) == Type::bf16) return fill_of(nan, dtype, {}, "fill_mode");
  if (kind != 'm' && kind != 'M' && !is_user_type) return {};
  const py::object value = is_user_type ? py::object(nan) : py::str("NaT");
  const py::array element = numpy().attr("full")(py::tuple(), value, dtype).cast<py::array>();
  if (!element.attr("__ne__")(element).cast<bool>()) return {};
  const auto* const data = data_of(element);
  return {{data, data + element.itemsize()}};
}

py::array fill_row(py::handle value, const py::dtype& dtype, const Extents& row, const char* argument) {
  const Fill fill = fill_of(value, dtype, row, argument);
  Extents shape{1};
  shape.append(row.begin(), row.end());
  py::array out = empty(dtype, shape);
  repeat(fill, out);
  return out;
}

std::optional<py::array> missing_row(const py::array& like) {
  const Fill element = missing_of(like.dtype());
  if (element.bytes.empty()) return std::nullopt;
  py::array row = rows_like(like, 1);
  repeat(element, row);
  return row;
}

}  // namespace varlen::bindings
