#include "varlen/model/shape.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "positions.hpp"
#include "table.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen {

namespace {

/// What shapes of equal dims with the same lengths have in common, for as long as they live.
using Key = std::vector<std::intptr_t>;

std::intptr_t as_key(const void* address) {
  return reinterpret_cast<std::intptr_t>(address);
}

Key key_of(const std::vector<Axis>& axes) {
  Key key;
  key.reserve(axes.size() * 5);
  for (const Axis& axis : axes) {
    key.push_back(as_key(axis.dim.expression().normal_form().element()));
    key.push_back(axis.priority);
    if (axis.dim.bindings() != nullptr) {
      for (const auto& binding : *axis.dim.bindings()) {
        key.push_back(as_key(binding->name.element()));
        // Numbers are what they are, whoever bound them.
        const bool is_number = binding->over.empty();
        key.push_back(is_number ? binding->lengths->level().total() : as_key(binding.get()));
      }
    }
    key.push_back(0);
  }
  return key;
}

/// The shapes that are alive.
struct Registry {
  std::mutex mutex;
  std::uint64_t epoch = 0;
  std::map<Key, std::weak_ptr<const Shape>> shapes;
  std::size_t sweep_at = 64;

  void sweep() {
    if (shapes.size() < sweep_at) return;
    std::erase_if(shapes, [](const auto& entry) { return entry.second.expired(); });
    sweep_at = std::max<std::size_t>(64, 2 * shapes.size());
  }
};

Registry& registry() {
  static Registry* const instance = new Registry();  // shapes may outlive it
  return *instance;
}

bool is_same(const Dim& a, const Dim& b) {
  return a.expression() == b.expression();
}

}  // namespace

ShapeRef Shape::of(const std::vector<Axis>& axes, const char* argument) {
  const Key key = key_of(axes);
  Registry& all = registry();
  const std::uint64_t epoch = Expression::epoch();
  // Nobody waits: in a forked child, the one that is at it may not exist.
  if (const std::unique_lock lock(all.mutex, std::try_to_lock); lock.owns_lock()) {
    if (all.epoch != epoch) {
      all.shapes.clear();  // what was declared since may have made dims equal
      all.epoch = epoch;
    }
    if (const auto index = all.shapes.find(key); index != all.shapes.end()) {
      if (ShapeRef alive = index->second.lock(); alive != nullptr) return alive;
    }
  }
  ShapeRef result(new Shape(axes, argument));
  const std::unique_lock lock(all.mutex, std::try_to_lock);
  if (!lock.owns_lock() || all.epoch != epoch) return result;
  all.sweep();
  std::weak_ptr<const Shape>& slot = all.shapes[key];
  if (ShapeRef alive = slot.lock(); alive != nullptr) return alive;
  slot = result;
  return result;
}

Shape::Shape(const std::vector<Axis>& axes, const char* argument) {
  for (const Axis& axis : axes) add(axis, argument);
  spans_.resize((rank() + 1) * (rank() + 1));
}

void Shape::add(const Axis& axis, const char* argument) {
  for (const Axis& previous : axes_) {
    if (is_same(previous.dim, axis.dim) && previous.priority == axis.priority) {
      throw Error(Fault::value, argument,
                  dims::in_quotes(axis.dim) + " is in it twice; tell them apart by copy(match_priority=1)");
    }
  }
  std::int64_t extent = 0;
  std::int64_t count = 0;
  std::optional<Level> level;
  if (axis.dim.expression().is_static()) {
    extent = axis.dim.expression().size();
  } else {
    const DimValues values = axis.dim.values();
    if (values.over.empty()) {
      extent = values.lengths == nullptr ? values.numbers[0] : values.lengths->level().total();
    } else {
      for (const Dim& parent : values.over) {
        const std::size_t index = find({parent, 0});
        if (index == rank()) {
          throw Error(Fault::value, argument,
                      dims::in_quotes(axis.dim) + " has lengths over " + dims::in_quotes(parent) +
                          ", which has to come before it");
        }
        check_same_lengths(axes_[index].dim, parent);
      }
      level = level_over(values);
      count = level->total();
      // Of the rows that it has and of those that the dims before it lack.
      if (values.lengths != nullptr) extent = values.lengths->level().stats().longest;
      for (const std::int64_t length : values.numbers) extent = std::max(extent, length);
    }
  }
  if (!level && !checked_mul(counts_.back(), extent, count)) {
    dims::refuse_overflow("the number of positions");
  }
  axes_.push_back(axis);
  extents_.push_back(extent);
  counts_.push_back(count);
  levels_.push_back(std::move(level));
  if (levels_.back()) ragged_ = rank();
}

/// Lengths that are over some of the dims so far, for each position of all.
Level Shape::level_over(const DimValues& values) const {
  const auto fits = [](const Dim& dim, const Axis& axis) { return is_same(dim, axis.dim); };
  const bool is_all = std::equal(values.over.begin(), values.over.end(), axes_.begin(), axes_.end(), fits);
  if (is_all && values.lengths != nullptr) return values.lengths->level();
  if (is_all) return Level::from_lengths(values.numbers.data(), std::ssize(values.numbers));
  std::vector<Axis> parent;
  std::vector<std::size_t> indices;
  for (const Dim& dim : values.over) {
    parent.push_back({dim});
    indices.push_back(find(parent.back()));
  }
  const ShapeRef to = of(parent);
  const Scratch<std::int64_t> places = dims::places_of(steps(), to->steps(), indices);
  std::optional<Level> keep;
  const std::int64_t* numbers = values.numbers.data();
  if (values.lengths != nullptr) numbers = keep.emplace(values.lengths->level()).lengths();
  Scratch<std::int64_t> lengths(counts_.back());
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = numbers[places[i]];
  return Level::from_lengths(lengths.data(), counts_.back());
}

std::vector<std::size_t> Shape::arrange(const std::vector<Axis>& axes, bool is_static_last) {
  std::vector<std::vector<std::size_t>> parent(axes.size());
  std::vector<char> is_ahead(axes.size(), 0);  // of a dim whose lengths differ
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k].dim.expression().is_static()) continue;
    const DimValues values = axes[k].dim.values();
    if (!values.over.empty()) is_ahead[k] = 1;
    for (const Dim& dim : values.over) {
      const auto index =
          std::find_if(axes.begin(), axes.end(), [&](const Axis& x) { return is_same(x.dim, dim); });
      if (index == axes.end()) {
        throw Error(Fault::value, "dims",
                    dims::in_quotes(axes[k].dim) + " has lengths over " + dims::in_quotes(dim) +
                        ", which is not among them");
      }
      parent[k].push_back(static_cast<std::size_t>(index - axes.begin()));
      is_ahead[parent[k].back()] = 1;
    }
  }
  std::vector<std::size_t> order;
  std::vector<char> is_placed(axes.size(), 0);
  const auto place = [&](auto& self, std::size_t k) -> void {
    if (std::exchange(is_placed[k], 1) != 0) return;
    for (const std::size_t previous : parent[k]) self(self, previous);
    order.push_back(k);
  };
  const bool any = std::find(is_ahead.begin(), is_ahead.end(), 1) != is_ahead.end();
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (!is_static_last || !any || is_ahead[k] != 0) place(place, k);
  }
  for (std::size_t k = 0; k < axes.size(); ++k) place(place, k);
  return order;
}

Shape::Step Shape::step(std::size_t k) const {
  return {extents_[k], levels_[k] ? levels_[k]->offsets() : nullptr};
}

std::vector<Shape::Step> Shape::steps() const {
  std::vector<Step> steps;
  steps.reserve(rank());
  for (std::size_t k = 0; k < rank(); ++k) steps.push_back(step(k));
  return steps;
}

Level Shape::span(std::size_t first, std::size_t end) const {
  if (end == first + 1 && levels_[first]) return *levels_[first];
  const std::unique_lock lock(spanning_, std::try_to_lock);
  std::optional<Level>* const slot = lock.owns_lock() ? &spans_[first * (rank() + 1) + end] : nullptr;
  if (slot != nullptr && *slot) return **slot;
  Buffer offsets = buffer_of(counts_[first] + 1, sizeof(std::int64_t));
  auto* const out = offsets.as<std::int64_t>();
  for (std::int64_t i = 0; i <= counts_[first]; ++i) {
    out[i] = i;
    for (std::size_t k = first; k < end; ++k) out[i] = step(k).first(out[i]);
  }
  const Level level = Level::trust(std::move(offsets));
  if (slot != nullptr) *slot = level;
  return level;
}

std::vector<std::int64_t> Shape::array_shape() const {
  std::vector<std::int64_t> shape;
  if (ragged_ > 0) shape.push_back(counts_[ragged_]);
  shape.insert(shape.end(), extents_.begin() + static_cast<std::ptrdiff_t>(ragged_), extents_.end());
  return shape;
}

std::size_t Shape::place_of(const Axis& axis) const noexcept {
  for (std::size_t k = 0; k < rank(); ++k) {
    if (axes_[k].priority == axis.priority && is_same(axes_[k].dim, axis.dim)) return k;
  }
  return find(axis);
}

std::size_t Shape::find(const Axis& axis) const noexcept {
  std::size_t best = rank();
  for (std::size_t k = 0; k < rank(); ++k) {
    if (!is_same(axes_[k].dim, axis.dim)) continue;
    if (axis.priority != 0 && axes_[k].priority == axis.priority) return k;
    if (best == rank() || axes_[k].priority > axes_[best].priority) best = k;
  }
  return best;
}

}  // namespace varlen
