// What the functions of padding share: their levels, and what their arguments mean.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "level/level.hpp"
#include "support/device.hpp"
#include "varlen/model/small_vector.hpp"
#include "varlen/pad.hpp"
#include "varlen/views.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// Levels that hold together: each ends where the next one has its sequences, the last at `rows`.
struct Levels {
  SmallVector<Level*> objects;  ///< borrowed from the caller
  SmallVector<Offsets> views;

  [[nodiscard]] int depth() const { return static_cast<int>(views.size()); }
};

/// One Level or a sequence of them, for `rows` rows of values (below 0: any number) at a place. The views of
/// those that stay on a device show how many sequences there are, and no ends.
Levels levels_of(py::handle input, std::int64_t rows, const Place& place);

/// Their ends at a place.
SmallVector<Offsets> offsets_at(const Place& place, const Levels& levels);

using Sizes = SmallVector<std::int64_t>;

/// How large a rectangle is, and how much of the sequences goes into it.
struct Slots {
  Sizes sizes;        ///< of every level
  Sizes keeps;        ///< most rows of a sequence of every level
  bool cuts = false;  ///< whether a sequence is longer than that
};

/// Slots of every level: exactly so many, or as many as the longest sequence that is kept needs, rounded up.
/// Sequences are cut first: what rounding adds is fill.
Slots slots_of(const Levels& levels, PyObject* exact, PyObject* max_len, PyObject* multiple, Side cut);

/// Right where nothing was given.
Side side_or_right(PyObject* text, const char* argument);

/// unpad and mask_to_level.
void add_unpad(py::module_& m);

}  // namespace varlen::bindings
