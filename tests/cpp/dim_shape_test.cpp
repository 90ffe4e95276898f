// Shapes: how values of some dims line up with others, what comes together when dims go, against positions
// that are written down one by one.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "varlen/model/shape.hpp"

namespace {

using varlen::Axis;
using varlen::Dim;
using varlen::Error;
using varlen::Expression;
using varlen::LengthMismatch;
using varlen::Level;
using varlen::Shape;
using varlen::ShapeRef;
using Position = std::vector<std::int64_t>;

class OfLevel : public varlen::Lengths {
 public:
  explicit OfLevel(Level level) : level_(std::move(level)) {}
  [[nodiscard]] std::int64_t count() const override { return level_.count(); }
  [[nodiscard]] Level level() const override { return level_; }

 private:
  Level level_;
};

Dim dim_of_size(const char* name, std::int64_t size) {
  return Dim(Expression::generator({.name = name, .size = size}));
}

Dim bound(const Expression& name, const std::vector<Dim>& over, const std::vector<std::int64_t>& lengths) {
  const Level level = Level::from_lengths(lengths.data(), std::ssize(lengths));
  return Dim::bound(name, over, std::make_shared<OfLevel>(level));
}

std::vector<Axis> axes_of(const std::vector<Dim>& dims) {
  std::vector<Axis> axes;
  for (const Dim& dim : dims) axes.push_back({dim});
  return axes;
}

ShapeRef shape_of(const std::vector<Dim>& dims) {
  return Shape::of(axes_of(dims));
}

/// Dims of every kind, of other lengths at each draw.
struct Draw {
  explicit Draw(std::uint64_t seed) : random(seed) {
    const std::int64_t rows = number(0, 3);
    batch = Dim::scalar(Expression::batch(), rows);
    heads = dim_of_size("heads", number(0, 2));
    feature = dim_of_size("feature", number(1, 3));
    const auto random_lengths = [&](std::int64_t count) {
      std::vector<std::int64_t> lengths(static_cast<std::size_t>(count));
      for (std::int64_t& length : lengths) length = number(0, 3);
      return lengths;
    };
    time = bound(Expression::generator({.name = "time"}), {batch}, random_lengths(rows));
    source = bound(Expression::generator({.name = "source"}), {batch}, random_lengths(rows));
    const ShapeRef frames = shape_of({batch, time});
    inner = bound(Expression::generator({.name = "inner"}), {batch, time}, random_lengths(frames->count(2)));
    beam = bound(Expression::generator({.name = "beam"}), {heads, batch},
                 random_lengths(heads.expression().size() * rows));
  }

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  }

  /// Some of the dims, and what they are over, in an order that a shape can have.
  std::vector<Dim> dims() {
    std::vector<Dim> all{batch, heads, feature, time, source, inner, beam};
    std::shuffle(all.begin(), all.end(), random);
    std::vector<Dim> picks(all.begin(), all.begin() + number(0, 4));
    for (std::size_t k = 0; k < picks.size(); ++k) {
      for (const Dim& over :
           picks[k].expression().is_static() ? std::vector<Dim>{} : picks[k].values().over) {
        const auto is_same = [&](const Dim& dim) { return dim.expression() == over.expression(); };
        if (std::none_of(picks.begin(), picks.end(), is_same)) picks.push_back(over);
      }
    }
    const std::vector<Axis> axes = axes_of(picks);
    std::vector<Dim> sorted;
    for (const std::size_t k : Shape::arrange(axes, number(0, 1) == 1)) sorted.push_back(picks[k]);
    return sorted;
  }

  std::mt19937_64 random;
  Dim batch, heads, feature, time, source, inner, beam;
};

/// Every position of a shape, in order.
std::vector<Position> positions_of(const Shape& shape) {
  std::vector<Position> all{{}};
  for (std::size_t k = 0; k < shape.rank(); ++k) {
    std::vector<Position> next;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::int64_t n = shape.span(k, k + 1).view().length(static_cast<std::int64_t>(i));
      for (std::int64_t c = 0; c < n; ++c) {
        next.push_back(all[i]);
        next.back().push_back(c);
      }
    }
    all = std::move(next);
  }
  return all;
}

/// An array with axes, as NumPy has it.
struct Array {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> numbers;

  void transpose(const std::vector<std::size_t>& axes) {
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t k = shape.size(); k-- > 1;) strides[k - 1] = strides[k] * shape[k];
    std::vector<std::int64_t> extents;
    for (const std::size_t axis : axes) extents.push_back(shape[axis]);
    std::vector<std::int64_t> result;
    Position at(axes.size(), 0);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      std::int64_t from = 0;
      for (std::size_t k = 0; k < axes.size(); ++k) from += at[k] * strides[axes[k]];
      result.push_back(numbers[static_cast<std::size_t>(from)]);
      for (std::size_t k = axes.size(); k-- > 0;) {
        if (++at[k] < extents[k]) break;
        at[k] = 0;
      }
    }
    shape = extents;
    numbers = result;
  }

  void take(const std::vector<std::int64_t>& rows) {
    const std::int64_t width =
        std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies<>{});
    std::vector<std::int64_t> slice;
    for (const std::int64_t row : rows) {
      slice.insert(slice.end(), numbers.begin() + row * width, numbers.begin() + (row + 1) * width);
    }
    shape[0] = std::ssize(rows);
    numbers = slice;
  }
};

Array counting_array(const Shape& shape) {
  Array array{shape.array_shape(), {}};
  array.numbers.resize(static_cast<std::size_t>(shape.count(shape.rank())));
  std::iota(array.numbers.begin(), array.numbers.end(), 0);
  return array;
}

std::vector<std::int64_t> row_ids(const Level& level) {
  return {level.row_ids(), level.row_ids() + level.total()};
}

Array aligned(const Shape& target, const Shape& other) {
  const Shape::Alignment plan = target.alignment_of(other);
  Array array = counting_array(other);
  if (!plan.permutation.empty()) array.transpose(plan.permutation);
  if (!plan.flat.empty()) array.shape = plan.flat;
  if (plan.repeats) array.take(row_ids(*plan.repeats));
  if (plan.places) array.take({plan.places->data(), plan.places->data() + plan.places->size()});
  if (!plan.shape.empty()) array.shape = plan.shape;
  return array;
}

/// The number of an array that broadcasts to another one, at a place in that.
std::int64_t broadcast_at(const Array& array, const std::vector<std::int64_t>& shape, std::size_t place) {
  std::int64_t at = 0;
  std::int64_t stride = 1;
  auto rest = static_cast<std::int64_t>(place);
  for (std::size_t k = shape.size(); k-- > 0;) {
    const std::int64_t c = rest % shape[k];
    rest /= shape[k];
    const std::size_t from_end = shape.size() - k;
    if (from_end > array.shape.size()) continue;
    const std::int64_t extent = array.shape[array.shape.size() - from_end];
    CHECK(extent == 1 || extent == shape[k]);
    if (extent != 1) at += c * stride;
    stride *= extent;
  }
  return array.numbers[static_cast<std::size_t>(at)];
}

}  // namespace

TEST(dim_shape, what_a_shape_is_made_of) {
  const Draw draw(1);
  const ShapeRef shape = shape_of({draw.batch, draw.time, draw.feature});
  CHECK_EQ(shape->ragged(), std::size_t{2});
  CHECK(shape_of({draw.batch, draw.time, draw.feature}) == shape);
  CHECK(shape_of({draw.batch, draw.time}) != shape);
  CHECK_EQ(shape->find({draw.feature}), std::size_t{2});
  CHECK_EQ(shape->find({draw.source}), std::size_t{3});
  CHECK_EQ(shape->array_shape().size(), std::size_t{2});
  CHECK(shape->span(1, 2).is(shape->span(1, 2)));
}

TEST(dim_shape, values_line_up_position_by_position) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Draw draw(seed);
    const ShapeRef a = shape_of(draw.dims());
    const ShapeRef b = shape_of(draw.dims());
    const ShapeRef union_shape = Shape::union_of(a, b);
    CHECK(Shape::union_of(a, a) == a);
    const std::vector<Position> positions = positions_of(*union_shape);
    CHECK_EQ(std::ssize(positions), union_shape->count(union_shape->rank()));
    for (const ShapeRef& one : {a, b}) {
      std::map<Position, std::int64_t> places;
      for (const Position& position : positions_of(*one)) places.emplace(position, std::ssize(places));
      const Array array = aligned(*union_shape, *one);
      for (std::size_t i = 0; i < positions.size(); ++i) {
        Position projection;
        for (const Axis& axis : one->axes()) projection.push_back(positions[i][union_shape->find(axis)]);
        CHECK_EQ(broadcast_at(array, union_shape->array_shape(), i), places.at(projection));
      }
    }
  }
}

TEST(dim_shape, positions_come_together_that_differ_in_what_goes) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Draw draw(1000 + seed);
    const ShapeRef shape = shape_of(draw.dims());
    std::vector<bool> is_gone(shape->rank());
    for (std::size_t k = 0; k < shape->rank(); ++k) is_gone[k] = draw.number(0, 1) == 1;
    const Shape::Group plan = shape->group(is_gone);
    std::map<Position, std::vector<std::int64_t>> expected;
    for (const Position& position : positions_of(*plan.rest)) expected[position] = {};
    const std::vector<Position> positions = positions_of(*shape);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      Position remainder;
      for (std::size_t k = 0; k < shape->rank(); ++k) {
        if (!is_gone[k]) remainder.push_back(positions[i][k]);
      }
      expected.at(remainder).push_back(static_cast<std::int64_t>(i));
    }
    Array array = counting_array(*shape);
    if (!plan.permutation.empty()) array.transpose(plan.permutation);
    std::int64_t width = 1;
    for (std::size_t k = plan.rest->rank();
         k-- > 0 && plan.level.count() * width < plan.rest->count(plan.rest->rank());) {
      width *= plan.rest->extent(k);
    }
    array.shape = {plan.level.total(), width};
    if (plan.order) array.take({plan.order->data(), plan.order->data() + plan.order->size()});
    std::size_t place = 0;
    for (const auto& [position, all] : expected) {
      const auto row = static_cast<std::int64_t>(place) / width;
      const std::int64_t column = static_cast<std::int64_t>(place) % width;
      std::vector<std::int64_t> column_numbers;
      for (std::int64_t i = plan.level.offsets()[row]; i < plan.level.offsets()[row + 1]; ++i) {
        column_numbers.push_back(array.numbers[static_cast<std::size_t>(i * width + column)]);
      }
      std::sort(column_numbers.begin(), column_numbers.end());
      CHECK(column_numbers == all);
      ++place;
    }
  }
}

TEST(dim_shape, what_does_not_fit_is_named) {
  const Dim batch = Dim::scalar(Expression::batch(), 2);
  const Expression name = Expression::generator({.name = "time"});
  const Dim time = bound(name, {batch}, {2, 1});
  const auto text = [](auto call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  CHECK_EQ(text([&] {
             (void)shape_of({time, batch});
           }),
           std::string("dims: 'time' has lengths over 'batch', which has to come before it"));
  CHECK_EQ(text([&] { (void)Shape::arrange(axes_of({time}), false); }),
           std::string("dims: 'time' has lengths over 'batch', which is not among them"));
  CHECK_EQ(text([&] {
             (void)shape_of({batch, batch});
           }),
           std::string("dims: 'batch' is in it twice; tell them apart by copy(match_priority=1)"));
  const ShapeRef rows = shape_of({batch});
  const ShapeRef foreign = shape_of({Dim::scalar(name, 2)});
  CHECK_EQ(text([&] { (void)rows->alignment_of(*foreign); }),
           std::string("'time' is not among the dims that values are brought to"));
  const Dim other = bound(name, {batch}, {2, 2});
  CHECK_EQ(text([&] {
             (void)Shape::union_of(shape_of({batch, time}), shape_of({batch, other}));
           }),
           std::string("row 1 of 'time' has length 1 in one and 2 in the other"));
  const Dim one = Dim::scalar(name, 1);
  CHECK_EQ(text([&] {
             (void)Shape::union_of(shape_of({batch, time}), shape_of({one}));
           }),
           std::string("'time' is up to 2 long in one and 1 in the other"));
  CHECK(Shape::union_of(shape_of({Dim::scalar(name, 5)}), shape_of({batch, time})) ==
        shape_of({batch, time}));
}

TEST(dim_shape, equal_dims_are_told_by_their_priorities) {
  const Dim side = dim_of_size("side", 2);
  const ShapeRef square = Shape::of({{side, 0}, {side, 1}});
  CHECK_EQ(square->find({side, 0}), std::size_t{1});
  CHECK_EQ(square->find({side, 1}), std::size_t{1});
  CHECK_EQ(square->place_of({side, 0}), std::size_t{0});
  CHECK_EQ(square->place_of({side, 2}), std::size_t{1});
  const ShapeRef swap = Shape::of({{side, 1}, {side, 0}});
  CHECK(swap->alignment_of(*square).permutation == std::vector<std::size_t>({1, 0}));
  CHECK(Shape::union_of(square, swap) == square);
}
