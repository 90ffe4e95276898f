// `_core.Dim` in C++: the model's Dim, and what was asked of it once.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "level/level.hpp"
#include "support/own_type.hpp"
#include "varlen/model/dim.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// Lengths that a Level of Python has: it is given back as it came, and stays on its device until it is read.
class LengthsOfLevel : public Lengths {
 public:
  explicit LengthsOfLevel(LevelRef level) : level_(std::move(level)) {}
  [[nodiscard]] std::int64_t count() const override { return LevelRef::unwrap(level_).count(); }
  [[nodiscard]] varlen::Level level() const override { return LevelRef::unwrap(level_).model(); }
  [[nodiscard]] const LevelRef& object() const noexcept { return level_; }

 private:
  LevelRef level_;
};

/// What Python holds.
struct DimObject {
  varlen::Dim dim;
  py::object name = {};  ///< the one that it was given, or none
  std::int64_t match_priority = 0;

  /// What was worked out, and as of when: a declaration may change it.
  struct Cache {
    std::uint64_t epoch = 0;
    DimValues values;
    LevelRef level;
    py::object lengths;
  };
  std::unique_ptr<Cache> cache = nullptr;

  [[nodiscard]] Cache& values();
  [[nodiscard]] LevelRef level();
};

using DimOwner = Own<DimObject>;

/// TypeError for what is no Dim.
DimObject& dim_of(py::handle object, const char* argument);
py::object new_dim(varlen::Dim dim, py::object name = {}, std::int64_t match_priority = 0);

/// The arguments of `_restored`, which makes an equal one.
py::tuple state_of(DimObject& self);
py::object restore_dim(const py::tuple& state);

std::string kind_name(DimKind kind);
DimKind kind_of(py::handle kind);
/// What keeps a Python object beside a name.
std::shared_ptr<void> companion_of(py::object object);
py::object object_of(const std::shared_ptr<void>& companion);

}  // namespace varlen::bindings
