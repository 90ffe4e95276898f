// `_core.PinnedMemory`: memory of the host that devices read by themselves, and when they have.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#if !defined(_WIN32)
#include <unistd.h>
#endif

#include "batch.hpp"
#include "support/raise.hpp"
#include "tensor/tensor.hpp"

namespace varlen::bindings {

namespace {

/// Which process this is: a forked child has the objects of its parent, and none of its memory.
std::int64_t this_process() noexcept {
#if defined(_WIN32)
  return 0;
#else
  return getpid();
#endif
}

class PinnedMemory {
 public:
  PinnedMemory(int device, std::int64_t bytes) : bytes_(bytes), process_(this_process()) {
    at_least(0, bytes, "nbytes");
    place_.kernels = kernels_on_host() != nullptr ? kernels_on_host() : kernels_of_devices();
    if (place_.kernels == nullptr) {
      throw std::runtime_error("device: varlen has no kernels for it here; varlen.cuda.status() says why");
    }
    place_.stream.device = device;
    cuda::Error error = 0;
    {
      const py::gil_scoped_release gil_release;
      error = place_.kernels->pin(device, bytes, &memory_);
    }
    if (error == cuda::kNoMemory) {
      raise_memory("pin_memory", "the host has no " + std::to_string(bytes) + " bytes of pinned memory left");
    }
    place_.check(error, "pin_memory");
  }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory() {
    if (process_ != this_process()) return;
    const py::gil_scoped_release gil_release;  // the runtime waits for the device here
    if (event_ != nullptr) place_.kernels->forget(event_);
    if (memory_ != nullptr) place_.kernels->unpin(memory_);
  }

  [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] void* data() const noexcept { return memory_; }

  /// Copies the first bytes to memory of a device, on the stream that its library works on now.
  void send(const py::object& target, std::int64_t bytes) {
    const py::array to = placed_bytes(target, "to");
    const Place place = place_of(to);
    if (bytes < 0 || bytes > bytes_ || bytes > to.nbytes()) {
      raise_value("nbytes", "expected 0 to " + std::to_string(std::min<std::int64_t>(bytes_, to.nbytes())) +
                                ", got " + std::to_string(bytes));
    }
    refuse_child();
    if (event_ != nullptr && place.stream.device != place_.stream.device) {  // events are of one device
      wait();
      place_.kernels->forget(std::exchange(event_, nullptr));
    }
    place_.stream.device = place.stream.device;
    place.check(place.kernels->send(place.stream, memory_, bytes, py::array(to).mutable_data(), &event_),
                "send");
  }

  [[nodiscard]] bool is_free() const {
    refuse_child();
    if (event_ == nullptr) return true;
    const cuda::Error error = place_.kernels->query(event_);
    if (error != cuda::kNotYet) place_.check(error, "send");
    return error == 0;
  }

  void wait() const {
    refuse_child();
    if (event_ == nullptr) return;
    cuda::Error error = 0;
    {
      const py::gil_scoped_release gil_release;
      error = place_.kernels->wait(event_);
    }
    place_.check(error, "send");
  }

 private:
  void refuse_child() const {
    if (process_ != this_process()) place_.check(cuda::kNoInit, "pin_memory");
  }

  Place place_;  ///< of the device that read it last, or of the one that it was made for
  void* memory_ = nullptr;
  void* event_ = nullptr;  ///< behind the last copy; null: there was none
  std::int64_t bytes_;
  std::int64_t process_;
};

py::array bytes_of_pinned(const py::object& self) {
  const auto& memory = self.cast<const PinnedMemory&>();
  static std::byte nowhere;  // NumPy takes no null, and reads nothing there
  const py::ssize_t count = memory.bytes();
  return make_array(py::dtype::of<std::uint8_t>().ptr(), 1, &count, nullptr,
                    memory.data() != nullptr ? memory.data() : &nowhere, self.ptr());
}

}  // namespace

void bind_pinned(py::module_& m) {
  py::class_<PinnedMemory>(m, "PinnedMemory",
                           "Memory of the host that devices read by themselves, made for one of them.")
      .def(py::init<int, std::int64_t>(), py::arg("device"), py::arg("nbytes"))
      .def_property_readonly("bytes", &bytes_of_pinned, "The memory, as uint8 of NumPy.")
      .def("send", &PinnedMemory::send, py::arg("to"), py::arg("nbytes"),
           "Copies so many bytes to memory of a device, on the current stream of its library.")
      .def("is_free", &PinnedMemory::is_free, "Whether the last copy was made.")
      .def("wait", &PinnedMemory::wait, "Until the last copy was made.");
  refuse_pickling(m.attr("PinnedMemory"));
}

}  // namespace varlen::bindings
