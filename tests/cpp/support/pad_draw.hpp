// Drawn nests and paddings, and padding written slot by slot.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "varlen/pad.hpp"

namespace varlen::test {

using Bytes = std::vector<std::byte>;
using Ints = std::vector<std::int64_t>;

inline std::mt19937_64& dice() {
  static std::mt19937_64 engine(7);
  return engine;
}

inline std::int64_t draw(std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(dice());
}

/// How often to draw where one thread works. Its sanitizer sees nothing there, and takes ten times as long.
inline int turns_of_one_thread(int turns) {
#ifdef __SANITIZE_THREAD__
  return turns / 20;
#else
  return turns;
#endif
}

/// How often to draw where several threads work, which takes seconds. A race stands in most of the draws.
inline int turns_of_threads(int turns) {
#ifdef __SANITIZE_THREAD__
  return turns / 4;
#else
  return turns;
#endif
}

/// With how many threads to do the same where that takes seconds; one alone is left out where its sanitizer
/// works, as above.
inline std::vector<int> one_and(int several) {
#ifdef __SANITIZE_THREAD__
  return {several};
#else
  return {1, several};
#endif
}

inline std::size_t z(std::int64_t n) {
  return static_cast<std::size_t>(n);
}

/// On the heap and as long as it is, so that a sanitizer sees a byte too many. Eight bytes a draw: under a
/// sanitizer most of the time would go there.
inline Bytes noise(std::int64_t n) {
  Bytes bytes(z(n));
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::uint64_t eight = dice()();
    std::memcpy(bytes.data() + at, &eight, std::min<std::size_t>(8, bytes.size() - at));
  }
  return bytes;
}

/// Whether two have the same bytes. Vectors of bytes compare them one by one, each of which a sanitizer sees.
inline bool same_bytes(const Bytes& a, const Bytes& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

struct Nest {
  std::vector<Ints> ends;
  std::vector<Offsets> levels;
  Bytes data;
  Rows values;
};

inline Nest draw_nest(std::int64_t n, int depth, std::int64_t longest, std::int64_t width) {
  Nest nest;
  std::int64_t count = n;
  for (int d = 0; d < depth; ++d) {
    Ints ends(z(count));
    std::int64_t sum = 0;
    for (auto& end : ends) end = sum += draw(0, 3) == 0 ? 0 : draw(0, longest);
    nest.ends.push_back(ends);
    count = sum;
  }
  for (const Ints& ends : nest.ends)
    nest.levels.push_back({ends.data(), static_cast<std::int64_t>(ends.size())});
  nest.data = noise(count * width);
  nest.values = {nest.data.data(), count, width};
  return nest;
}

/// Slot by slot: append one row, or its fill, after the other.
inline void plain(const Segment* segments, std::int64_t count, int axis, int depth, const Ints& sizes,
                  const Padding& how, const Bytes& fill, Bytes& out, Bytes& mask) {
  std::vector<std::pair<const Segment*, std::int64_t>> rows;
  for (std::int64_t s = 0; s < count; ++s) {
    for (auto i = segments[s].rows.begin; i < segments[s].rows.end; ++i) rows.emplace_back(segments + s, i);
  }
  const auto have = static_cast<std::int64_t>(rows.size());
  const std::int64_t keep = std::min(have, sizes[z(axis)]);
  const std::int64_t skip = how.cut == Side::left ? have - keep : 0;
  const std::int64_t gap = how.side == Side::left ? sizes[z(axis)] - keep : 0;
  for (std::int64_t slot = 0; slot < sizes[z(axis)]; ++slot) {
    const bool exists = slot >= gap && slot - gap < keep;
    const auto [segment, row] =
        exists ? rows[z(skip + slot - gap)] : std::pair<const Segment*, std::int64_t>{};
    if (axis + 1 == depth) {
      const std::byte* from = exists ? segment->values.data + row * segment->values.width : fill.data();
      out.insert(out.end(), from, from + fill.size());
      mask.push_back(static_cast<std::byte>(exists));
    } else {
      const Segment inner = exists ? Segment{segment->levels + 1,
                                             segment->values,
                                             {segment->levels[0].start(row), segment->levels[0].end(row)}}
                                   : Segment{};
      plain(&inner, exists ? 1 : 0, axis + 1, depth, sizes, how, fill, out, mask);
    }
  }
}

inline constexpr std::array<std::int64_t, 14> kWidths{1, 2, 3, 4, 5, 8, 12, 16, 20, 32, 64, 65, 96, 300};

inline std::int64_t draw_width() {
  return kWidths[z(draw(0, std::ssize(kWidths) - 1))];
}

/// Rows that are worth a few chunks for each of three threads; more would be the same chunks, only larger.
inline std::int64_t rows_for_threads(std::int64_t width) {
  return (std::int64_t{6} << 20) / width;
}

inline std::int64_t root(std::int64_t n) {
  return static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
}

struct Draw {
  Padding how;
  Bytes fill;
  Ints sizes;
};

inline Draw draw_padding(int depth, std::int64_t longest, std::int64_t width) {
  Draw d;
  d.fill = draw(0, 2) == 0 ? Bytes(z(width)) : noise(width);
  if (draw(0, 3) == 0) std::fill(d.fill.begin(), d.fill.end(), std::byte{7});
  d.how.side = draw(0, 1) == 0 ? Side::right : Side::left;
  d.how.cut = draw(0, 1) == 0 ? Side::right : Side::left;
  d.how.stores = draw(0, 1) == 0 ? Stores::cached : Stores::past_caches;
  for (int a = 0; a < depth; ++a) d.sizes.push_back(draw(0, longest + 2));
  d.how.fill = d.fill.data();
  return d;
}

inline std::int64_t slots_of(const Ints& sizes, std::int64_t n) {
  for (const std::int64_t size : sizes) n *= size;
  return n;
}

inline std::int64_t draw_longest(int depth) {
  return depth == 1 ? (draw(0, 3) == 0 ? draw(0, 400) : draw(0, 20)) : depth == 2 ? draw(0, 12) : draw(0, 5);
}

/// Any place in memory: outputs need not be aligned.
struct Place {
  std::int64_t shift = draw(0, 70);
  Bytes bytes;
  explicit Place(std::int64_t n) : bytes(z(n + shift), std::byte{0xA5}) {}
  std::byte* data() { return bytes.data() + shift; }
  Bytes contents() const { return {bytes.begin() + shift, bytes.end()}; }
};

}  // namespace varlen::test
