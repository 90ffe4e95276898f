#include "tensor.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dlpack.hpp"
#include "rooms.hpp"
#include "support/device.hpp"
#include "support/dtypes.hpp"
#include "support/hooks.hpp"
#include "support/keep.hpp"
#include "support/ndarray.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

constexpr int kMostAxes = 32;
constexpr std::size_t kMostTypes = 4;
constexpr int kHalf = 23;  // NPY_HALF of NumPy's public header

/// The library of tensors that was made known; what it holds lives for ever.
struct Library {
  std::array<PyTypeObject*, kMostTypes> types{};
  const DlExchange* exchange = nullptr;  ///< none where the library is older than it
};

Library& library() noexcept {
  static Library instance;
  return instance;
}

struct Pair {
  std::uint8_t code;
  std::uint8_t bits;
  int type;
};
constexpr Pair kPairs[] = {
    {kDlFloat, 32, Api::NPY_FLOAT_},    {kDlFloat, 64, Api::NPY_DOUBLE_},     {kDlFloat, 16, kHalf},
    {kDlInt, 64, Api::NPY_INT64_},      {kDlInt, 32, Api::NPY_INT32_},        {kDlInt, 16, Api::NPY_INT16_},
    {kDlInt, 8, Api::NPY_INT8_},        {kDlBool, 8, Api::NPY_BOOL_},         {kDlUint, 8, Api::NPY_UINT8_},
    {kDlUint, 16, Api::NPY_UINT16_},    {kDlUint, 32, Api::NPY_UINT32_},      {kDlUint, 64, Api::NPY_UINT64_},
    {kDlComplex, 64, Api::NPY_CFLOAT_}, {kDlComplex, 128, Api::NPY_CDOUBLE_},
};

/// NumPy's number of a type; none where it has no such type.
std::optional<int> number_type(DlType type) noexcept {
  for (const Pair& pair : kPairs) {
    if (pair.code == type.code && pair.bits == type.bits && type.lanes == 1) return pair.type;
  }
  return {};
}

/// The dtype of NumPy for a type, the stand-in for bfloat16; null where there is none.
py::object descr_of(DlType type) {
  if (type.code == kDlBfloat && type.bits == 16 && type.lanes == 1) return bfloat16_stand_in();
  const std::optional<int> number = number_type(type);
  if (!number) return {};
  return py::reinterpret_steal<py::object>(Api::get().PyArray_DescrFromType_(*number));
}

std::optional<DlType> dl_type(const py::dtype& dtype) {
  const auto* descr = py::detail::array_descriptor_proxy(dtype.ptr());
  if (descr->byteorder != '=' && descr->byteorder != '|') return {};
  const auto bits = static_cast<std::uint8_t>(std::min<py::ssize_t>(dtype.itemsize() * 8, 255));
  const auto type_for = [&](std::uint8_t code) -> std::optional<DlType> {
    const DlType type{code, bits, 1};
    return number_type(type) ? std::optional(type) : std::nullopt;
  };
  switch (descr->kind) {
    case 'b':
      return type_for(kDlBool);
    case 'i':
      return type_for(kDlInt);
    case 'u':
      return type_for(kDlUint);
    case 'f':
      return type_for(kDlFloat);
    case 'c':
      return type_for(kDlComplex);
    case 'V':
      if (type_of(dtype) == Type::bf16) return DlType{kDlBfloat, 16, 1};
      return {};
    default:
      return {};
  }
}

bool says_yes(PyObject* tensor, PyObject* method) {
  const auto answer = py::reinterpret_steal<py::object>(PyObject_CallMethodNoArgs(tensor, method));
  if (!answer) throw py::error_already_set();
  return answer.ptr() == Py_True;
}

/// Whether the negative or the conjugate bit is set: the numbers are not those in memory then.
bool has_bit(PyObject* tensor, DlType type) {
  if (type.code != kDlFloat && type.code != kDlBfloat && type.code != kDlComplex) return false;
  static PyObject* const is_neg = PyUnicode_InternFromString("is_neg");
  static PyObject* const is_conj = PyUnicode_InternFromString("is_conj");
  return says_yes(tensor, is_neg) || (type.code == kDlComplex && says_yes(tensor, is_conj));
}

bool is_of_whole_bytes(PyObject* tensor, DlType type) {
  if (type.bits != 8 || (type.code != kDlInt && type.code != kDlUint)) return true;
  static PyObject* const name = PyUnicode_InternFromString("dtype");
  const auto dtype = py::reinterpret_steal<py::object>(PyObject_GetAttr(tensor, name));
  if (!dtype) throw py::error_already_set();
  const py::tuple bytes = py::reinterpret_borrow<py::tuple>(hooks().byte_dtypes.get());
  return dtype.is(bytes[0]) || dtype.is(bytes[1]);
}

py::object array_by_exchange(const DlExchange& exchange, PyObject* tensor) {
  DlTensor dl_tensor{};
  if (exchange.view(tensor, &dl_tensor) != 0) {
    PyErr_Clear();
    return {};
  }
  const py::object descr = descr_of(dl_tensor.dtype);
  if (dl_tensor.device.type != kDlCpu || !descr || dl_tensor.ndim > kMostAxes) return {};
  if (has_bit(tensor, dl_tensor.dtype) || !is_of_whole_bytes(tensor, dl_tensor.dtype)) return {};
  const std::int64_t item = dl_tensor.dtype.bits / 8;
  std::array<Py_intptr_t, kMostAxes> shape;
  std::array<Py_intptr_t, kMostAxes> strides;
  std::int64_t count = 1;
  for (int axis = 0; axis < dl_tensor.ndim; ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    shape[k] = static_cast<Py_intptr_t>(dl_tensor.shape[axis]);
    strides[k] = static_cast<Py_intptr_t>(dl_tensor.strides[axis] * item);
    count *= dl_tensor.shape[axis];
  }
  if (count != 0 && dl_tensor.data == nullptr) return {};
  static std::byte nowhere;  // NumPy takes no null, and reads nothing there
  std::byte* const data =
      dl_tensor.data != nullptr ? static_cast<std::byte*>(dl_tensor.data) + dl_tensor.byte_offset : &nowhere;
  return make_array(descr.ptr(), dl_tensor.ndim, shape.data(), strides.data(), data, tensor);
}

py::object array_by_method(PyObject* tensor) {
  const py::handle self(tensor);
  try {
    return self.attr("detach")().attr("numpy")();
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_RuntimeError) && !error.matches(PyExc_TypeError)) throw;
    return {};
  }
}

/// The stream that the library works on now, of a device that kernels are known for.
std::optional<Place> current_place(const DlExchange& exchange, DlDevice device,
                                   const DeviceLibrary& library) {
  if (device.type == kDlCpu && kernels_on_host() != nullptr) {
    return Place{kernels_on_host(), {device.index, nullptr}, &library};
  }
  if (device.type != kDlCuda || kernels_of_devices() == nullptr) return {};
  Place place{kernels_of_devices(), {device.index, nullptr}, &library};
  if (exchange.stream(device.type, device.index, &place.stream.handle) != 0) throw py::error_already_set();
  return place;
}

/// The allocator's own error where there is no memory, by the words that are all DLPack leaves of it.
void set_error_of(void*, const char* kind, const char* message) {
  std::string text(message);
  if (text.find("out of memory") == std::string::npos) {
    PyErr_SetString(PyExc_RuntimeError, (std::string(kind) + ": " + text).c_str());
    return;
  }
  if (const auto stack = text.find("\nException raised from"); stack != std::string::npos) text.resize(stack);
  PyErr_SetString(hooks().out_of_memory.get().ptr(), text.c_str());
}

/// Tensors as arrays on devices.
class TensorLibrary final : public DeviceLibrary {
 public:
  [[nodiscard]] py::object empty(const Place& place, const py::dtype& dtype,
                                 const Extents& shape) const override {
    const std::optional<DlType> type = dl_type(dtype);
    if (!type) raise_type("dtype", "there are no tensors of " + str_of(dtype));
    std::array<std::int64_t, kMostAxes> sizes;
    std::copy(shape.begin(), shape.end(), sizes.begin());
    DlTensor prototype{};
    prototype.device = {place.kernels == kernels_on_host() ? kDlCpu : kDlCuda, place.stream.device};
    prototype.ndim = static_cast<std::int32_t>(shape.size());
    prototype.dtype = *type;
    prototype.shape = sizes.data();
    const DlExchange& exchange = *library().exchange;
    DlManagedTensor* managed_tensor = nullptr;
    void* tensor = nullptr;
    if (exchange.allocate(&prototype, &managed_tensor, nullptr, &set_error_of) != 0 ||
        exchange.object_from_managed(managed_tensor, &tensor) != 0) {
      throw py::error_already_set();
    }
    return wrap(py::reinterpret_steal<py::object>(static_cast<PyObject*>(tensor)), place);
  }

  [[nodiscard]] py::object rows_between(const Place& place, py::handle owner, std::int64_t begin,
                                        std::int64_t end) const override {
    return wrap(owner[py::slice(begin, end, 1)], place);
  }

  [[nodiscard]] py::object contiguous(const Place& place, py::handle owner) const override {
    return wrap(owner.attr("contiguous")(), place);
  }

  /// The memory of a tensor that lies at this place.
  [[nodiscard]] static py::object wrap(py::object tensor, const Place& place) {
    DlTensor dl_tensor{};
    if (library().exchange->view(tensor.ptr(), &dl_tensor) != 0) throw py::error_already_set();
    return device_array(from_tensor(std::move(tensor), dl_tensor, place));
  }

  [[nodiscard]] static DeviceArray from_tensor(py::object tensor, const DlTensor& dl_tensor,
                                               const Place& place) {
    DeviceArray result;
    result.dtype = descr_of(dl_tensor.dtype);
    const auto item = static_cast<py::ssize_t>(dl_tensor.dtype.bits / 8);
    for (std::int32_t axis = 0; axis < dl_tensor.ndim; ++axis) {
      result.shape.push_back(static_cast<py::ssize_t>(dl_tensor.shape[axis]));
      result.strides.push_back(static_cast<py::ssize_t>(dl_tensor.strides[axis]) * item);
    }
    static std::byte nowhere;  // NumPy takes no null, and reads nothing there
    result.data = dl_tensor.data != nullptr ? static_cast<std::byte*>(dl_tensor.data) + dl_tensor.byte_offset
                                            : &nowhere;
    result.owner = std::move(tensor);
    result.place = place;
    return result;
  }
};

/// A DeviceArray over a tensor of a device; null where kernels do not take it.
py::object device_by_exchange(const DlExchange& exchange, PyObject* tensor) {
  static const TensorLibrary tensors;
  DlTensor dl_tensor{};
  if (exchange.view(tensor, &dl_tensor) != 0) {
    PyErr_Clear();
    return {};
  }
  const std::optional<Place> place = current_place(exchange, dl_tensor.device, tensors);
  if (!place || !descr_of(dl_tensor.dtype) || dl_tensor.ndim > kMostAxes) return {};
  if (has_bit(tensor, dl_tensor.dtype) || !is_of_whole_bytes(tensor, dl_tensor.dtype)) return {};
  return device_array(
      TensorLibrary::from_tensor(py::reinterpret_borrow<py::object>(tensor), dl_tensor, *place));
}

/// An array as DLPack tells of it.
struct Export {
  DlManagedTensor managed_tensor{};
  PyObject* array = nullptr;
  std::array<std::int64_t, kMostAxes> shape;
  std::array<std::int64_t, kMostAxes> strides;

  static void destroy(DlManagedTensor* managed_tensor) {
    const std::unique_ptr<Export> self(static_cast<Export*>(managed_tensor->context));
    if (Py_IsInitialized() == 0) return;
    const HeldGil gil;
    Py_DECREF(self->array);
  }
};

/// Null where DLPack has no words for the array.
std::unique_ptr<Export> export_of(const py::array& array) {
  const std::optional<DlType> type = dl_type(array.dtype());
  if (!type || array.ndim() > kMostAxes || !array.writeable()) return nullptr;
  auto result = std::make_unique<Export>();
  for (py::ssize_t axis = 0; axis < array.ndim(); ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    if (array.strides(axis) < 0 || array.strides(axis) % array.itemsize() != 0) return nullptr;
    result->shape[k] = array.shape(axis);
    result->strides[k] = array.strides(axis) / array.itemsize();
  }
  result->array = py::object(array).release().ptr();
  result->managed_tensor = {{1, 0},
                            result.get(),
                            &Export::destroy,
                            0,
                            {fields_of(result->array)->data,
                             {kDlCpu, 0},
                             static_cast<std::int32_t>(array.ndim()),
                             *type,
                             result->shape.data(),
                             result->strides.data(),
                             0}};
  return result;
}

/// The array that lies over a whole tensor and that this one is cut from; null where there is none.
const py::detail::PyArray_Proxy* over_tensor(const py::array& array) noexcept {
  const auto* root = fields_of(array.ptr());
  while (root->base != nullptr && is_array(root->base, Api::get())) root = fields_of(root->base);
  return root->base != nullptr && is_tensor(root->base) ? root : nullptr;
}

bool has_numbers(const py::detail::PyArray_Proxy& array) noexcept {
  return std::find(array.dimensions, array.dimensions + array.nd, 0) == array.dimensions + array.nd;
}

/// Whether an array is consecutive rows of another one.
bool is_rows_of(const py::array& array, const py::detail::PyArray_Proxy& root) noexcept {
  const auto* part = fields_of(array.ptr());
  return part->descr == root.descr && part->nd == root.nd && part->nd > 0 &&
         (!has_numbers(*part) || std::equal(part->strides, part->strides + part->nd, root.strides)) &&
         part->dimensions[0] <= root.dimensions[0] &&
         std::equal(part->dimensions + 1, part->dimensions + part->nd, root.dimensions + 1);
}

/// Rows of a tensor as torch cuts them: the view holds the memory, and torch knows of it when it is written.
py::object cut_rows(const py::array& rows, const py::detail::PyArray_Proxy& root) {
  const std::int64_t step = has_numbers(*fields_of(rows.ptr())) ? root.strides[0] : 0;
  const std::int64_t begin = step != 0 ? (fields_of(rows.ptr())->data - root.data) / step : 0;
  const py::int_ bounds[] = {begin, begin + static_cast<std::int64_t>(rows.shape(0))};
  const auto range =
      py::reinterpret_steal<py::object>(PySlice_New(bounds[0].ptr(), bounds[1].ptr(), nullptr));
  if (!range) throw py::error_already_set();
  auto view = py::reinterpret_steal<py::object>(PyObject_GetItem(root.base, range.ptr()));
  if (!view) throw py::error_already_set();
  return view;
}

}  // namespace

bool is_tensor(PyObject* object) noexcept {
  const auto& types = library().types;
  return std::find(types.begin(), types.end(), Py_TYPE(object)) != types.end();
}

bool is_tensor_subclass(PyObject* object) noexcept {
  PyTypeObject* const base = library().types[0];
  return base != nullptr && PyType_IsSubtype(Py_TYPE(object), base) != 0 && !is_tensor(object);
}

py::object array_over(PyObject* tensor) {
  const DlExchange* const exchange = library().exchange;
  return exchange != nullptr ? array_by_exchange(*exchange, tensor) : array_by_method(tensor);
}

py::object placed_over(PyObject* tensor) {
  const DlExchange* const exchange = library().exchange;
  if (exchange == nullptr) return array_over(tensor);
  if (kernels_on_host() == nullptr) {
    if (py::object array = array_over(tensor)) return array;
  }
  return device_by_exchange(*exchange, tensor);
}

std::optional<Footprint> footprint_of(PyObject* tensor) {
  const DlExchange* const exchange = library().exchange;
  if (exchange == nullptr) {
    const py::object array = array_by_method(tensor);
    if (!array) return {};
    const auto numbers = py::reinterpret_borrow<py::array>(array);
    return Footprint{Memory::extent_of(numbers), (numbers.flags() & py::array::c_style) != 0};
  }
  DlTensor dl_tensor{};
  if (exchange->view(tensor, &dl_tensor) != 0) {
    PyErr_Clear();
    return {};
  }
  const std::int64_t item = (dl_tensor.dtype.bits * dl_tensor.dtype.lanes + 7) / 8;
  std::int64_t count = 1;
  std::int64_t reach = 0;  // strides of tensors are not negative
  bool is_contiguous = true;
  for (std::int32_t axis = dl_tensor.ndim - 1; axis >= 0; --axis) {
    const std::int64_t size = dl_tensor.shape[axis];
    is_contiguous = is_contiguous && (size == 1 || dl_tensor.strides[axis] == count);
    reach += (size - 1) * dl_tensor.strides[axis];
    count *= size;
  }
  if (count == 0) return Footprint{{}, true};
  if (dl_tensor.data == nullptr) return {};
  const auto* const data = static_cast<const std::byte*>(dl_tensor.data) + dl_tensor.byte_offset;
  return Footprint{{data, data + (reach + 1) * item}, is_contiguous};
}

py::object tensor_over(const py::array& array) {
  if (const auto* const root = over_tensor(array); root != nullptr) {
    if (is_rows_of(array, *root)) return cut_rows(array, *root);
    return tensor_over(array.attr("copy")().cast<py::array>());
  }
  if (const DlExchange* const exchange = library().exchange; exchange != nullptr) {
    if (std::unique_ptr<Export> block = export_of(array)) {
      void* tensor = nullptr;
      if (exchange->object_from_managed(&block.release()->managed_tensor, &tensor) != 0) {
        throw py::error_already_set();
      }
      return py::reinterpret_steal<py::object>(static_cast<PyObject*>(tensor));
    }
  }
  auto tensor =
      py::reinterpret_steal<py::object>(PyObject_CallOneArg(hooks().from_numpy.get().ptr(), array.ptr()));
  if (!tensor) throw py::error_already_set();
  return tensor;
}

void take_tensor_types(PyObject* classes) {
  Library& instance = library();
  const py::tuple types = classes != nullptr ? py::reinterpret_borrow<py::tuple>(classes) : py::tuple();
  if (types.empty() || types.size() > kMostTypes) raise_value("tensor_types", "expected 1 to 4");
  for (const py::handle type : types) {
    if (!PyType_Check(type.ptr())) raise_type("tensor_types", "expected types, got " + type_name(type));
  }
  instance.types = {};
  for (std::size_t k = 0; k < types.size(); ++k) {
    instance.types[k] = reinterpret_cast<PyTypeObject*>(py::object(types[k]).release().ptr());
  }
  instance.exchange = nullptr;
  const py::object capsule = py::getattr(types[0], "__dlpack_c_exchange_api__", py::none());
  if (capsule.is_none()) return;
  const auto* exchange =
      static_cast<const DlExchange*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (exchange == nullptr) throw py::error_already_set();
  if (exchange->version.major == 1 && exchange->view != nullptr) instance.exchange = exchange;
}

}  // namespace varlen::bindings
