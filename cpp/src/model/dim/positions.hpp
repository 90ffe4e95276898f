// Where the positions of some dims are among those of others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "varlen/model/memory.hpp"
#include "varlen/model/shape.hpp"

namespace varlen::dims {

/// Lengths that the model made itself.
class OwnLengths : public Lengths {
 public:
  explicit OwnLengths(Level level) : level_(std::move(level)) {}
  [[nodiscard]] std::int64_t count() const override { return level_.count(); }
  [[nodiscard]] Level level() const override { return level_; }

 private:
  Level level_;
};

/// For each position of dims that count up by `from` the place among those that count up by `to`, of which
/// each is one of the first: axes[q] says which.
Scratch<std::int64_t> places_of(const std::vector<Shape::Step>& from, const std::vector<Shape::Step>& to,
                                const std::vector<std::size_t>& axes);

}  // namespace varlen::dims
