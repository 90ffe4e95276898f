// Windows read and write inside exact allocations, whatever their sizes, for one thread and for several.
#include "varlen/window.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/pool.hpp"

namespace {

using varlen::Offsets;
using varlen::Range;
using varlen::Stepping;
using varlen::Type;
using varlen::Window;
using Ints = std::vector<std::int64_t>;
using Bytes = std::vector<std::byte>;

std::mt19937_64& random() {
  static std::mt19937_64 engine(11);
  return engine;
}

std::int64_t random_below(std::int64_t n) {
  return static_cast<std::int64_t>(random()() % static_cast<std::uint64_t>(n));
}

Ints drawn_ends(std::int64_t n, std::int64_t limit) {
  Ints ends;
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) ends.push_back(sum += random_below(limit));
  return ends;
}

Offsets view(const Ints& ends) {
  return {ends.data(), static_cast<std::int64_t>(ends.size())};
}

Bytes random_bytes(std::int64_t n) {
  Bytes bytes(static_cast<std::size_t>(n));
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::uint64_t eight = random()();
    std::memcpy(bytes.data() + at, &eight, std::min<std::size_t>(8, bytes.size() - at));
  }
  return bytes;
}

/// Forward and back over bytes, against plain loops; bytes are numbers of u8 on their way back.
void check_window(const Ints& ends, std::int64_t width, Window how) {
  const Offsets level = view(ends);
  Ints kept_ends(ends.size());
  varlen::window_kept(level, how.stride, kept_ends.data());
  const Offsets out_level = view(kept_ends);
  const Bytes x = random_bytes(level.total() * width);
  const Bytes dy = random_bytes(out_level.total() * how.places() * width);
  Bytes want;
  Bytes sums(x.size());
  for (std::int64_t i = 0; i < level.count; ++i) {
    for (std::int64_t at = level.start(i); at < level.end(i); at += how.stride) {
      for (std::int64_t k = -how.left; k <= how.right; ++k) {
        const std::int64_t row = at + k * how.dilation;
        const bool is_inside = level.start(i) <= row && row < level.end(i);
        for (std::int64_t j = 0; j < width; ++j) {
          const auto to = static_cast<std::size_t>(row * width + j);
          if (is_inside) {
            sums[to] = static_cast<std::byte>(static_cast<int>(sums[to]) + static_cast<int>(dy[want.size()]));
          }
          want.push_back(is_inside ? x[to] : std::byte{0});
        }
      }
    }
  }
  Bytes y(want.size(), std::byte{0xA5});
  varlen::seq2col({x.data(), level.total(), width}, level, out_level, how, y.data());
  CHECK(y == want);
  Bytes dx(x.size(), std::byte{0xA5});
  varlen::backprop_seq2col(Type::u8, dy.data(), width, level, out_level, how, dx.data());
  CHECK(dx == sums);
}

/// Whole numbers in float, in rows of dy on both sides of where the way back changes its course.
void check_floats(const Ints& ends, std::int64_t count, std::int64_t window) {
  const Offsets level = view(ends);
  const Window how{window, window, 1, 1};
  const std::int64_t places = how.places();
  std::vector<float> dy(static_cast<std::size_t>(level.total() * places * count));
  for (float& number : dy) number = static_cast<float>(random_below(100));
  std::vector<float> want(static_cast<std::size_t>(level.total() * count));
  std::vector<float> dx(want.size(), -1.0F);
  for (std::int64_t i = 0; i < level.count; ++i) {
    for (std::int64_t t = level.start(i); t < level.end(i); ++t) {
      for (std::int64_t k = 0; k < places; ++k) {
        const std::int64_t row = t + k - window;
        if (row < level.start(i) || row >= level.end(i)) continue;
        for (std::int64_t j = 0; j < count; ++j) {
          want[static_cast<std::size_t>(row * count + j)] +=
              dy[static_cast<std::size_t>((t * places + k) * count + j)];
        }
      }
    }
  }
  varlen::backprop_seq2col(Type::f32, reinterpret_cast<const std::byte*>(dy.data()), count, level, level, how,
                           reinterpret_cast<std::byte*>(dx.data()));
  CHECK(dx == want);
}

}  // namespace

TEST(window, stays_inside_its_memory) {
  for (int turn = 0; turn < varlen::test::turns_of_one_thread(300); ++turn) {
    const Window how{random_below(4), random_below(4), 1 + random_below(3), 1 + random_below(4)};
    check_window(drawn_ends(random_below(6), 9), 1 + random_below(90), how);
  }
  check_window(drawn_ends(3, 9), 5, {30, 40, 1, 1});
  check_window(drawn_ends(3, 9), 5, {3, 4, std::int64_t{1} << 40, std::int64_t{1} << 62});
  check_window({0, 0}, 5, {1, 1, 1, 1});
}

TEST(window, is_the_same_for_any_threads_and_stores) {
  for (const int threads : varlen::test::one_and(3)) {
    varlen::set_num_threads(threads);
    check_window(drawn_ends(300, 40), 300, {1, 1, 1, 1});   // several chunks
    check_window(drawn_ends(2, 40'000), 77, {3, 3, 1, 1});  // one giant, past the caches
    check_window(drawn_ends(2, 40'000), 77, {2, 3, 5, 2});
    check_floats(drawn_ends(400, 40), 60, 1);
    check_floats(drawn_ends(2, 40'000), 33, 2);
    check_floats(drawn_ends(100, 40), 300, 3);
  }
}

TEST(window, steps_count_what_they_range) {
  for (int turn = 0; turn < varlen::test::turns_of_one_thread(300); ++turn) {
    const Stepping how{1 + random_below(6), 1 + random_below(6), random_below(2) == 1};
    const Ints ends = drawn_ends(random_below(6), 12);
    const Offsets level = view(ends);
    Ints counts(ends.size());
    CHECK(varlen::window_counts(level, how, counts.data()).ok());
    const auto windows = static_cast<std::size_t>(view(counts).total());
    std::vector<Range> ranges(windows);
    Ints rows(windows);
    CHECK(varlen::window_ranges(level, view(counts), how, ranges.data(), rows.data()).ok());
    std::vector<float> sums(static_cast<std::size_t>(level.total()));
    std::vector<float> times(sums.size());
    std::vector<float> y;
    for (const Range& range : ranges) {
      CHECK(range.size() > 0 && range.size() <= how.size);
      CHECK(!how.full_only || range.size() == how.size);
      for (std::int64_t row = range.begin; row < range.end; ++row) {
        y.push_back(static_cast<float>(random_below(100)));
        sums[static_cast<std::size_t>(row)] += y.back();
        times[static_cast<std::size_t>(row)] += 1;
      }
    }
    std::vector<float> out(sums.size(), -1.0F);
    for (const bool mean : {false, true}) {
      varlen::merge_windows(Type::f32, reinterpret_cast<const std::byte*>(y.data()), 1, level, view(counts),
                            rows.data(), how, mean, reinterpret_cast<std::byte*>(out.data()));
      CHECK(out == sums);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] /= times[i] > 0 ? times[i] : 1;
    }
  }
}
