// What ops on named axes are planned by: how values of one shape line up with another, the shape of two
// together, and what is left when dims go.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "positions.hpp"
#include "table.hpp"
#include "varlen/model/shape.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen {

using dims::places_of;

namespace {

bool is_ordered(const std::vector<std::size_t>& order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != i) return false;
  }
  return true;
}

/// One dim that two shapes have: whether the second one says more of its lengths. LengthMismatch where they
/// differ; one extent goes with all lengths up to it.
bool is_second_better(const Shape& a, std::size_t i, const Shape& b, std::size_t j) {
  const Dim& x = a.axes()[i].dim;
  const Dim& y = b.axes()[j].dim;
  if (a.is_ragged(i) && b.is_ragged(j)) {
    check_same_lengths(x, y);
    return false;
  }
  const bool fits = a.is_ragged(i)   ? a.extent(i) <= b.extent(j)
                    : b.is_ragged(j) ? b.extent(j) <= a.extent(i)
                                     : a.extent(i) == b.extent(j);
  if (!fits) {
    const auto text = [](const Shape& shape, std::size_t k) {
      return std::string(shape.is_ragged(k) ? "up to " : "") + std::to_string(shape.extent(k));
    };
    throw LengthMismatch(dims::in_quotes(x.expression().text()) + " is " + text(a, i) + " long in one and " +
                         text(b, j) + " in the other");
  }
  return b.is_ragged(j);
}

}  // namespace

std::vector<std::size_t> Shape::transposition(const std::vector<std::size_t>& order) const {
  if (is_ordered(order)) return {};
  std::vector<std::size_t> axes;
  if (ragged_ > 0) axes.push_back(0);
  const std::size_t first = axes.size();
  for (std::size_t i = ragged_; i < rank(); ++i) axes.push_back(order[i] - ragged_ + first);
  return axes;
}

Shape::Alignment Shape::alignment_of(const Shape& other) const {
  if (&other == this) return {};
  std::vector<std::size_t> matches;
  std::size_t front = ragged_;
  for (std::size_t i = 0; i < other.rank(); ++i) {
    matches.push_back(place_of(other.axes_[i]));
    if (matches[i] == rank()) {
      throw Error(Fault::value, dims::in_quotes(other.axes_[i].dim.expression().text()) +
                                    " is not among the dims that values are brought to");
    }
    is_second_better(*this, matches[i], other, i);
    if (i < other.ragged_) front = std::max(front, matches[i] + 1);
  }
  std::vector<std::size_t> order(other.rank());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin() + static_cast<std::ptrdiff_t>(other.ragged_), order.end(),
            [&](std::size_t x, std::size_t y) { return matches[x] < matches[y]; });
  Alignment plan;
  plan.permutation = other.transposition(order);
  std::size_t rows = 0;  // dims of the other that count rows here
  while (rows < order.size() && matches[order[rows]] < front) ++rows;
  std::vector<std::int64_t> tail;
  std::vector<std::int64_t> shape;
  for (std::size_t q = rows; q < order.size(); ++q) tail.push_back(other.extents_[order[q]]);
  if (front > 0) {
    shape.push_back(rows == 0 ? 1 : counts_[ragged_]);
    for (std::size_t k = ragged_; k < front; ++k) shape.push_back(rows == 0 ? 1 : extents_[k]);
  }
  std::size_t next = rows;
  for (std::size_t k = front; k < rank(); ++k) {
    const bool has = next < order.size() && matches[order[next]] == k;
    shape.push_back(has ? extents_[k] : 1);
    if (has) ++next;
  }
  std::size_t axes = tail.size();  // of the array as it is by then
  if (rows > 0) {
    axes += 1;
    bool is_prefix = true;
    std::vector<Step> to;
    std::vector<std::size_t> place;
    std::int64_t count = 1;
    for (std::size_t q = 0; q < rows; ++q) {
      const std::size_t i = order[q];
      to.push_back(other.step(i));
      place.push_back(matches[i]);
      count = to.back().first(count);
      is_prefix = is_prefix && matches[i] == q && is_ragged(q) == other.is_ragged(i);
    }
    if (rows != other.ragged_ || !plan.permutation.empty()) {
      plan.flat.push_back(count);
      plan.flat.insert(plan.flat.end(), tail.begin(), tail.end());
    }
    if (!is_prefix) {
      std::vector<Step> from;
      from.reserve(front);
      for (std::size_t k = 0; k < front; ++k) from.push_back(step(k));
      plan.places = places_of(from, to, place);
    } else if (rows < front) {
      plan.repeats = span(rows, front);
    }
  }
  if (axes != shape.size()) plan.shape = std::move(shape);
  return plan;
}

ShapeRef Shape::union_of(const ShapeRef& a, const ShapeRef& b) {
  if (a == b) return a;
  std::vector<Axis> axes = a->axes_;
  std::vector<std::size_t> targets(b->rank());
  bool is_a = true;
  bool is_b = true;
  std::size_t common = 0;
  for (std::size_t j = 0; j < b->rank(); ++j) {
    targets[j] = a->place_of(b->axes_[j]);
    if (targets[j] == a->rank()) continue;
    ++common;
    if (is_second_better(*a, targets[j], *b, j)) {
      axes[targets[j]].dim = b->axes_[j].dim;
      is_a = false;
    } else if (a->is_ragged(targets[j]) && !b->is_ragged(j)) {
      is_b = false;
    }
  }
  if (is_a && common == b->rank()) return a;
  if (is_b && common == a->rank()) return b;
  if (common == a->rank() && common < b->rank()) {
    // In the order of b, with what a knows better.
    std::vector<Axis> axes_out = b->axes_;
    for (std::size_t j = 0; j < b->rank(); ++j) {
      if (targets[j] != a->rank()) axes_out[j].dim = axes[targets[j]].dim;
    }
    axes = std::move(axes_out);
  } else {
    // Rows of both first, then the axes of rows.
    std::vector<Axis> axes_out(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(a->ragged_));
    const auto add = [&](std::size_t first, std::size_t end) {
      for (std::size_t j = first; j < end; ++j) {
        if (targets[j] == a->rank()) axes_out.push_back(b->axes_[j]);
      }
    };
    add(0, b->ragged_);
    axes_out.insert(axes_out.end(), axes.begin() + static_cast<std::ptrdiff_t>(a->ragged_), axes.end());
    add(b->ragged_, b->rank());
    axes = std::move(axes_out);
  }
  std::vector<Axis> sorted_axes;
  for (const std::size_t k : arrange(axes, false)) sorted_axes.push_back(axes[k]);
  return of(sorted_axes);
}

namespace {

/// The dim k of a shape that is over a dim that goes: as long as the longest, over those that stay.
Dim shrunk(const Shape& shape, std::size_t k, const std::vector<Axis>& stay) {
  const Dim& dim = shape.axes()[k].dim;
  if (!shape.is_ragged(k)) return dim;
  const DimValues values = dim.values();
  std::vector<Axis> parents;
  std::vector<Axis> rest;
  std::vector<std::size_t> matches;
  bool is_whole = true;
  for (const Dim& parent : values.over) {
    const std::size_t place = shape.find({parent, 0});
    parents.push_back(shape.axes()[place]);
    const auto is_same = [&](const Axis& x) { return x.dim.expression() == parent.expression(); };
    const auto match = std::find_if(stay.begin(), stay.end(), is_same);
    if (match == stay.end()) {
      is_whole = false;
      continue;
    }
    // One that is as it was is over the same; one that became longer has to be asked again.
    is_whole = is_whole && match->dim.bindings() == shape.axes()[place].dim.bindings();
    matches.push_back(parents.size() - 1);
    rest.push_back(*match);
  }
  if (is_whole) return dim;
  const ShapeRef source = Shape::of(parents);
  const ShapeRef target = Shape::of(rest);
  const std::size_t n = target->rank();
  Scratch<std::int64_t> longest(target->count(n));
  std::fill_n(longest.data(), longest.size(), 0);
  const Scratch<std::int64_t> places = places_of(source->steps(), target->steps(), matches);
  const Level level = values.lengths == nullptr
                          ? Level::from_lengths(values.numbers.data(), std::ssize(values.numbers))
                          : values.lengths->level();
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::int64_t& maximum = longest[static_cast<std::size_t>(places[i])];
    maximum = std::max(maximum, level.view().length(static_cast<std::int64_t>(i)));
  }
  if (rest.empty()) return Dim::scalar(dim.expression().normal_form(), longest[0]);
  std::vector<Dim> dims;
  dims.reserve(rest.size());
  for (const Axis& axis : rest) dims.push_back(axis.dim);
  return Dim::bound(
      dim.expression().normal_form(), std::move(dims),
      std::make_shared<dims::OwnLengths>(Level::from_lengths(longest.data(), target->count(n))));
}

}  // namespace

Shape::Group Shape::group(const std::vector<bool>& is_reduced) const {
  // Dims that count positions first: those of the ragged part, then the rest that goes, then what stays.
  std::vector<std::size_t> drops;
  std::vector<std::size_t> stays;
  for (std::size_t k = ragged_; k < rank(); ++k) (is_reduced[k] ? drops : stays).push_back(k);
  const auto any = [&](std::size_t first, std::size_t end) {
    return std::find(is_reduced.begin() + static_cast<std::ptrdiff_t>(first),
                     is_reduced.begin() + static_cast<std::ptrdiff_t>(end),
                     true) != is_reduced.begin() + static_cast<std::ptrdiff_t>(end);
  };
  std::vector<std::size_t> order(ragged_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Group plan;
  plan.front = ragged_ + drops.size();
  if (any(0, ragged_)) {
    order.insert(order.end(), drops.begin(), drops.end());
    order.insert(order.end(), stays.begin(), stays.end());
  } else if (drops.empty() || drops.back() - drops.front() + 1 == drops.size()) {
    for (std::size_t k = ragged_; k < rank(); ++k) order.push_back(k);
    plan.front = drops.empty() ? ragged_ : drops.back() + 1;
  } else {
    order.insert(order.end(), stays.begin(), stays.end());
    order.insert(order.end(), drops.begin(), drops.end());
    plan.front = rank();
  }
  plan.permutation = transposition(order);
  std::vector<Axis> match;
  for (std::size_t k = 0; k < rank(); ++k) {
    if (is_reduced[k]) continue;
    Axis axis = axes_[k];
    axis.dim = shrunk(*this, k, match);
    match.push_back(std::move(axis));
  }
  plan.rest = of(match);
  std::vector<Step> from;
  std::vector<std::size_t> matches;
  bool is_suffix = true;
  for (std::size_t i = 0; i < plan.front; ++i) {
    from.push_back(step(order[i]));
    if (is_reduced[order[i]]) continue;
    is_suffix = is_suffix && matches.size() == i;
    matches.push_back(i);
  }
  const std::int64_t groups = plan.rest->count(matches.size());
  if (is_suffix) {
    if (plan.permutation.empty()) {
      plan.level = span(matches.size(), plan.front);
    } else {
      Buffer offsets = buffer_of(groups + 1, sizeof(std::int64_t));
      auto* const out = offsets.as<std::int64_t>();
      for (std::int64_t i = 0; i <= groups; ++i) {
        out[i] = std::accumulate(from.begin() + std::ssize(matches), from.end(), i,
                                 [](std::int64_t place, const Step& step) { return step.first(place); });
      }
      plan.level = Level::trust(std::move(offsets));
    }
    return plan;
  }
  std::vector<Step> to = plan.rest->steps();
  to.resize(matches.size());
  const Scratch<std::int64_t> places = places_of(from, to, matches);
  Buffer offsets = buffer_of(groups + 1, sizeof(std::int64_t));
  auto* const ends = offsets.as<std::int64_t>();
  std::fill_n(ends, groups + 1, 0);
  for (std::size_t i = 0; i < places.size(); ++i) ++ends[places[i] + 1];
  std::partial_sum(ends, ends + groups + 1, ends);
  Scratch<std::int64_t> next(groups);
  std::copy_n(ends, groups, next.data());
  plan.order.emplace(static_cast<std::int64_t>(places.size()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    (*plan.order)[static_cast<std::size_t>(next[static_cast<std::size_t>(places[i])]++)] =
        static_cast<std::int64_t>(i);
  }
  plan.level = Level::trust(std::move(offsets));
  return plan;
}

}  // namespace varlen
