// What functions that lay rows and levels end to end have in common.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <vector>

#include "level/level.hpp"
#include "support/device.hpp"
#include "varlen/concat.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// Whether the first of some arrays lies on a device.
[[nodiscard]] bool lie_on_device(const py::sequence& arrays);

struct JoinedRows {
  py::array values;
  LevelRef level;  ///< of the lengths of the arrays
};

/// The rows of arrays of one device, in `dtype` where it is not None, and in `out` where that is given.
[[nodiscard]] JoinedRows join_there(const py::sequence& arrays, const char* name,
                                    const py::object& dtype = py::none(), PyObject* out = nullptr);

/// Memory of a place, one block after another.
void concat_at(const Place& place, const std::vector<ConcatBlock>& blocks, std::byte* out);

/// Whether the numbers of one of the levels lie on a device alone.
[[nodiscard]] bool has_hidden(const std::vector<LevelRef>& levels);

/// The offsets of levels of the host.
[[nodiscard]] std::vector<Offsets> views_of(const std::vector<LevelRef>& levels);

/// Levels one after another, as one: of hidden ones on their device, which nobody waits for.
[[nodiscard]] LevelRef concat_levels(const std::vector<LevelRef>& levels);

/// The level of sequence i of all levels end to end, `total` rows in all: worked out on a device.
[[nodiscard]] LevelRef interleave_levels_at(const Place& place, const std::vector<LevelRef>& levels,
                                            std::int64_t total);

}  // namespace varlen::bindings
