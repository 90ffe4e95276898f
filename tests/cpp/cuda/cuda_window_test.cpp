// Neighbours of rows, on the device: byte for byte what the CPU gives.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/cuda/window.hpp"
#include "varlen/pool.hpp"
#include "varlen/window.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

void check(std::int64_t n, std::int64_t longest, Window how) {
  const std::int64_t width = kWidths[z(draw(0, std::ssize(kWidths) - 1))];
  const Nest nest = draw_nest(n, 1, longest, width);
  Ints ends(z(n));
  window_kept(nest.levels[0], how.stride, ends.data());
  const Offsets out_level{ends.data(), n};
  const std::int64_t size = out_level.total() * how.places() * width;
  Place want(size), out(size);
  seq2col(nest.values, nest.levels[0], out_level, how, want.data());
  CHECK_EQ(cuda::seq2col({}, nest.values, nest.levels[0], out_level, how, out_level.total(), out.data()), 0);
  CHECK(out.contents() == want.contents());
}

constexpr Type kTypes[] = {Type::b1,  Type::i8,  Type::i16,  Type::u32, Type::i64,
                           Type::u64, Type::f16, Type::bf16, Type::f32, Type::f64};

/// Numbers of a type, small ones, at an address that is aligned.
Bytes numbers(Type type, std::int64_t n) {
  const std::int64_t size = size_of(type);
  Bytes bytes(z(n * size));
  for (std::int64_t i = 0; i < n; ++i) {
    const float x = static_cast<float>(draw(-40, 40)) / 8;
    std::byte* const to = bytes.data() + i * size;
    if (type == Type::f64) {
      const double wide = static_cast<double>(x) * 1.0000001;
      std::memcpy(to, &wide, 8);
    } else if (type == Type::f32) {
      const float odd = x * 1.01F;
      std::memcpy(to, &odd, 4);
    } else if (type == Type::f16 || type == Type::bf16) {
      const auto half = static_cast<std::uint16_t>(0x3C00 + draw(0, 0x3FF));
      std::memcpy(to, &half, 2);
    } else if (type == Type::b1) {
      *to = static_cast<std::byte>(draw(0, 1));
    } else {
      const std::int64_t bits = draw(std::numeric_limits<std::int64_t>::min(), -1);
      std::memcpy(to, &bits, z(size));
    }
  }
  return bytes;
}

void check_back(Type type, std::int64_t n, Window how) {
  const std::int64_t count = draw(1, 5);
  const Nest nest = draw_nest(n, 1, 12, 0);
  const Offsets level = nest.levels[0];
  Ints ends(z(n));
  window_kept(level, how.stride, ends.data());
  const Offsets out_level{ends.data(), n};
  const Bytes dy = numbers(type, out_level.total() * how.places() * count);
  Bytes want(z(level.total() * count * size_of(type))), out = noise(std::ssize(want));
  backprop_seq2col(type, dy.data(), count, level, out_level, how, want.data());
  CHECK_EQ(cuda::backprop_seq2col({}, type, dy.data(), out_level.total(), count, level, out_level, how,
                                  level.total(), out.data()),
           0);
  CHECK(out == want);
}

void check_merge(Type type, std::int64_t n, Stepping how, bool mean) {
  const std::int64_t count = draw(1, 5);
  const Nest nest = draw_nest(n, 1, 12, 0);
  const Offsets level = nest.levels[0];
  Ints counts(z(n));
  CHECK(window_counts(level, how, counts.data()).ok());
  const Offsets windows{counts.data(), n};
  std::vector<Range> ranges(z(windows.total()));
  Ints ends(z(windows.total()));
  CHECK(window_ranges(level, windows, how, ranges.data(), ends.data()).ok());
  const Offsets rows{ends.data(), windows.total()};
  const Bytes y = numbers(type, rows.total() * count);
  const std::int64_t size = mean && !is_float(type) ? 8 : size_of(type);
  Bytes want(z(level.total() * count * size)), out = noise(std::ssize(want));
  merge_windows(type, y.data(), count, level, windows, ends.data(), how, mean, want.data());
  CHECK_EQ(cuda::merge_windows({}, type, y.data(), rows.total(), count, level, windows, rows, how, mean,
                               level.total(), out.data()),
           0);
  CHECK(out == want);
  if (!is_float(type)) return;
  const Bytes dx = numbers(type, level.total() * count);
  Bytes share(dx.size()), device_share = noise(std::ssize(dx));
  share_windows(type, dx.data(), count, level, windows, how, share.data());
  CHECK_EQ(cuda::share_windows({}, type, dx.data(), count, level, windows, how, level.total(),
                               device_share.data()),
           0);
  CHECK(device_share == share);
}

}  // namespace

TEST(cuda_window, sums_are_those_of_the_cpu_bit_by_bit) {
  set_num_threads(1);
  for (int turn = 0; turn < turns_of_one_thread(60); ++turn) {
    for (const Type type : kTypes) {
      check_back(type, draw(0, 30), {draw(0, 3), draw(0, 3), draw(1, 3), draw(1, 3)});
      check_merge(type, draw(0, 30), {draw(1, 5), draw(1, 6), draw(0, 1) == 0}, draw(0, 1) == 0);
    }
  }
}

TEST(cuda_window, neighbours_are_those_of_the_cpu) {
  set_num_threads(1);
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  for (int turn = 0; turn < turns_of_one_thread(400); ++turn) {
    const std::int64_t far = draw(0, 9) == 0 ? kFar : draw(1, 4);
    const std::int64_t spacing = draw(0, 9) == 0 ? kFar : draw(1, 4);
    check(draw(0, 30), draw(0, 9) == 0 ? 200 : 12, {draw(0, 3), draw(0, 3), far, spacing});
  }
  check(1, 5'000, {1, 1, 1, 1});
  check(3, 4, {300, 200, 1, 2});
}
