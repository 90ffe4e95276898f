// Time-major blocks: the three arrays that go with one, made or checked.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "level/level.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/dtypes.hpp"
#include "support/ndarray.hpp"
#include "varlen/cuda/pack.hpp"
#include "varlen/pack.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// int64, read-only, and in themselves consistent.
struct PackFields {
  py::array size_at_t;
  py::array lengths;
  py::array indices;

  [[nodiscard]] Steps steps(bool padded) const;
  [[nodiscard]] const std::int64_t* order() const;
  /// The level of the sequences in their original order.
  [[nodiscard]] NewLevel level() const;
};

/// Of the sequences of a checked level, of which `longest` is the longest.
PackFields pack_order_of(Offsets level, std::int64_t longest, Ties ties);

/// Values, the Level over them, and how they lie in memory.
struct PackSource {
  py::array values;
  Level* level;
  Rows rows;

  PackSource(PyObject* given_values, PyObject* given_level);
  [[nodiscard]] Extents row() const;
};

/// What a caller says of the sequences of a level: size_at_t, lengths and indices, which have to be its.
PackFields pack_fields_of(PyObject* input, Offsets level);

/// What a caller says of a block of `steps` times `columns` slots, below 0: as many as there are entries.
/// Sizes that are None are counted.
/// int64 arrays that nobody can write are taken as they are, others are copied.
PackFields pack_fields_of(py::handle size_at_t, py::handle lengths, py::handle indices, std::int64_t steps,
                          std::int64_t columns);

/// What kernels of a device read of a block, `total` rows of which are taken.
struct PlacedSteps {
  LevelRef packed;  ///< the steps as sequences of packed rows
  cuda::Steps view;

  PlacedSteps(const Place& place, const PackFields& fields, bool padded, std::int64_t total);
};

/// Values to a block of these fields, or to packed rows: what `out` has room for.
void pack_at(const Place& place, const PackSource& from, const PackFields& fields, bool padded,
             const Fill& fill, py::array& out);

/// "stable" or "reversed"; reversed where nothing was given.
Ties ties_of(PyObject* text);

}  // namespace varlen::bindings
