// Arrays whose memory this machine cannot read: where they lie, and what computes there.
//
// To Python such an array is a DeviceArray, which shows a shape and a dtype and no numbers. In here it is an
// ndarray over that memory, so that shapes, dtypes and outputs are checked as any others are. Those ndarrays
// never leave: `outside` gives the DeviceArray in their place.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "arrays.hpp"
#include "fastcall.hpp"
#include "level.hpp"
#include "outputs.hpp"
#include "varlen/cuda/kernels.hpp"

namespace varlen::bindings {

namespace py = pybind11;

class DeviceLibrary;

/// The host, or a stream of a device, the table of what computes there, and whose memory it is.
struct Place {
  const cuda::Kernels* kernels = nullptr;
  cuda::Stream stream;
  const DeviceLibrary* library = nullptr;

  [[nodiscard]] bool is_host() const noexcept { return kernels == nullptr; }
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

/// Where the memory of an array of ours lies.
[[nodiscard]] Place place_of(const py::array& array) noexcept;

/// The place of the first DeviceArray among arguments; the host where there is none. Where kernels are tried
/// on the host, theirs if one of the arguments is an array.
[[nodiscard]] Place place_of_any(Inputs arguments) noexcept;

/// Rows on the host or on a device, C-contiguous.
[[nodiscard]] py::array as_placed_rows(py::handle object, const char* argument);

/// Fresh memory there.
[[nodiscard]] py::array empty_at(const Place& place, const py::dtype& dtype, const Extents& shape);

/// An output that the caller gave, at this place: see checked_out.
[[nodiscard]] py::array checked_out_at(const Place& place, std::string_view name, py::handle given,
                                       const py::dtype& dtype, const Extents& shape, Inputs inputs);

/// The ends of a level at a place: copied there at the first time, and kept.
[[nodiscard]] Offsets offsets_at(const Place& place, Level& level);

}  // namespace varlen::bindings
