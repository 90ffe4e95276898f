#include "dtypes.hpp"

#include <string>

#include "arrays.hpp"
#include "raise.hpp"

namespace varlen::bindings {

namespace {

/// Never given back: it may outlive the library that owns static objects.
PyObject* stand_in() {
  static PyObject* const dtype = [] {
    py::list fields;
    fields.append(py::make_tuple("bfloat16", "u2"));
    return py::dtype::from_args(fields).release().ptr();
  }();
  return dtype;
}

/// Whether a dtype of two bytes that NumPy itself does not have is bfloat16: the package ml_dtypes calls it
/// so, and there is the stand-in. The one that was found last is known by its address, for a name is as dear
/// as a small reduction.
bool is_bfloat16(const py::dtype& dtype) {
  static PyObject* cache = nullptr;
  if (dtype.ptr() == cache || dtype.ptr() == stand_in()) return true;
  if (str_of(dtype) != "bfloat16" && !dtype.equal(py::handle(stand_in()))) return false;
  Py_XSETREF(cache, py::object(dtype).release().ptr());
  return true;
}

}  // namespace

std::string str_of(py::handle object) {
  return object.ptr() == stand_in() ? "bfloat16" : py::str(object);
}

py::dtype bfloat16_stand_in() {
  return py::reinterpret_borrow<py::dtype>(stand_in());
}

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
      if (size == 1 || size > 8) return std::nullopt;
      return size == 2 ? Type::f16 : size == 4 ? Type::f32 : Type::f64;
    case 'V':
      if (size == 2 && is_bfloat16(dtype)) return Type::bf16;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

py::dtype dtype_named(py::handle input, const char* argument) {
  try {
    const bool names_nothing = PyDict_Check(input.ptr()) && PyDict_Size(input.ptr()) == 0;
    if (!names_nothing) return py::dtype::from_args(py::reinterpret_borrow<py::object>(input));
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_Exception) || error.matches(PyExc_MemoryError)) throw;
  }
  const py::object text = py::module_::import("reprlib").attr("repr")(input);
  raise_type(argument, "expected a NumPy dtype, got " + std::string(py::str(text)));
}

py::dtype dtype_of(py::handle input, const py::dtype& like) {
  return input.is_none() ? like : dtype_named(input, "dtype");
}

py::array convertible(const py::array& values, const py::dtype& dtype, bool touches_nan) {
  const char order = values.dtype().byteorder();
  if (order == '=' || order == '|' || (!touches_nan && values.dtype().equal(dtype))) return values;
  return values.attr("astype")(values.dtype().attr("newbyteorder")("=")).cast<py::array>();
}

namespace {

/// Refuses what cast_check found in `values`.
void refuse_unfit(Status status, const py::array& values, const py::dtype& dtype, const char* argument) {
  if (status.ok()) return;
  const py::object bad = values.attr("reshape")(-1).attr("item")(status.where);
  const std::int64_t row = status.where / (values.size() / values.shape(0));
  raise_value(argument, "element " + std::to_string(status.where) + " (row " + std::to_string(row) + ") is " +
                            str_of(bad) + ", which does not fit " + str_of(dtype));
}

}  // namespace

Convert convert_of(const py::array& values, const py::dtype& dtype, const Fill& nan, const char* argument,
                   std::atomic<bool>* loss) {
  const std::optional<Type> from = type_of(values.dtype());
  const bool replaces = nan.data() != nullptr && from && is_float(*from);
  if (!replaces && values.dtype().equal(dtype)) return {};
  const std::optional<Type> to = type_of(dtype);
  if (!from || !to) {
    raise_type(argument, str_of(values.dtype()) + " does not become " + str_of(dtype));
  }
  const std::byte* const instead = replaces ? nan.data() : nullptr;
  if (loss != nullptr && is_float(*to)) return checked_cast_of(*from, *to, instead, loss);
  const auto* source = data_of(values);
  Status status;
  {
    const GilRelease gil_release(values.nbytes());
    status = cast_check(*from, *to, replaces, source, values.size());
  }
  refuse_unfit(status, values, dtype, argument);
  return cast_of(*from, *to, instead);
}

void raise_if_lost(const std::atomic<bool>& loss, const py::array& values, const py::dtype& dtype,
                   const char* argument) {
  if (!loss.load(std::memory_order_relaxed)) return;
  const auto* source = data_of(values);
  const Status status = cast_check(*type_of(values.dtype()), *type_of(dtype), true, source, values.size());
  refuse_unfit(status, values, dtype, argument);
  // Another thread wrote there meanwhile.
  raise_value(argument, "holds a number that does not fit " + str_of(dtype));
}

}  // namespace varlen::bindings
