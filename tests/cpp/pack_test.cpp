// Time-major blocks and packed rows are written whole and inside exact allocations, from pieces that are each
// an allocation of their own, for one thread and for several, below and past the caches.
#include "varlen/pack.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <random>
#include <utility>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/pad.hpp"
#include "varlen/pool.hpp"

namespace {

using namespace varlen;
using Bytes = std::vector<std::byte>;

std::mt19937_64& random() {
  static std::mt19937_64 engine(7);
  return engine;
}

std::int64_t random_below(std::int64_t n) {
  return static_cast<std::int64_t>(random()() % static_cast<std::uint64_t>(n));
}

std::size_t z(std::int64_t n) {
  return static_cast<std::size_t>(n);
}

struct Sequences {
  std::int64_t width;
  std::vector<Bytes> rows;
  std::vector<Piece> pieces;
  std::vector<std::int64_t> ends;
  std::int64_t longest = 0;

  Sequences(std::int64_t n, std::int64_t limit, std::int64_t width_) : width(width_) {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t length = random_below(4) == 0 ? 0 : random_below(limit);
      rows.push_back(test::noise(length * width));
      ends.push_back((ends.empty() ? 0 : ends.back()) + length);
      longest = std::max(longest, length);
    }
    for (const Bytes& row : rows) {
      pieces.push_back({row.data(), width > 0 ? static_cast<std::int64_t>(row.size()) / width : 0});
    }
  }
  [[nodiscard]] Offsets level() const { return {ends.data(), static_cast<std::int64_t>(ends.size())}; }
};

void check_block(const Sequences& all, Ties ties, bool padded, std::int64_t period) {
  const Offsets level = all.level();
  const std::int64_t n = level.count;
  std::vector<std::int64_t> lengths(z(n)), indices(z(n)), sizes(z(all.longest)), room(z(all.longest + 1));
  pack_order(level, ties, all.longest, lengths.data(), indices.data(), sizes.data(), room.data());
  CHECK(pack_check_lengths(lengths.data(), n, all.longest).ok());
  CHECK(pack_check_level(level, lengths.data(), indices.data()).ok());
  if (n > 1 && lengths.front() != lengths.back()) {
    std::swap(indices.front(), indices.back());
    const Status status = pack_check_level(level, lengths.data(), indices.data());
    CHECK(status.code == Code::count_mismatch && status.where == 0 && status.value == lengths.back());
    std::swap(indices.front(), indices.back());
  }
  CHECK(pack_check_sizes(sizes.data(), all.longest, lengths.data(), n).ok());
  std::vector<std::int64_t> counts(z(all.longest));
  pack_sizes(lengths.data(), n, all.longest, counts.data());
  CHECK(counts == sizes);
  std::vector<std::uint8_t> marks(z(n));
  CHECK(pack_check_indices(indices.data(), n, marks.data()).ok());
  for (std::size_t k = 1; k < lengths.size(); ++k) {
    if (lengths[k] == lengths[k - 1]) CHECK((indices[k] > indices[k - 1]) == (ties == Ties::stable));
  }

  const Steps steps{sizes.data(), all.longest, n, padded};
  Bytes fill(z(period));
  for (std::size_t b = 0; b < fill.size(); ++b) fill[b] = static_cast<std::byte>(b + 1);
  Bytes blank(z(all.width), std::byte{0});
  for (std::size_t b = 0; b < blank.size() && period > 0; ++b) blank[b] = fill[b % fill.size()];
  std::int64_t slots = 0;
  for (const std::int64_t size : sizes) slots += padded ? n : size;
  Bytes want(z(slots * all.width));
  std::byte* to = want.data();
  for (std::int64_t t = 0; t < all.longest && all.width > 0; ++t) {
    for (std::int64_t k = 0; k < (padded ? n : sizes[z(t)]); ++k, to += all.width) {
      const bool exists = t < lengths[z(k)];
      const std::byte* const row = exists ? all.rows[z(indices[z(k)])].data() + t * all.width : blank.data();
      std::memcpy(to, row, z(all.width));
    }
  }
  std::vector<const std::byte*> columns(z(n));
  pack_columns(all.pieces.data(), indices.data(), n, columns.data());
  Bytes block(want.size(), std::byte{0xA5});
  pack(steps, columns.data(), all.width, period > 0 ? fill.data() : nullptr, period, block.data());
  CHECK(test::same_bytes(block, want));

  Bytes flat;
  for (const Bytes& row : all.rows) flat.insert(flat.end(), row.begin(), row.end());
  std::vector<std::int64_t> ends(z(n));
  pack_ends(lengths.data(), indices.data(), n, ends.data());
  CHECK(ends == all.ends);
  std::vector<std::byte*> round_trip(z(n));
  // Where lines begin, as memory of the bindings does.
  const auto at = std::align_val_t{64};
  auto* const out = static_cast<std::byte*>(::operator new(flat.size(), at));
  std::fill_n(out, flat.size(), std::byte{0xA5});
  unpack(steps, block.data(), all.width, {ends.data(), n}, indices.data(), round_trip.data(), out);
  CHECK(flat.empty() || std::memcmp(flat.data(), out, flat.size()) == 0);
  ::operator delete(out, at);
}

}  // namespace

TEST(pack, writes_blocks_whole_and_takes_them_back) {
  constexpr std::int64_t kWidths[] = {0, 1, 2, 3, 4, 8, 12, 16, 17, 33, 64, 100, 128, 200, 384};
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    const int turns = threads == 1 ? test::turns_of_one_thread(1500) : test::turns_of_threads(16);
    for (int turn = 0; turn < turns; ++turn) {
      const std::int64_t width = kWidths[random_below(std::ssize(kWidths))];
      const bool large = threads > 1;
      const std::int64_t shape = random_below(3);
      const std::int64_t n =
          large ? (shape == 0 ? 3000 : 1 + random_below(40)) : random_below(shape == 0 ? 90 : 6);
      const std::int64_t bytes = random_below(4) == 0 ? past_caches_from() * 5 / 4 : 4'000'000;
      const std::int64_t limit =
          large ? 2 + bytes / (n * std::max<std::int64_t>(width, 1)) : 1 + random_below(50);
      const Sequences all(n, std::min<std::int64_t>(limit, 1'000'000), width);
      const std::int64_t period = random_below(2) == 0 || width == 0 ? 0 : width % 4 == 0 ? 4 : width;
      check_block(all, random_below(2) == 0 ? Ties::stable : Ties::reversed, random_below(2) == 0, period);
    }
  }
  set_num_threads(1);
}

TEST(pack, steps_longer_than_a_stage_go_past_the_caches_whole) {
  set_num_threads(test::one_and(3).front());
  constexpr std::int64_t kColumns = 3000;
  constexpr std::int64_t kStarts = 61;  // columns begin at so many rows of the same data
  for (const std::int64_t width : {3, 12, 33, 100}) {
    const std::int64_t count = 2 + past_caches_from() * 5 / 4 / (kColumns * width);
    const Bytes data = test::noise((kStarts - 1 + count) * width);
    std::vector<const std::byte*> columns(z(kColumns));
    for (std::int64_t k = 0; k < kColumns; ++k) columns[z(k)] = data.data() + k % kStarts * width;
    std::vector<std::int64_t> sizes(z(count));
    for (std::int64_t t = 0; t < count; ++t) sizes[z(t)] = kColumns - t / 7;
    std::int64_t rows = 0;
    for (const std::int64_t size : sizes) rows += size;
    const Bytes blanks(z(kColumns * width), std::byte{0});
    for (const bool padded : {false, true}) {
      Bytes block(z((padded ? kColumns * count : rows) * width), std::byte{0xA5});
      CHECK(stores_for(std::ssize(block)) == Stores::past_caches);
      pack({sizes.data(), count, kColumns, padded}, columns.data(), width, nullptr, 0, block.data());
      std::int64_t wrong = 0;
      const std::byte* at = block.data();
      const auto compare = [&](const std::byte* expected, std::int64_t rows_there) {
        wrong += std::memcmp(at, expected, z(rows_there * width)) != 0;
        at += rows_there * width;
      };
      for (std::int64_t t = 0; t < count; ++t) {
        const std::int64_t size = std::max<std::int64_t>(sizes[z(t)], 0);
        // The rows of so many columns lie one behind the other in the data.
        for (std::int64_t k = 0; k < size; k += kStarts) {
          compare(data.data() + t * width, std::min(kStarts, size - k));
        }
        if (padded) compare(blanks.data(), kColumns - size);
      }
      CHECK_EQ(wrong, 0);
    }
  }
  set_num_threads(1);
}

TEST(pack, checks_name_the_first_bad_place) {
  const std::int64_t lengths[] = {3, 1, 2};
  const Status up = pack_check_lengths(lengths, 3, 3);
  CHECK(up.code == Code::increasing && up.where == 2 && up.value == 2);
  const Status over = pack_check_lengths(lengths, 3, 2);
  CHECK(over.code == Code::too_long && over.where == 0 && over.value == 3);
  const std::int64_t huge = std::int64_t{1} << 40;
  const std::int64_t longest[] = {huge, huge - 1};
  CHECK(pack_check_lengths(longest, 2, huge).ok());
  CHECK(pack_check_lengths(longest, 2, huge - 1).value == huge);
  const std::int64_t sorted[] = {3, 2, 1};
  const std::int64_t sizes[] = {3, 2, 2};
  const Status count = pack_check_sizes(sizes, 3, sorted, 3);
  CHECK(count.code == Code::count_mismatch && count.where == 2 && count.value == 1);
  std::uint8_t marks[3];
  const std::int64_t duplicates[] = {0, 2, 2};
  const Status repeated = pack_check_indices(duplicates, 3, marks);
  CHECK(repeated.code == Code::repeated && repeated.where == 2 && repeated.value == 2);
  const std::int64_t wide[] = {0, std::int64_t{1} << 32, 2};
  CHECK(pack_check_indices(wide, 3, marks).code == Code::index_out_of_range);
}
