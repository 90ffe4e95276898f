// `_core.Level` in C++: the model's Level, with NumPy arrays over its memory, and its numbers at other
// places.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "support/ndarray.hpp"
#include "varlen/model/level.hpp"

namespace varlen::bindings {

namespace py = pybind11;

class Level;
struct Place;

/// What the host knows of numbers that lie on a device, and nobody has looked at.
struct Hidden {
  std::int64_t count = 0;
  std::int64_t total = -1;    ///< below 0: not known
  std::int64_t max_len = -1;  ///< what no length exceeds; below 0: not known
  bool is_seen = false;       ///< the host has the numbers by now

  Hidden() = default;
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;
  virtual ~Hidden() = default;
};

/// A Python object that is a Level.
class LevelRef : public py::object {
 public:
  PYBIND11_OBJECT_DEFAULT(LevelRef, py::object, is_level)
  explicit LevelRef(Level&& level);
  /// The one Python object of a level.
  explicit LevelRef(const varlen::Level& model);

  /// Of an object that is_level said yes to.
  [[nodiscard]] static Level& unwrap(py::handle object) noexcept;
  [[nodiscard]] static bool is_level(PyObject* object) noexcept;
  /// TypeError for an object that is none.
  static void expect(py::handle object, const char* argument, const char* what = "a Level") {
    if (!is_level(object.ptr())) refuse(object, argument, what);
  }

  Level* operator->() const noexcept { return &unwrap(*this); }

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
  [[nodiscard]] LevelRef finish() &&;

 private:
  Buffer memory_;
};

/// The model's Level, and the arrays of it that Python was given: they share its memory, and are made once.
class Level {
 public:
  explicit Level(varlen::Level model) noexcept : model_(std::move(model)) {}
  explicit Level(std::unique_ptr<Hidden> hidden) : hidden_(std::move(hidden)) {}
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
  /// Of n + 1 offsets that `owner` keeps and nobody writes to: shared. The first is 0, and the last is
  /// checked here against `limit`; those between are checked when somebody first needs the numbers.
  static LevelRef from_foreign(const std::int64_t* offsets, std::int64_t n, std::int64_t limit,
                               const py::object& owner);

  // Numbers that lie on a device come to the host when they are first asked for, which waits for the device.
  [[nodiscard]] const varlen::Level& model() {
    see();
    return model_;
  }
  [[nodiscard]] Offsets view() {
    see();
    return model_.view();
  }
  [[nodiscard]] LevelStats stats() {
    if (hidden_ != nullptr) return stats_there();
    see();
    return model_.stats();
  }

  // Facts wait for nothing: those that the host does not know are a ValueError, as are those of numbers that
  // a kernel has found to lie.
  [[nodiscard]] std::int64_t count() const noexcept { return is_hidden() ? hidden_->count : model_.count(); }
  [[nodiscard]] std::int64_t total() { return is_hidden() ? hidden_total() : model_.total(); }
  [[nodiscard]] std::int64_t longest() { return is_hidden() ? hidden_longest() : stats().longest; }
  [[nodiscard]] std::int64_t shortest();

  /// Whether the numbers come from a device, seen by now or not.
  [[nodiscard]] bool is_of_device() const noexcept { return hidden_ != nullptr; }
  /// Whether the numbers lie on a device, and the host has none of them.
  [[nodiscard]] bool is_hidden() const noexcept { return hidden_ != nullptr && !hidden_->is_seen; }
  [[nodiscard]] bool knows_total() const noexcept { return said_total() >= 0; }
  /// How many rows there are, as far as the host knows: below 0 where it does not.
  [[nodiscard]] std::int64_t said_total() const noexcept {
    return is_hidden() ? hidden_->total : model_.total();
  }
  /// Whether there are so many rows in all; where nobody knew, this is how many there have to be from now on.
  [[nodiscard]] bool fits(std::int64_t rows) { return is_hidden() ? hidden_fits(rows) : total() == rows; }
  /// What no length exceeds, as far as the host knows.
  [[nodiscard]] std::int64_t length_limit() { return is_hidden() ? hidden_limit() : stats().longest; }
  /// The bound that was said of lengths which the host does not have; below 0: none.
  [[nodiscard]] std::int64_t bound() const noexcept { return is_hidden() ? hidden_->max_len : -1; }
  /// Whether no length exceeds `limit`; where nobody knew, none may from now on.
  [[nodiscard]] bool keeps_to(std::int64_t limit) {
    return is_hidden() ? hidden_keeps_to(limit) : stats().longest <= limit;
  }
  /// The host has the numbers from here on; those that lie are a ValueError.
  void see() {
    if (is_hidden()) download();
    if (foreign_limit_ >= 0) check_foreign();
  }
  /// The same, and no bound of a level that was made in a graph stands for its longest length any more.
  void sync();

  [[nodiscard]] const py::array& offsets();
  [[nodiscard]] py::array bounds();
  [[nodiscard]] const py::array& lengths();
  /// As int32: OverflowError where a number does not fit.
  [[nodiscard]] const py::array& lengths32();
  [[nodiscard]] const py::array& offsets32();
  [[nodiscard]] const py::array& row_ids();
  [[nodiscard]] const py::array& positions();
  /// The offsets as a tensor, for a compiler whose programs take those alone. Made once.
  [[nodiscard]] const py::object& tensor();

  /// The ends in memory of a device, for work on one stream of it: copied there once. The first offset, 0, is
  /// in front of them.
  [[nodiscard]] const std::int64_t* ends_at(const Place& place);

  [[nodiscard]] LevelRef compose(Level& child);

  [[nodiscard]] bool equals(Level& other);

  /// Of integers that lie on a device; -1 for what is not known.
  static LevelRef from_device(const py::array& numbers, bool are_offsets, std::int64_t total,
                              std::int64_t max_len, const char* argument);
  /// The same of what a kernel worked out of other levels, whose lies this one tells too.
  static LevelRef from_kernel(const py::array& numbers, bool are_offsets, std::int64_t total,
                              std::int64_t max_len, const std::vector<LevelRef>& origins);
  /// Where the numbers of a level that is_of_device lie.
  [[nodiscard]] const Place& hidden_place() const noexcept;

 private:
  friend class LevelRef;

  template <class T, class Numbers>
  const py::array& shared_array(std::optional<py::array>& slot, std::int64_t count, Numbers numbers);

  [[nodiscard]] std::int64_t hidden_total();
  [[nodiscard]] std::int64_t hidden_longest();
  [[nodiscard]] std::int64_t hidden_limit() const;
  [[nodiscard]] LevelStats stats_there();
  [[nodiscard]] bool hidden_fits(std::int64_t rows);
  [[nodiscard]] bool hidden_keeps_to(std::int64_t limit);
  /// Whether a kernel has said by now that the hidden numbers lie, or those that they come from.
  [[nodiscard]] bool is_told() const noexcept;
  /// Raises what a kernel has said by now.
  void tell();
  void download();
  void check_foreign();
  [[nodiscard]] LevelRef compose_there(Level& child);

  /// A copy of the offsets for work on a stream; in a graph that captures it, one of its own.
  struct Copy {
    py::array memory;
    const std::int64_t* offsets = nullptr;
    std::uint64_t capture = 0;
  };

  varlen::Level model_;
  std::int64_t foreign_limit_ = -1;  ///< what no offset exceeds, of those that nobody has checked yet
  std::unique_ptr<Hidden> hidden_;
  PyObject* self_ = nullptr;  ///< the object that this lies in, borrowed
  py::object owner_;          ///< what the arrays keep alive, once there is one
  std::optional<py::array> offsets_;
  std::optional<py::array> lengths_;
  std::optional<py::array> lengths32_;
  std::optional<py::array> offsets32_;
  std::optional<py::array> row_ids_;
  std::optional<py::array> positions_;
  py::object tensor_;
  std::unique_ptr<std::vector<Copy>> copies_;  ///< the offsets on devices; most levels never go there
};

/// A Level over `rows` rows of the argument `name`; below 0: over any number.
LevelRef level_over(PyObject* argument, const char* name, std::int64_t rows);

/// A Level of as many sequences as the argument `name` has rows.
LevelRef level_of_rows(PyObject* argument, const char* name, std::int64_t rows);

/// The ends of a level at a place: copied there at the first time, and kept.
[[nodiscard]] Offsets offsets_at(const Place& place, Level& level);

/// A level of as many sequences as there are lengths, which a kernel wrote there. The one thing that waits
/// for a device: how many rows an output has is asked of it.
[[nodiscard]] LevelRef level_of_lengths_at(const Place& place, const std::int64_t* lengths,
                                           std::int64_t count);

}  // namespace varlen::bindings
