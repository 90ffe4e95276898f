// Arrays whose memory this machine cannot read: where they lie, and what computes there.
//
// To Python such an array is a DeviceArray, which shows a shape and a dtype and no numbers. In here it is an
// ndarray over that memory, so that shapes, dtypes and outputs are checked as any others are. Those ndarrays
// never leave: `outside` gives the DeviceArray in their place.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <utility>

#include "arrays.hpp"
#include "fastcall.hpp"
#include "outputs.hpp"
#include "varlen/cuda/kernels.hpp"
#include "varlen/host.hpp"
#include "varlen/model/memory.hpp"

namespace varlen::bindings {

namespace py = pybind11;

class DeviceLibrary;

/// The host, or a stream of a device: the table of what computes there, and whose memory it is.
struct Place {
  const cuda::Kernels* kernels = &host::kKernels;
  cuda::Stream stream;
  const DeviceLibrary* library = nullptr;

  [[nodiscard]] bool is_host() const noexcept { return kernels == &host::kKernels; }
  /// RuntimeError where a call of the table failed.
  void check(cuda::Error error, const char* verb) const;
};

/// What a library of arrays does for arrays of ours beside its own.
class DeviceLibrary {
 public:
  DeviceLibrary() = default;
  DeviceLibrary(const DeviceLibrary&) = delete;
  DeviceLibrary& operator=(const DeviceLibrary&) = delete;
  virtual ~DeviceLibrary() = default;

  /// A DeviceArray of fresh memory.
  [[nodiscard]] virtual py::object empty(const Place& place, const py::dtype& dtype,
                                         const Extents& shape) const = 0;
  /// Rows [begin, end) of the array `owner`, as a DeviceArray that shares them.
  [[nodiscard]] virtual py::object rows_between(const Place& place, py::handle owner, std::int64_t begin,
                                                std::int64_t end) const = 0;
  /// A DeviceArray of the numbers of `owner`, end to end.
  [[nodiscard]] virtual py::object contiguous(const Place& place, py::handle owner) const = 0;
};

/// Memory of `owner`, on a device.
struct DeviceArray {
  py::object owner;
  py::dtype dtype;
  Extents shape;
  Extents strides;  ///< in bytes
  void* data = nullptr;
  Place place;
};

/// The Python object of one.
[[nodiscard]] py::object device_array(DeviceArray&& array);
[[nodiscard]] bool is_device_array(PyObject* object) noexcept;
[[nodiscard]] DeviceArray& device_array_in(PyObject* object) noexcept;

/// The kernels of devices; null where there are none. They are looked for when this is first asked.
[[nodiscard]] const cuda::Kernels* kernels_of_devices();
/// Kernels that get all arrays and tensors of the host, whose memory they can read: for tests. Null: none.
[[nodiscard]] const cuda::Kernels* kernels_on_host() noexcept;

/// A DeviceArray over the memory of an array whose library was made known; null for other objects.
[[nodiscard]] py::object placed_array(py::handle object);

/// An array of the host over the memory of a DeviceArray, where kernels are tried there; else null.
[[nodiscard]] py::object readable_array(py::handle device_array);
/// An argument whose numbers the host can look at: itself, or the array under it; null for a DeviceArray that
/// hides them.
[[nodiscard]] py::object seen_argument(PyObject* argument);

/// Where the memory of an array of ours lies.
[[nodiscard]] Place place_of(const py::array& array) noexcept;

/// The place of the first DeviceArray among arguments; the host where there is none. Where kernels are tried
/// on the host, theirs if one of the arguments is an array.
[[nodiscard]] Place place_of_any(Inputs arguments) noexcept;

/// Rows on the host or on a device, C-contiguous.
[[nodiscard]] py::array as_placed_rows(py::handle object, const char* argument);

/// ValueError where an array of ours lies elsewhere.
void check_at(const Place& place, const py::array& array, std::string_view argument);

/// Rows beside others, C-contiguous: on the same device, or on the host where those are.
[[nodiscard]] py::array rows_at(const Place& place, py::handle object, const char* argument);

/// Fresh memory there.
[[nodiscard]] py::array empty_at(const Place& place, const py::dtype& dtype, const Extents& shape);

/// So many bytes there, for a kernel to use.
[[nodiscard]] py::array scratch_at(const Place& place, std::int64_t bytes);

/// The same for one call, which ends before this does on the host.
class ScratchAt {
 public:
  ScratchAt(const Place& place, std::int64_t bytes);
  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  Buffer buffer_;
  py::object array_;
  std::byte* data_ = nullptr;
};

/// Calls a kernel of the table at a place: without the GIL where the host moves many bytes, which are said in
/// `work`. RuntimeError or MemoryError where it failed, by the name of the verb.
template <class... Parameters, class... Args>
void launch(const Place& place, const char* verb, std::int64_t work,
            cuda::Error (*cuda::Kernels::*kernel)(cuda::Stream, Parameters...) noexcept, Args&&... args) {
  cuda::Error error = 0;
  {
    const GilRelease gil_release(place.is_host() ? work : 0);
    error = (place.kernels->*kernel)(place.stream, std::forward<Args>(args)...);
  }
  place.check(error, verb);
}

/// The same, for `count` rows like those of `like`.
[[nodiscard]] py::array rows_like_at(const Place& place, const py::array& like, std::int64_t count);

/// A view of rows [begin, end) of what as_placed_rows gave.
[[nodiscard]] py::array rows_between_at(const Place& place, const py::array& array, std::int64_t begin,
                                        std::int64_t end);

/// An output that the caller gave, at this place: see checked_out.
[[nodiscard]] py::array checked_out_at(const Place& place, std::string_view name, py::handle output,
                                       const py::dtype& dtype, const Extents& shape, Inputs inputs);

/// The output that the caller gave, or a fresh one there.
[[nodiscard]] py::array out_at(const Place& place, PyObject* given_out, const py::dtype& dtype,
                               const Extents& shape, Inputs inputs);

/// int64 at a place, one after another.
struct PlacedInts {
  py::object keep;
  const std::int64_t* data = nullptr;
  std::int64_t count = 0;
};

/// Those of the host: as they are, or copied there.
[[nodiscard]] PlacedInts ints_at(const Place& place, const Ints& numbers);
[[nodiscard]] PlacedInts ints_at(const Place& place, const std::int64_t* numbers, std::int64_t count);

/// Whether an argument lies on that device, where nobody looks at it.
[[nodiscard]] inline bool lies_there(const Place& place, PyObject* argument) noexcept {
  return !place.is_host() && is_device_array(argument);
}

/// Those of a DeviceArray that lies there, which nobody has looked at.
[[nodiscard]] PlacedInts ints_of_device(const Place& place, PyObject* array, const char* argument);

/// Bytes at a place.
struct PlacedBytes {
  py::object keep;
  const std::byte* data = nullptr;
};

/// Those of the host: as they are, or copied there.
[[nodiscard]] PlacedBytes bytes_at(const Place& place, const void* data, std::int64_t count);

/// A fill that repeats every `period` bytes, for rows of `width` bytes there: see cuda/fill.hpp; a row on the
/// host. `keep` owns
/// its memory where that is not the caller's.
[[nodiscard]] cuda::Fill fill_at(const Place& place, const std::byte* fill, std::int64_t period,
                                 std::int64_t width, py::object& keep);

}  // namespace varlen::bindings
