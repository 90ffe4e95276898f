#include "ndarray.hpp"

#include "raise.hpp"

namespace varlen::bindings {

namespace {

// NPY_ITEM_REFCOUNT of NumPy's public header.
constexpr std::uint64_t kRefcountFlag = 0x01;

}  // namespace

py::array make_array(PyObject* descr, int nd, const Py_intptr_t* shape, const Py_intptr_t* strides,
                     void* data, PyObject* base) {
  const Api& api = Api::get();
  Py_INCREF(descr);  // NewFromDescr takes one
  const int flags = data == nullptr ? 0 : Api::NPY_ARRAY_WRITEABLE_;
  auto out = py::reinterpret_steal<py::array>(
      api.PyArray_NewFromDescr_(api.PyArray_Type_, descr, nd, shape, strides, data, flags, nullptr));
  if (!out) throw py::error_already_set();
  if (base != nullptr) {
    Py_INCREF(base);
    py::detail::array_proxy(out.ptr())->base = base;
  }
  return out;
}

std::optional<Number> number_of(PyObject* descr) noexcept {
  const auto* fields = py::detail::array_descriptor_proxy(descr);
  if (fields->byteorder != '=' && fields->byteorder != '|') return {};
  const int type = fields->type_num;
  if (type == Api::NPY_BOOL_) return Number::boolean;
  if (type == Api::NPY_FLOAT_) return Number::f32;
  if (type == Api::NPY_DOUBLE_) return Number::f64;
  switch (type) {
    case Api::NPY_BYTE_:
      return Number::i8;
    case Api::NPY_UBYTE_:
      return Number::u8;
    case Api::NPY_SHORT_:
      return Number::i16;
    case Api::NPY_USHORT_:
      return Number::u16;
    case Api::NPY_INT_:
      return Number::i32;
    case Api::NPY_UINT_:
      return Number::u32;
    case Api::NPY_LONG_:
      return sizeof(long) == 8 ? Number::i64 : Number::i32;
    case Api::NPY_ULONG_:
      return sizeof(long) == 8 ? Number::u64 : Number::u32;
    case Api::NPY_LONGLONG_:
      return Number::i64;
    case Api::NPY_ULONGLONG_:
      return Number::u64;
    default:
      return {};
  }
}

py::dtype dtype_of(Number number) {
  constexpr int types[] = {Api::NPY_BOOL_,   Api::NPY_UINT8_, Api::NPY_UINT16_, Api::NPY_UINT32_,
                           Api::NPY_UINT64_, Api::NPY_INT8_,  Api::NPY_INT16_,  Api::NPY_INT32_,
                           Api::NPY_INT64_,  Api::NPY_FLOAT_, Api::NPY_DOUBLE_};
  return py::reinterpret_steal<py::dtype>(Api::get().PyArray_DescrFromType_(types[static_cast<int>(number)]));
}

bool holds_objects(PyObject* descr) noexcept {
  return (py::detail::array_descriptor2_proxy(descr)->flags & kRefcountFlag) != 0;
}

void refuse_objects(PyObject* descr, const std::string& argument) {
  if (!holds_objects(descr)) return;
  raise_type(argument, std::string(py::str(py::handle(descr))) +
                           " holds Python objects, which cannot be moved as bytes");
}

bool is_plain(PyObject* array) {
  if (Py_TYPE(array) == Api::get().PyArray_Type_) return true;
  static PyObject* const masked_type = py::object(numpy("ma").attr("MaskedArray")).release().ptr();
  return PyObject_IsInstance(array, masked_type) != 1;
}

void refuse_masked(PyObject* array, std::string_view argument) {
  if (!is_plain(array))
    raise_type(argument,
               "expected an array without a mask, got a masked array; call filled() or compressed() first");
}

py::object numpy(const char* name) {
  return py::module_::import("numpy").attr(name);
}

}  // namespace varlen::bindings
