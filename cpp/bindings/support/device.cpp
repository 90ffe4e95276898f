#include "device.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dtypes.hpp"
#include "hooks.hpp"
#include "own_type.hpp"
#include "raise.hpp"

namespace varlen::bindings {

namespace {

using DeviceObject = Own<DeviceArray>;

/// An ndarray over the memory of a DeviceArray, for the bindings alone.
py::array array_in(py::handle object) {
  const DeviceArray& device = device_array_in(object.ptr());
  return make_array(device.dtype.ptr(), static_cast<int>(device.shape.size()), device.shape.data(),
                    device.strides.data(), device.data, object.ptr());
}

bool is_contiguous(const DeviceArray& array) noexcept {
  py::ssize_t step = array.dtype.itemsize();
  for (std::size_t axis = array.shape.size(); axis-- > 0;) {
    if (array.shape[axis] == 0) return true;
    if (array.shape[axis] != 1 && array.strides[axis] != step) return false;
    step *= array.shape[axis];
  }
  return true;
}

py::tuple sizes_as_tuple(const Extents& sizes) {
  py::tuple result(sizes.size());
  for (std::size_t k = 0; k < sizes.size(); ++k) result[k] = py::int_(sizes[k]);
  return result;
}

/// Arrays of the host, where kernels are tried on its memory.
class HostLibrary final : public DeviceLibrary {
 public:
  [[nodiscard]] py::object empty(const Place& place, const py::dtype& dtype,
                                 const Extents& shape) const override {
    return wrap(bindings::empty(dtype, shape), place);
  }
  [[nodiscard]] py::object rows_between(const Place& place, py::handle owner, std::int64_t begin,
                                        std::int64_t end) const override {
    return wrap(bindings::rows_between(py::reinterpret_borrow<py::array>(owner), begin, end), place);
  }
  [[nodiscard]] py::object contiguous(const Place& place, py::handle owner) const override {
    return wrap(as_rows(owner, "values"), place);
  }
  [[nodiscard]] static py::object wrap(const py::array& array, const Place& place) {
    return device_array({array,
                         array.dtype(),
                         {array.shape(), array.shape() + array.ndim()},
                         {array.strides(), array.strides() + array.ndim()},
                         fields_of(array.ptr())->data,
                         place});
  }
};

const HostLibrary host_library;

/// What there is to compute with on devices.
struct KernelTables {
  const cuda::Kernels* devices = nullptr;
  const cuda::Kernels* host = nullptr;
  bool is_asked = false;  ///< whether those of devices were looked for
};
KernelTables kernel_tables;

/// Memory, or a stream, that Python has as an integer.
void* address_of(py::handle integer) {
  void* const address = PyLong_AsVoidPtr(integer.ptr());
  if (address == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return address;
}

/// Arrays that show their memory by `__cuda_array_interface__`; what Python gave lives for ever.
class InterfaceLibrary final : public DeviceLibrary {
 public:
  explicit InterfaceLibrary(py::handle library)
      : type_(reinterpret_cast<PyTypeObject*>(library.attr("array").cast<py::type>().release().ptr())),
        empty_(py::object(library.attr("empty")).release().ptr()),
        contiguous_(py::object(library.attr("contiguous")).release().ptr()),
        current_(py::object(library.attr("current")).release().ptr()) {}

  [[nodiscard]] bool has(PyObject* object) const noexcept { return PyObject_TypeCheck(object, type_) != 0; }

  [[nodiscard]] py::object empty(const Place& place, const py::dtype& dtype,
                                 const Extents& shape) const override {
    return wrap(py::handle(empty_)(sizes_as_tuple(shape), dtype, place.stream.device), place);
  }
  [[nodiscard]] py::object rows_between(const Place& place, py::handle owner, std::int64_t begin,
                                        std::int64_t end) const override {
    return wrap(owner[py::slice(begin, end, 1)], place);
  }
  [[nodiscard]] py::object contiguous(const Place& place, py::handle owner) const override {
    return wrap(py::handle(contiguous_)(owner), place);
  }
  /// The device of an array, and the stream that its library works on now.
  [[nodiscard]] Place place_of(py::handle array, const cuda::Kernels* kernels) const {
    const auto current = py::handle(current_)(array).cast<py::tuple>();
    return {kernels, {current[0].cast<int>(), address_of(current[1])}, this};
  }
  [[nodiscard]] static py::object wrap(py::object array, const Place& place) {
    const py::object interface = array.attr("__cuda_array_interface__");
    DeviceArray result;
    result.dtype = dtype_of(array, interface);
    for (const py::handle size : interface["shape"]) result.shape.push_back(size.cast<py::ssize_t>());
    const py::object strides = interface.attr("get")("strides");
    if (strides.is_none()) {
      result.strides = Extents(result.shape.size(), 0);
      py::ssize_t step = result.dtype.itemsize();
      for (std::size_t axis = result.shape.size(); axis-- > 0; step *= result.shape[axis]) {
        result.strides[axis] = step;
      }
    } else {
      for (const py::handle stride : strides) result.strides.push_back(stride.cast<py::ssize_t>());
    }
    static std::byte nowhere;  // NumPy takes no null, and reads nothing there
    void* const address = address_of(py::object(py::object(interface["data"])[py::int_(0)]));
    result.data = address != nullptr ? address : &nowhere;
    result.owner = std::move(array);
    result.place = place;
    return device_array(std::move(result));
  }

 private:
  /// That of the array where it is one of NumPy: the interface has no name for some, as bfloat16.
  static py::dtype dtype_of(const py::object& array, const py::object& interface) {
    const py::object own = py::getattr(array, "dtype", py::none());
    return py::isinstance<py::dtype>(own) ? own.cast<py::dtype>()
                                          : py::dtype::from_args(interface["typestr"]);
  }

  PyTypeObject* type_;
  PyObject* empty_;
  PyObject* contiguous_;
  PyObject* current_;
};

std::vector<const InterfaceLibrary*>& libraries() {
  static std::vector<const InterfaceLibrary*> all;
  return all;
}

void take_library(PyObject* library) {
  if (library != nullptr) libraries().push_back(new InterfaceLibrary(library));
}

const cuda::Kernels* table_in(PyObject* capsule) {
  if (capsule == nullptr) return nullptr;
  const auto* const table =
      static_cast<const cuda::Kernels*>(PyCapsule_GetPointer(capsule, cuda::kKernelsName));
  if (table == nullptr) throw py::error_already_set();
  if (table->version != cuda::kKernelsVersion) {
    raise_value("table", "version " + std::to_string(table->version) + ", expected " +
                             std::to_string(cuda::kKernelsVersion));
  }
  return table;
}

void take_kernels(PyObject* capsule) {
  kernel_tables.devices = table_in(capsule);
}

void take_host_kernels(PyObject* capsule) {
  kernel_tables.host = table_in(capsule);
}

void take_loader(PyObject*) {
  kernel_tables.is_asked = false;
}

void forget_kernels() {
  hooks().kernels.set(py::none());
  hooks().host_kernels.set(py::none());
}

/// The DeviceArray whose memory an ndarray shows, borrowed; null where it shows that of the host.
PyObject* device_under(PyObject* array) noexcept {
  PyObject* base = fields_of(array)->base;
  while (base != nullptr && is_array(base, Api::get())) base = fields_of(base)->base;
  return base != nullptr && is_device_array(base) ? base : nullptr;
}

py::object outside_of(PyObject* array) {
  PyObject* const base = device_under(array);
  if (base == nullptr) return {};
  const DeviceArray& device = device_array_in(base);
  return device.place.library == &host_library ? device.owner : py::reinterpret_borrow<py::object>(base);
}

bool is_same_device(const Place& a, const Place& b) noexcept {
  return a.kernels == b.kernels && a.stream.device == b.stream.device;
}

std::string text_of_place(const Place& place) {
  return place.is_host() ? "the host" : "device " + std::to_string(place.stream.device);
}

PyGetSetDef device_properties[] = {
    {"shape", DeviceObject::get<[](DeviceArray& a) -> py::object { return sizes_as_tuple(a.shape); }>,
     nullptr, "How many entries each axis has.", nullptr},
    {"ndim", DeviceObject::get<[](DeviceArray& a) -> std::int64_t {
       return static_cast<std::int64_t>(a.shape.size());
     }>,
     nullptr, "How many axes there are.", nullptr},
    {"dtype", DeviceObject::get<[](DeviceArray& a) -> py::object { return a.dtype; }>, nullptr,
     "What an element is, in NumPy's words.", nullptr},
    {"owner", DeviceObject::get<[](DeviceArray& a) -> py::object { return a.owner; }>, nullptr,
     "The array or tensor whose memory this is.", nullptr},
    {},
};

Py_ssize_t device_length(PyObject* self) noexcept {
  const DeviceArray& array = device_array_in(self);
  return array.shape.empty() ? 0 : array.shape[0];
}

PyObject* device_repr(PyObject* self) noexcept {
  return guard([&] {
    const DeviceArray& array = device_array_in(self);
    return py::str("DeviceArray(" + text_of(array.shape) + ", " + str_of(array.dtype) + ", " +
                   text_of_place(array.place) + ")")
        .release()
        .ptr();
  });
}

}  // namespace

void Place::check(cuda::Error error, const char* verb) const {
  if (error == 0) return;
  const std::string name(verb);
  const std::string device = "device " + std::to_string(stream.device);
  switch (error) {
    case cuda::kNoMemory:
      raise_memory(name, device + " is out of memory");
    case cuda::kNoInit:
      throw std::runtime_error(
          name + ": CUDA cannot be used in a forked child of a process that used it; spawn it instead");
    case cuda::kOldDriver:
    case cuda::kNoCompiler:
      throw std::runtime_error(name +
                               ": the CUDA driver is too old for the kernels of varlen; "
                               "varlen.cuda.status() says what they need");
    case cuda::kNoImage:
      throw std::runtime_error(name + ": varlen was built without kernels for " + device +
                               "; a build there, or one with VARLEN_CUDA=ON, has them");
    case cuda::kStreamCapture:
      throw std::runtime_error(name +
                               ": has to wait for the device, which it cannot while a graph captures the "
                               "stream; do it before");
    default:
      throw std::runtime_error(name + ": CUDA: " + kernels->text_of(error));
  }
}

const cuda::Kernels* kernels_of_devices() {
  Hook& load = hooks().load_kernels;
  if (kernel_tables.devices == nullptr && load.peek() != nullptr &&
      !std::exchange(kernel_tables.is_asked, true)) {
    load();
  }
  return kernel_tables.devices;
}

const cuda::Kernels* kernels_on_host() noexcept {
  return kernel_tables.host;
}

py::object placed_array(py::handle object) {
  for (const InterfaceLibrary* const library : libraries()) {
    if (!library->has(object.ptr())) continue;
    const cuda::Kernels* const kernels =
        kernel_tables.host != nullptr ? kernel_tables.host : kernels_of_devices();
    if (kernels == nullptr) {
      raise_type("an array of a device: varlen has no kernels for it here; varlen.cuda.status() says why");
    }
    return InterfaceLibrary::wrap(py::reinterpret_borrow<py::object>(object),
                                  library->place_of(object, kernels));
  }
  return {};
}

py::object device_array(DeviceArray&& array) {
  return py::reinterpret_steal<py::object>(DeviceObject::create(std::move(array)));
}

bool is_device_array(PyObject* object) noexcept {
  return DeviceObject::is(object);
}

DeviceArray& device_array_in(PyObject* object) noexcept {
  return DeviceObject::unwrap(object);
}

py::object readable_array(py::handle object) {
  const DeviceArray& device = device_array_in(object.ptr());
  if (kernel_tables.host == nullptr || device.place.kernels != kernel_tables.host) return {};
  return make_array(device.dtype.ptr(), static_cast<int>(device.shape.size()), device.shape.data(),
                    device.strides.data(), device.data, device.owner.ptr());
}

py::object seen_argument(PyObject* argument) {
  if (is_device_array(argument)) return readable_array(argument);
  return py::reinterpret_borrow<py::object>(argument);
}

Place place_of(const py::array& array) noexcept {
  PyObject* const base = device_under(array.ptr());
  return base != nullptr ? device_array_in(base).place : Place{};
}

Place place_of_any(Inputs arguments) noexcept {
  bool has_array = false;
  for (const py::handle argument : arguments) {
    if (!argument) continue;
    if (is_device_array(argument.ptr())) return device_array_in(argument.ptr()).place;
    has_array = has_array || is_array(argument.ptr(), Api::get());
  }
  return has_array && kernel_tables.host != nullptr ? Place{kernel_tables.host, {}, &host_library} : Place{};
}

py::array as_placed_rows(py::handle object, const char* argument) {
  if (!is_device_array(object.ptr())) {
    py::array rows = as_rows(object, argument);
    return kernel_tables.host == nullptr
               ? rows
               : array_in(HostLibrary::wrap(rows, {kernel_tables.host, {}, &host_library}));
  }
  const DeviceArray& array = device_array_in(object.ptr());
  if (array.shape.empty()) {
    raise_value(argument, "expected at least one dimension, got a scalar");
  }
  if (is_contiguous(array)) return array_in(object);
  return array_in(array.place.library->contiguous(array.place, array.owner));
}

void check_at(const Place& place, const py::array& array, std::string_view argument) {
  const Place array_place = place_of(array);
  if (is_same_device(place, array_place)) return;
  raise_value(argument,
              "expected an array on " + text_of_place(place) + ", got one on " + text_of_place(array_place));
}

py::array rows_at(const Place& place, py::handle object, const char* argument) {
  py::array rows = as_placed_rows(object, argument);
  check_at(place, rows, argument);
  return rows;
}

py::array empty_at(const Place& place, const py::dtype& dtype, const Extents& shape) {
  return place.is_host() ? empty(dtype, shape) : array_in(place.library->empty(place, dtype, shape));
}

py::array scratch_at(const Place& place, std::int64_t bytes) {
  return empty_at(place, py::dtype::of<std::uint8_t>(), {bytes});
}

ScratchAt::ScratchAt(const Place& place, std::int64_t bytes) {
  if (!place.is_host()) {
    py::array memory = scratch_at(place, bytes);
    data_ = bindings::bytes(memory);
    array_ = std::move(memory);
  } else if (bytes > 0) {
    buffer_ = Buffer(bytes);
    data_ = buffer_.data();
  }
}

py::array rows_like_at(const Place& place, const py::array& like, std::int64_t count) {
  if (place.is_host()) return rows_like(like, count);
  Extents shape = shape_of(like);
  shape[0] = count;
  return empty_at(place, like.dtype(), shape);
}

py::array rows_between_at(const Place& place, const py::array& array, std::int64_t begin, std::int64_t end) {
  if (place.is_host()) return rows_between(array, begin, end);
  const DeviceArray& base_array = device_array_in(device_under(array.ptr()));
  return array_in(place.library->rows_between(place, base_array.owner, begin, end));
}

namespace {

template <class T>
PlacedBytes copied_at(const Place& place, const T* data, std::int64_t count) {
  py::array copy = empty_at(place, py::dtype::of<T>(), {count});
  std::byte* const to = bytes(copy);
  launch(place, "upload", copy.nbytes(), &cuda::Kernels::upload, data, copy.nbytes(), to);
  return {std::move(copy), to};
}

}  // namespace

PlacedBytes bytes_at(const Place& place, const void* data, std::int64_t count) {
  if (place.is_host()) return {{}, static_cast<const std::byte*>(data)};
  return copied_at(place, static_cast<const std::uint8_t*>(data), count);
}

PlacedInts ints_at(const Place& place, const std::int64_t* numbers, std::int64_t count) {
  if (place.is_host()) return {{}, numbers, count};
  auto [keep, data] = copied_at(place, numbers, count);
  return {std::move(keep), reinterpret_cast<const std::int64_t*>(data), count};
}

PlacedInts ints_at(const Place& place, const Ints& numbers) {
  PlacedInts result = ints_at(place, numbers.data, numbers.count);
  if (!result.keep) result.keep = numbers.keep;
  return result;
}

PlacedInts ints_of_device(const Place& place, PyObject* array, const char* argument) {
  py::array numbers = rows_at(place, array, argument);
  if (numbers.ndim() != 1) {
    raise_value(argument, "expected one dimension, got " + std::to_string(numbers.ndim()));
  }
  if (number_of(numbers.dtype().ptr()) != Number::i64) {
    raise_type(argument, "expected int64 on a device, got dtype " + str_of(numbers.dtype()));
  }
  const auto* const data = static_cast<const std::int64_t*>(numbers.data());
  const std::int64_t count = numbers.shape(0);
  return {std::move(numbers), data, count};
}

cuda::Fill fill_at(const Place& place, const std::byte* fill, std::int64_t period, std::int64_t width,
                   py::object& keep) {
  if (fill == nullptr || width == 0) return {};
  if (place.is_host() ? period == width : cuda::is_host_fill(period)) return {fill, period};
  std::vector<std::byte> row(static_cast<std::size_t>(width));
  for (std::size_t k = 0; k < row.size(); ++k) row[k] = fill[k % static_cast<std::size_t>(period)];
  PlacedBytes copy = copied_at(place, reinterpret_cast<const std::uint8_t*>(row.data()), width);
  keep = std::move(copy.keep);
  return {copy.data, width};
}

/// Whether kernels are tried on arrays or tensors of the host there, and not on those of a library of
/// devices.
bool has_memory_of_host(const Place& place) {
  const auto& others = libraries();
  return place.kernels == kernel_tables.host &&
         std::none_of(others.begin(), others.end(),
                      [&](const InterfaceLibrary* library) { return library == place.library; });
}

py::array checked_out_at(const Place& place, std::string_view name, py::handle output, const py::dtype& dtype,
                         const Extents& shape, Inputs inputs) {
  const bool on_device = is_device_array(output.ptr());
  if (!on_device && (place.is_host() || has_memory_of_host(place))) {
    return checked_out(name, output, dtype, shape, inputs);
  }
  const py::array out = on_device ? array_in(output) : as_rows(output, std::string(name).c_str());
  check_at(place, out, name);
  return checked_out(name, out, dtype, shape, inputs);
}

py::array out_at(const Place& place, PyObject* given_out, const py::dtype& dtype, const Extents& shape,
                 Inputs inputs) {
  return is_given(given_out) ? checked_out_at(place, "out", given_out, dtype, shape, inputs)
                             : empty_at(place, dtype, shape);
}

py::object export_result(py::object result) {
  if (is_array(result.ptr(), Api::get())) {
    py::object device = outside_of(result.ptr());
    return device ? device : result;
  }
  if (!PyTuple_CheckExact(result.ptr())) return result;
  const Py_ssize_t count = PyTuple_GET_SIZE(result.ptr());
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const item = PyTuple_GET_ITEM(result.ptr(), i);
    if (!is_array(item, Api::get()) || !outside_of(item)) continue;
    py::tuple items(count);
    for (Py_ssize_t k = 0; k < count; ++k) {
      items[static_cast<std::size_t>(k)] =
          export_result(py::reinterpret_borrow<py::object>(PyTuple_GET_ITEM(result.ptr(), k)));
    }
    return py::object(std::move(items));
  }
  return result;
}

void bind_device(py::module_& m) {
  hooks().kernels.take = &take_kernels;
  hooks().host_kernels.take = &take_host_kernels;
  hooks().load_kernels.take = &take_loader;
  hooks().array_library.take = &take_library;
  m.def("forget_kernels", &forget_kernels, "Arrays of devices are refused, and tensors left to torch.");
  m.def(
      "has_kernels", [] { return kernels_of_devices() != nullptr; },
      "Whether there are kernels of devices, which are looked for.");
  DeviceObject::make(
      m, "varlen._core.DeviceArray",
      "Memory that this machine cannot read, as the verbs of the core take it: a shape, a dtype, an owner.",
      py::cpp_function(
          []() -> py::object { raise_type("DeviceArray", "is made by verbs on arrays of a device"); },
          py::name("DeviceArray")),
      {{Py_tp_getset, device_properties},
       {Py_tp_repr, reinterpret_cast<void*>(device_repr)},
       {Py_mp_length, reinterpret_cast<void*>(device_length)},
       {Py_sq_length, reinterpret_cast<void*>(device_length)}});
}

}  // namespace varlen::bindings
