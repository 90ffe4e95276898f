// All arrays of a batch in one launch, run thread by thread: byte for byte what the CPU pads and converts.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/cast.hpp"
#include "varlen/cuda/batch.hpp"
#include "varlen/pad.hpp"
#include "varlen/pool.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

const cuda::Stream kStream;
const Type kFrom[] = {Type::b1, Type::i8, Type::u16, Type::i32, Type::f16, Type::bf16, Type::f32, Type::f64};
const Type kTo[] = {Type::f32, Type::f64, Type::i64};

/// Elements of a dtype that every one of kTo holds, with NaN among floats where the output is a float too.
Bytes numbers(Type type, std::int64_t count, bool with_nan) {
  std::vector<double> wide(z(count));
  for (double& x : wide) x = with_nan && draw(0, 3) == 0 ? std::nan("") : static_cast<double>(draw(0, 1));
  Bytes out(z(count * size_of(type)));
  cast(cast_of(Type::f64, type), reinterpret_cast<const std::byte*>(wide.data()), count, out.data());
  return out;
}

/// Memory of an output: its elements are aligned, and more need not be.
struct Out {
  std::size_t shift;
  Bytes bytes;
  Out(std::int64_t count, std::int64_t element)
      : shift(z(draw(0, 5) * element)), bytes(z(count) + shift, std::byte{0xA5}) {}
  std::byte* data() { return bytes.data() + shift; }
  [[nodiscard]] bool is(const Place& expected) const {
    const Bytes other = expected.contents();
    return std::equal(bytes.begin() + static_cast<std::ptrdiff_t>(shift), bytes.end(), other.begin(),
                      other.end());
  }
};

/// A batch of several arrays that share their axes, each beside what the CPU makes of the same rows.
struct BatchCase {
  std::int64_t n;
  int depth;
  Nest nest;
  Draw how;
  std::vector<cuda::BatchAxis> axes;
  std::vector<cuda::BatchArray> arrays;
  std::vector<Bytes> rows;
  std::vector<Bytes> fills;
  std::vector<Place> expected;
  std::vector<Out> outputs;

  BatchCase(std::int64_t sequences, int levels, std::int64_t longest)
      : n(sequences),
        depth(levels),
        nest(draw_nest(sequences, levels, longest, 0)),
        how(draw_padding(levels, longest, 1)) {
    for (int d = 0; d < depth; ++d) {
      const std::int64_t slots = how.sizes[z(d)];
      const std::int64_t keep = how.how.keeps != nullptr ? how.how.keeps[d] : INT64_MAX;
      axes.push_back({nest.levels[z(d)], slots, keep});
    }
  }

  [[nodiscard]] std::int64_t rows_under(int at_depth) const {
    return at_depth == 0 ? n : nest.levels[z(at_depth - 1)].total();
  }
  [[nodiscard]] std::int64_t slots_under(int at_depth) const {
    std::int64_t slots = n;
    for (int d = 0; d < at_depth; ++d) slots *= how.sizes[z(d)];
    return slots;
  }
  /// What the CPU makes of rows.
  void want(int at_depth, Rows values, const std::byte* fill, const Convert& convert, std::int64_t width) {
    Padding padding = how.how;
    padding.fill = fill;
    padding.period = 0;
    padding.convert = convert;
    Place& out = expected.emplace_back(slots_under(at_depth) * width);
    if (at_depth > 0) {
      pad(nest.levels.data(), at_depth, {0, n}, values, how.sizes.data(), padding, out.data());
    } else if (convert.run != nullptr) {
      cast(convert, values.data, values.count * values.width / convert.from, out.data());
    } else {
      std::copy_n(values.data, values.count * values.width, out.data());
    }
  }
  const std::byte* fill_of(std::int64_t width) {
    return draw(0, 2) == 0 ? nullptr : fills.emplace_back(noise(width)).data();
  }

  void add_bytes() {
    cuda::BatchArray array;
    array.depth = static_cast<int>(draw(0, depth));
    const std::int64_t width = draw_width();
    array.rows = {rows.emplace_back(noise(rows_under(array.depth) * width)).data(), rows_under(array.depth),
                  width};
    array.fill = {fill_of(width), width};
    want(array.depth, array.rows, array.fill.data, {}, width);
    array.out = outputs.emplace_back(slots_under(array.depth) * width, 1).data();
    arrays.push_back(array);
  }
  void add_cast() {
    cuda::BatchArray array;
    array.kind = cuda::BatchKind::cast;
    array.depth = static_cast<int>(draw(0, depth));
    array.from = kFrom[draw(0, std::ssize(kFrom) - 1)];
    array.to = kTo[draw(0, std::ssize(kTo) - 1)];
    const std::int64_t elements = draw(1, 3);
    const std::int64_t count = rows_under(array.depth);
    array.replaces_nan = is_float(array.from) && draw(0, 1) == 1;
    Bytes& bytes = rows.emplace_back(numbers(array.from, count * elements, array.replaces_nan));
    array.rows = {bytes.data(), count, elements * size_of(array.from)};
    const std::int64_t width = elements * size_of(array.to);
    array.fill = {fill_of(width), width};
    if (array.replaces_nan) array.nan = draw(1, 1 << 20);
    const auto* const nan = reinterpret_cast<const std::byte*>(&array.nan);
    const Convert convert = cast_of(array.from, array.to, array.replaces_nan ? nan : nullptr);
    want(array.depth, array.rows, array.fill.data, convert, width);
    array.out = outputs.emplace_back(slots_under(array.depth) * width, size_of(array.to)).data();
    arrays.push_back(array);
  }
  void add_not_nan() {
    cuda::BatchArray array;
    array.kind = cuda::BatchKind::not_nan;
    array.from = draw(0, 1) == 0 ? Type::f16 : Type::f32;
    const std::int64_t count = rows_under(0) * 3;
    Bytes& bytes = rows.emplace_back(numbers(array.from, count, true));
    array.rows = {bytes.data(), rows_under(0), 3 * size_of(array.from)};
    Place& out = expected.emplace_back(count);
    cast(nan_mask_of(array.from), bytes.data(), count, out.data());
    for (std::int64_t i = 0; i < count; ++i) out.data()[i] ^= std::byte{1};
    array.out = outputs.emplace_back(count, 1).data();
    arrays.push_back(array);
  }
  void add_mask() {
    cuda::BatchArray array;
    array.kind = cuda::BatchKind::mask;
    array.depth = static_cast<int>(draw(1, depth));
    array.rows.count = rows_under(array.depth);
    Place& out = expected.emplace_back(slots_under(array.depth));
    pad_mask(nest.levels.data(), array.depth, {0, n}, how.sizes.data(), how.how, out.data());
    array.out = outputs.emplace_back(slots_under(array.depth), 1).data();
    arrays.push_back(array);
  }

  void check(cuda::Error (*run)(cuda::Stream, const cuda::BatchJob&) noexcept) {
    const cuda::BatchJob job{axes.data(),       depth, n, how.how.side, how.how.cut, arrays.data(),
                             std::ssize(arrays)};
    CHECK_EQ(run(kStream, job), 0);
    for (std::size_t k = 0; k < expected.size(); ++k) CHECK(outputs[k].is(expected[k]));
  }
};

}  // namespace

TEST(cuda_batch, arrays_are_those_of_the_cpu) {
  set_num_threads(1);
  for (int turn = 0; turn < turns_of_one_thread(300); ++turn) {
    const int depth = static_cast<int>(draw(1, 3));
    BatchCase batch_case(draw(0, depth == 1 ? 40 : 6), depth, draw_longest(depth));
    for (std::int64_t k = draw(0, 9); k >= 0; --k) batch_case.add_bytes();
    for (std::int64_t k = draw(0, 3); k >= 0; --k) batch_case.add_cast();
    batch_case.add_not_nan();
    batch_case.add_mask();
    batch_case.check(&cuda::batch);
  }
}

TEST(cuda_batch, more_arrays_than_a_launch_takes_are_several) {
  BatchCase batch_case(5, 2, 4);
  for (int k = 0; k < 70; ++k) batch_case.add_bytes();
  batch_case.check(&cuda::batch);
}

TEST(cuda_batch, ends_that_lie_lead_nowhere) {
  // Another thread may have written there: numbers are wrong then, memory never.
  const Ints ends{3, 1'000'000, 4, -7};
  const Bytes rows = noise(6 * 8);
  const cuda::BatchAxis axis{{ends.data(), std::ssize(ends)}, 5, 5};
  Out out(4 * 5 * 8, 8);
  cuda::BatchArray array;
  array.depth = 1;
  array.rows = {rows.data(), 6, 8};
  array.out = out.data();
  CHECK_EQ(cuda::batch(kStream, {&axis, 1, 4, Side::left, Side::left, &array, 1}), 0);
}
