// A CUDA device for torch that is memory of the host: every op of torch runs on the CPU, over the same
// memory. What torch and this package do with tensors of a device is tried where there is none.
#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/FakeGuardImpl.h>
#include <pybind11/pybind11.h>
#include <torch/library.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace {

/// What was asked of streams is written down beside what the kernels' own module asks, in order: for tests.
std::mutex asking;
/// How often torch waited for numbers of the device; not for those that an op takes to the CPU here alone.
std::atomic<std::int64_t> waits = 0;
thread_local bool is_falling_back = false;

void note(const std::string& what) {
  const pybind11::gil_scoped_acquire locked;
  pybind11::module_::import("varlen._cuda_host").attr("note")(what);
}

/// Memory of the host that counts as pinned.
struct Pinned final : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    void* const data = bytes > 0 ? std::malloc(bytes) : nullptr;
    if (data != nullptr) {
      const std::lock_guard<std::mutex> alone(asking);
      blocks[static_cast<const char*>(data)] = bytes;
    }
    return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
  static bool has(const void* data) {
    const std::lock_guard<std::mutex> alone(asking);
    const auto* const at = static_cast<const char*>(data);
    auto behind = blocks.upper_bound(at);
    return behind != blocks.begin() && at < (--behind)->first + behind->second;
  }
  static void release(void* data) {
    const std::lock_guard<std::mutex> alone(asking);
    blocks.erase(static_cast<const char*>(data));
    std::free(data);
  }
  static inline std::map<const char*, std::size_t> blocks;
};

Pinned pinned;

}  // namespace

// torch looks for its hooks by this name.
namespace at {

struct CUDAHooks final : CUDAHooksInterface {
  explicit CUDAHooks(CUDAHooksArgs) {}
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex current_device() const override { return 0; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
  int getNumGPUs() const override { return 1; }
  Device getDeviceFromPtr(void*) const override { return {kCUDA, 0}; }
  bool isPinnedPtr(const void* data) const override { return Pinned::has(data); }
  Allocator* getPinnedMemoryAllocator() const override { return &pinned; }
};

REGISTER_CUDA_HOOKS(CUDAHooks)

}  // namespace at

namespace c10::impl {

// Streams whose work is done when it was asked for; they differ by number alone.
struct HostGuard : NoOpDeviceGuardImpl<DeviceType::CUDA> {
  struct Event {
    StreamId stream = 0;
  };

  Device getDevice() const override { return {DeviceType::CUDA, 0}; }
  Device exchangeDevice(Device) const override { return {DeviceType::CUDA, 0}; }
  Stream getStream(Device) const noexcept override { return of(current); }
  Stream getDefaultStream(Device) const override { return of(0); }
  Stream getNewStream(Device, int) const override { return of(++made); }
  Stream exchangeStream(Stream stream) const noexcept override {
    const Stream before = of(current);
    current = stream.id();
    return before;
  }
  void record(void** event, const Stream& stream, const DeviceIndex, const EventFlag) const override {
    if (*event == nullptr) *event = new Event;
    *static_cast<Event*>(*event) = {stream.id()};
    note("record " + std::to_string(stream.id()));
  }
  void block(void* event, const Stream& stream) const override {
    note(std::to_string(stream.id()) + " waits for " + std::to_string(static_cast<Event*>(event)->stream));
  }
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void* event, const DeviceIndex) const noexcept override {
    delete static_cast<Event*>(event);
  }
  void synchronizeEvent(void*) const override { note("synchronize"); }
  void* getStreamNativeHandle(const Stream stream) const override {
    return reinterpret_cast<void*>(stream.id());
  }
  bool queryStream(const Stream&) const override { return true; }
  void synchronizeStream(const Stream&) const override { note("synchronize"); }
  DeviceIndex deviceCount() const noexcept override { return 1; }

  static Stream of(StreamId id) { return Stream(Stream::UNSAFE, Device(DeviceType::CUDA, 0), id); }
  static inline thread_local StreamId current = 0;
  static inline StreamId made = 0;
};

C10_REGISTER_GUARD_IMPL(CUDA, HostGuard)

}  // namespace c10::impl

namespace {

struct Memory final : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    void* const data = bytes > 0 ? std::malloc(bytes) : nullptr;
    TORCH_CHECK_WITH(OutOfMemoryError, bytes == 0 || data != nullptr,
                     "CUDA out of memory. Tried to allocate ", bytes, " bytes.");
    return {data, data, &std::free, c10::Device(c10::DeviceType::CUDA, 0)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &std::free; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

Memory memory;
REGISTER_ALLOCATOR(c10::DeviceType::CUDA, &memory)

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::CUDA);

at::Tensor empty(c10::IntArrayRef sizes, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                 std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(sizes, &memory, kKeys, c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides,
                         std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                         std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(sizes, strides, &memory, kKeys, c10::dtype_or_default(dtype));
}

/// The same memory as a tensor on the CPU.
at::Tensor on_cpu(const at::Tensor& x) {
  if (!x.is_cuda()) return x;
  at::Tensor same = at::from_blob(x.data_ptr(), x.sizes(), x.strides(),
                                  at::TensorOptions(x.scalar_type()).device(at::kCPU));
  same._set_conj(x.is_conj());
  same._set_neg(x.is_neg());
  return same;
}

at::Tensor& copy(at::Tensor& to, const at::Tensor& from, bool non_blocking) {
  if (to.is_cuda() && !from.is_cuda()) {
    note(std::string(from.is_pinned() ? "pinned" : "pageable") + (non_blocking ? "" : ", blocking") +
         " copy on " + std::to_string(c10::impl::HostGuard::current));
  }
  if (!to.is_cuda() && from.is_cuda() && !is_falling_back) ++waits;
  if (to.numel() > 0) on_cpu(to).copy_(on_cpu(from));
  return to;
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  on_cpu(to).copy_(on_cpu(from));
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  if (to.sizes() != from.sizes()) to.resize_(from.sizes());
  return copy_from(from, to, false);
}

const at::Tensor& resize(const at::Tensor& x, c10::IntArrayRef sizes, std::optional<at::MemoryFormat>) {
  x.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  const std::size_t needed = static_cast<std::size_t>(x.numel() + x.storage_offset()) * x.itemsize();
  at::Storage storage = x.storage();
  if (storage.nbytes() < needed) {
    c10::DataPtr larger = memory.allocate(needed);
    if (storage.nbytes() > 0) std::memcpy(larger.get(), storage.data(), storage.nbytes());
    storage.set_data_ptr_noswap(std::move(larger));
    storage.set_nbytes(needed);
  }
  return x;
}

void record_stream(at::Tensor&, at::Stream stream) {
  note("kept for " + std::to_string(stream.id()));
}

/// Ops that wait for a device, for what they give depends on its numbers.
bool reads(const std::string& op) {
  return op == "aten::_local_scalar_dense" || op == "aten::nonzero" || op == "aten::masked_select" ||
         op == "aten::equal" || op == "aten::is_nonzero" || op == "aten::item";
}

void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (reads(op.schema().name())) ++waits;
  const bool before = std::exchange(is_falling_back, true);
  at::native::cpu_fallback(op, stack);
  is_falling_back = before;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, CUDA, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("copy_", &copy);
  m.impl("_copy_from", &copy_from);
  m.impl("_copy_from_and_resize", &copy_from_and_resize);
  m.impl("resize_", &resize);
  m.impl("record_stream", &record_stream);
  m.impl("as_strided", &at::native::as_strided_tensorimpl);
  m.impl("view", &at::native::view);
  m.impl("view_as_real", &at::native::view_as_real);
  m.impl("view_as_complex", &at::native::view_as_complex);
  m.impl("_reshape_alias", &at::native::_reshape_alias);
}

TORCH_LIBRARY_IMPL(_, CUDA, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
}

PYBIND11_MODULE(host_cuda_device, m) {
  m.doc() = "A CUDA device of torch that is memory of the host.";
  m.def("waits", [] { return waits.load(); });
}
