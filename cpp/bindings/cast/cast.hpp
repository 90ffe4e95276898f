// Conversions of what lies on a device.
#pragma once

#include <pybind11/pybind11.h>

#include "support/device.hpp"
#include "support/dtypes.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// Whether the host can look at the numbers that lie there.
[[nodiscard]] bool is_seen_at(const Place& place) noexcept;

/// TypeError where numbers that nobody looks at may not fit the dtype that they are to have. Floats always
/// fit a float: those that are too large become infinite.
void refuse_unseen(const Place& place, const py::dtype& from, const py::dtype& to, bool touches_nan,
                   const char* argument);

/// The values as kernels read numbers: each at a multiple of its size.
[[nodiscard]] py::array aligned_at(const Place& place, const py::array& values);

/// The values in another dtype, with `nan` in the place of NaN; themselves where nothing changes.
[[nodiscard]] py::array cast_at(const Place& place, const py::array& values, const py::dtype& to,
                                const Fill& nan);

/// Into an array of the same shape and another dtype, or with `nan` in the place of NaN.
void cast_into(const Place& place, const py::array& values, const Fill& nan, py::array& out);

/// The bytes of the values in fresh memory.
[[nodiscard]] py::array copy_at(const Place& place, const py::array& values);

/// A bool for each of the values, which are floats: whether it is NaN.
[[nodiscard]] py::array nan_mask_at(const Place& place, const py::array& values);

}  // namespace varlen::bindings
