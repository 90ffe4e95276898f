// Level, the object: checked ends with an owner, and what was worked out of them once.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>

#include "varlen/offsets.hpp"
#include "varlen/views.hpp"

namespace varlen::bindings {

namespace py = pybind11;

class Level;

/// A Python object that is a Level.
class LevelRef : public py::object {
 public:
  PYBIND11_OBJECT_DEFAULT(LevelRef, py::object, is_level)
  explicit LevelRef(Level&& level);

  /// Of an object that is_level said yes to.
  [[nodiscard]] static Level& in(py::handle object) noexcept;
  [[nodiscard]] static bool is_level(PyObject* object) noexcept;

  Level* operator->() const noexcept { return &in(*this); }
};

/// Immutable and shared. Its offsets were checked when it was made and are owned here.
class Level {
 public:
  /// `offsets` holds n + 1 checked int64, frozen, and nobody else's to write.
  explicit Level(py::array offsets);

  static LevelRef from_lengths(py::handle lengths, const char* argument = "lengths");
  static LevelRef from_offsets(py::handle offsets, const char* argument = "offsets");
  static LevelRef from_bounds(py::handle bounds, const char* argument = "bounds");
  static LevelRef from_row_ids(py::handle row_ids, std::int64_t count, const char* argument = "row_ids");
  /// n + 1 offsets that the core itself made, and what it learnt of them: not checked again.
  static LevelRef trusted(py::array offsets, std::optional<LevelStats> stats = {});

  [[nodiscard]] Offsets view() const noexcept { return view_; }
  [[nodiscard]] std::int64_t count() const noexcept { return view_.count; }
  [[nodiscard]] std::int64_t total() const noexcept { return view_.total(); }
  [[nodiscard]] LevelStats stats();

  [[nodiscard]] const py::array& offsets() const noexcept { return offsets_; }
  [[nodiscard]] py::array bounds() const;
  [[nodiscard]] py::array lengths();
  /// As int32: OverflowError where a number does not fit.
  [[nodiscard]] py::array lengths32();
  [[nodiscard]] py::array offsets32();
  [[nodiscard]] py::array row_ids();
  [[nodiscard]] py::array positions();

  [[nodiscard]] bool equals(const Level& other) const noexcept;

 private:
  py::array offsets_;
  Offsets view_;
  bool known_ = false;
  LevelStats stats_;
  py::object lengths_;
  py::object lengths32_;
  py::object offsets32_;
  py::object row_ids_;
  py::object positions_;
};

}  // namespace varlen::bindings
