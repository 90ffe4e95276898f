// Bins against plain loops: sizes on both sides of what bits mark, windows, sequences that fill a bin alone.
#include "varlen/model/bins.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"

namespace {

using varlen::Bins;
using varlen::Fit;
using varlen::test::Ints;
using varlen::test::z;

/// As a loop over all bins puts them.
Bins plain(const Ints& lengths, std::int64_t size, std::int64_t window, Fit fit) {
  Bins bins{{}, {0}};
  const auto n = static_cast<std::int64_t>(lengths.size());
  for (std::int64_t begin = 0; begin < n; begin += window) {
    Ints order(z(std::min(window, n - begin)));
    std::iota(order.begin(), order.end(), begin);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return lengths[z(a)] > lengths[z(b)]; });
    std::vector<Ints> contents;
    Ints rooms;
    Ints turns;
    for (std::size_t turn = 0; turn < order.size(); ++turn) {
      const std::int64_t length = lengths[z(order[turn])];
      std::size_t best = contents.size();
      for (std::size_t b = 0; b < contents.size(); ++b) {
        if (rooms[b] < length) continue;
        const bool is_better = best == contents.size() ||
                               (fit == Fit::best && (rooms[b] < rooms[best] ||
                                                     (rooms[b] == rooms[best] && turns[b] > turns[best])));
        if (is_better) best = b;
      }
      if (best == contents.size()) {
        contents.emplace_back();
        rooms.push_back(size);
        turns.push_back(0);
      }
      contents[best].push_back(order[turn]);
      rooms[best] -= length;
      turns[best] = static_cast<std::int64_t>(turn);
    }
    for (const Ints& bin : contents) {
      bins.rows.insert(bins.rows.end(), bin.begin(), bin.end());
      bins.offsets.push_back(static_cast<std::int64_t>(bins.rows.size()));
    }
  }
  return bins;
}

void check_bins(const Ints& lengths, std::int64_t size, std::int64_t window) {
  const auto n = static_cast<std::int64_t>(lengths.size());
  for (const Fit fit : {Fit::first, Fit::best}) {
    const Bins bins = varlen::fill_bins(lengths.data(), n, size, window, fit);
    const Bins expected = plain(lengths, size, window, fit);
    CHECK(bins.rows == expected.rows);
    CHECK(bins.offsets == expected.offsets);
  }
}

}  // namespace

TEST(bins, hold_what_a_loop_puts_into_them) {
  for (const std::int64_t size : {1, 7, 64, 4095, 4096, 300'000, (1 << 20) - 1, 1 << 20}) {
    for (const std::int64_t n : {0, 1, 2, 63, 64, 65, 500}) {
      Ints lengths(z(n));
      std::uint64_t state = 7;
      for (std::int64_t& length : lengths) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        length = static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(size + 1));
        if (state >> 63 != 0) length /= 8;
      }
      for (const std::int64_t window : {std::int64_t{1}, std::int64_t{50}, INT64_MAX - 1}) {
        check_bins(lengths, size, std::min(window, n + 1));
      }
    }
  }
}

TEST(bins, are_filled_to_the_brim) {
  check_bins(Ints(200, 5), 5, 300);
  check_bins(Ints(200, 0), 5, 300);
  check_bins({5, 0, 5, 0}, 5, 4);
  const Ints longest(3, INT64_MAX);
  const Bins bins = varlen::fill_bins(longest.data(), 3, INT64_MAX, INT64_MAX, Fit::best);
  CHECK(bins.offsets == (Ints{0, 1, 2, 3}));
}
