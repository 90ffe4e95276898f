// `_core.Level` in C++: the model's Level, with NumPy arrays over its memory.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ndarray.hpp"
#include "varlen/model/level.hpp"

namespace varlen::bindings {

namespace py = pybind11;

class Level;
struct Place;

/// A Python object that is a Level.
class LevelRef : public py::object {
 public:
  PYBIND11_OBJECT_DEFAULT(LevelRef, py::object, is_level)
  explicit LevelRef(Level&& level);
  /// The one Python object of a level.
  explicit LevelRef(const varlen::Level& model);

  /// Of an object that is_level said yes to.
  [[nodiscard]] static Level& in(py::handle object) noexcept;
  [[nodiscard]] static bool is_level(PyObject* object) noexcept;
  /// TypeError for an object that is none.
  static void expect(py::handle object, const char* argument, const char* what = "a Level") {
    if (!is_level(object.ptr())) refuse(object, argument, what);
  }

  Level* operator->() const noexcept { return &in(*this); }

 private:
  [[noreturn]] static void refuse(py::handle object, const char* argument, const char* what);
};

/// A level that is to be: its first offset, 0, is there, the n ends are to be written.
class NewLevel {
 public:
  explicit NewLevel(std::int64_t n) : memory_(buffer_of(n + 1, sizeof(std::int64_t))) { *offsets() = 0; }

  [[nodiscard]] std::int64_t* offsets() noexcept { return memory_.as<std::int64_t>(); }
  [[nodiscard]] const std::int64_t* offsets() const noexcept { return memory_.as<std::int64_t>(); }
  [[nodiscard]] std::int64_t* ends() noexcept { return offsets() + 1; }
  [[nodiscard]] Offsets view() const noexcept {
    return {offsets() + 1, memory_.size() / static_cast<std::int64_t>(sizeof(std::int64_t)) - 1};
  }

  /// The Level of the ends as they stand: good ones, which are not checked again.
  [[nodiscard]] LevelRef done() &&;

 private:
  Buffer memory_;
};

/// The model's Level, and the arrays of it that Python was given: they share its memory, and are made once.
class Level {
 public:
  explicit Level(varlen::Level model) noexcept : model_(std::move(model)) {}
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  Level(Level&&) noexcept = default;
  Level& operator=(Level&&) = delete;
  ~Level() {
    if (self_ != nullptr) model_.set_companion(nullptr);
  }

  static LevelRef from_lengths(py::handle lengths, const char* argument = "lengths");
  static LevelRef from_offsets(py::handle offsets, const char* argument = "offsets");
  static LevelRef from_bounds(py::handle bounds, const char* argument = "bounds");
  static LevelRef from_row_ids(py::handle row_ids, std::int64_t count, const char* argument = "row_ids");

  [[nodiscard]] const varlen::Level& model() const noexcept { return model_; }
  [[nodiscard]] Offsets view() const noexcept { return model_.view(); }
  [[nodiscard]] std::int64_t count() const noexcept { return model_.count(); }
  [[nodiscard]] std::int64_t total() const noexcept { return model_.total(); }
  [[nodiscard]] LevelStats stats() const noexcept { return model_.stats(); }

  [[nodiscard]] const py::array& offsets();
  [[nodiscard]] py::array bounds();
  [[nodiscard]] const py::array& lengths();
  /// As int32: OverflowError where a number does not fit.
  [[nodiscard]] const py::array& lengths32();
  [[nodiscard]] const py::array& offsets32();
  [[nodiscard]] const py::array& row_ids();
  [[nodiscard]] const py::array& positions();
  /// The offsets as a tensor, for a compiler whose programs take those alone. Made once, by what was given to
  /// make_tensors_by; the core knows no kind of tensor.
  [[nodiscard]] const py::object& tensor();
  static void make_tensors_by(py::object make);

  /// The ends in memory of a device, for work on one stream of it: copied there once.
  [[nodiscard]] const std::int64_t* ends_at(const Place& place);

  [[nodiscard]] LevelRef compose(const Level& below) const;

  [[nodiscard]] bool equals(const Level& other) const noexcept { return model_ == other.model_; }

 private:
  friend class LevelRef;

  template <class T, class Numbers>
  const py::array& shared(std::optional<py::array>& slot, std::int64_t count, Numbers numbers);

  varlen::Level model_;
  PyObject* self_ = nullptr;  ///< the object that this lies in, borrowed
  py::object owner_;          ///< what the arrays keep alive, once there is one
  std::optional<py::array> offsets_;
  std::optional<py::array> lengths_;
  std::optional<py::array> lengths32_;
  std::optional<py::array> offsets32_;
  std::optional<py::array> row_ids_;
  std::optional<py::array> positions_;
  py::object tensor_;
  std::unique_ptr<std::vector<py::array>> placed_;  ///< the ends on devices; most levels never go there
};

}  // namespace varlen::bindings
