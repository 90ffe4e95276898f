#include "varlen/edit.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "support/shares.hpp"

namespace varlen {
namespace {

using Word = std::uint64_t;

constexpr std::int64_t kBits = 64;

/// A key of the pattern and its number among them. It is there where its stamp is that of the pair.
struct Slot {
  std::int64_t key;
  std::uint32_t stamp;
  std::int32_t id;
};

struct Keys {
  const std::int64_t* cursor;
  std::int64_t count;
};

constexpr std::int64_t blocks_of(std::int64_t rows) noexcept {
  return (rows + kBits - 1) / kBits;
}

/// Slots of a table that is at most half full.
constexpr std::int64_t slots_for(std::int64_t rows) noexcept {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<Word>(2 * rows + 2)));
}

/// Blocks that go along the text together, so that one need not wait for itself.
constexpr std::int64_t kStrip = 4;

/// Where things lie in the memory of a share whose pairs have so many keys at most: masks of each number, the
/// numbers of the keys of both sides, what leaves a strip below, and the table that numbers keys. Where the
/// keys are numbers themselves, masks and what leaves a strip are all.
struct Room {
  std::int64_t masks;  ///< words of a mask
  std::int64_t slots = 0;
  std::int64_t table = 0;
  std::int64_t pattern_ids = 0;
  std::int64_t text_ids = 0;
  std::int64_t carries = 0;
  std::int64_t bytes = 0;

  Room(std::int64_t longest, std::int64_t range) noexcept
      : masks((range > 0 ? range + 1 : longest + 1) * (longest > kBits ? kStrip : 2)) {
    const std::int64_t keys = range > 0 ? 0 : longest;
    slots = range > 0 ? 0 : slots_for(longest);
    table = masks * static_cast<std::int64_t>(sizeof(Word));
    pattern_ids = table + slots * static_cast<std::int64_t>(sizeof(Slot));
    text_ids = pattern_ids + keys * static_cast<std::int64_t>(sizeof(std::int32_t));
    carries = text_ids + keys * static_cast<std::int64_t>(sizeof(std::int32_t));
    bytes = carries + longest;
  }
};

struct Pair {
  Keys pattern;
  Keys text;
};

/// What both sides begin and end with costs nothing.
void trim(Keys& a, Keys& b) noexcept {
  while (a.count > 0 && b.count > 0 && a.cursor[0] == b.cursor[0]) {
    ++a.cursor;
    ++b.cursor;
    --a.count;
    --b.count;
  }
  while (a.count > 0 && b.count > 0 && a.cursor[a.count - 1] == b.cursor[b.count - 1]) {
    --a.count;
    --b.count;
  }
}

/// One column of 64 rows: `carry` is what comes from the block above, bit 0 for +1, bit 1 for -1.
struct Column {
  Word up = ~Word{0};  ///< rows that are one more than the row above
  Word down = 0;       ///< rows that are one less

  /// What leaves below the last row.
  unsigned step(Word equal, unsigned carry) noexcept {
    const Word plus = carry & 1U;
    const Word minus = carry >> 1U;
    const Word vertical = equal | down;
    equal |= minus;
    const Word horizontal = (((equal & up) + up) ^ up) | equal;
    Word right_up = down | ~(horizontal | up);
    Word right_down = up & horizontal;
    const auto out = static_cast<unsigned>((right_up >> 63U) | ((right_down >> 63U) << 1U));
    right_up = (right_up << 1U) | plus;
    right_down = (right_down << 1U) | minus;
    up = right_down | ~(vertical | right_up);
    down = right_up & vertical;
    return out;
  }

  /// By how much the last of some rows is more than what is above the first.
  [[nodiscard]] std::int64_t change(std::int64_t rows) const noexcept {
    const Word mask = rows >= kBits ? ~Word{0} : rows <= 0 ? 0 : (Word{1} << rows) - 1;
    return std::popcount(up & mask) - std::popcount(down & mask);
  }
};

/// Numbers of the keys of a side: from `low` on, those of its masks. Keys are checked where they are read,
/// for another thread may write them: what is no number has that of no key, `limit`.
template <class Id>
struct Numbering {
  const Id* cursor;
  std::int64_t count;
  Word low;
  Word limit;

  [[nodiscard]] std::int64_t operator[](std::int64_t k) const noexcept {
    const Word id = static_cast<Word>(cursor[k]) - low;
    return static_cast<std::int64_t>(id < limit ? id : limit);
  }
};

/// Distances of the pairs of one share.
class Distances {
 public:
  Distances(const EditJob& job, std::int64_t longest, std::byte* scratch) noexcept
      : job_(job),
        room_(longest, job.range),
        masks_(reinterpret_cast<Word*>(scratch)),
        slots_(reinterpret_cast<Slot*>(scratch + room_.table)),
        pattern_ids_(reinterpret_cast<std::int32_t*>(scratch + room_.pattern_ids)),
        text_ids_(reinterpret_cast<std::int32_t*>(scratch + room_.text_ids)),
        carries_(reinterpret_cast<std::uint8_t*>(scratch + room_.carries)) {
    std::fill(masks_, masks_ + room_.masks, Word{0});
    clear();
  }

  /// Those of the pairs, into `out`. Short ones go along their texts two by two, so that none waits for
  /// itself.
  template <class PairOf>
  void measure(Range share, PairOf pair_of, std::int64_t* out) noexcept {
    std::int64_t partner = -1;
    Pair first{};
    for (std::int64_t i = share.begin; i < share.end; ++i) {
      const Pair pair = shorter(pair_of(i));
      if (pair.pattern.count == 0 || pair.text.count == 0) {
        out[i] = pair.pattern.count + pair.text.count;
      } else if (job_.range == 0 || pair.pattern.count > kBits) {
        out[i] = measure_one(pair);
      } else if (partner < 0) {
        partner = i;
        first = pair;
      } else {
        two(first, pair, out[partner], out[i]);
        partner = -1;
      }
    }
    if (partner >= 0) out[partner] = measure_one(first);
  }

 private:
  void clear() noexcept {
    std::fill(slots_, slots_ + room_.slots, Slot{0, 0, 0});
    stamp_ = 0;
  }

  [[nodiscard]] Slot& slot_of(std::int64_t key) const noexcept {
    auto cursor = static_cast<std::int64_t>((static_cast<Word>(key) * 0x9E3779B97F4A7C15U) >> shift_);
    const std::int64_t last = (std::int64_t{1} << (kBits - shift_)) - 1;
    while (slots_[cursor].stamp == stamp_ && slots_[cursor].key != key) cursor = (cursor + 1) & last;
    return slots_[cursor];
  }

  /// Keys as numbers of the distinct ones of the pattern; one more for those that are not there.
  void number(Keys pattern, Keys text) noexcept {
    if (++stamp_ == 0) {
      clear();
      stamp_ = 1;
    }
    shift_ = static_cast<unsigned>(std::countl_zero(static_cast<Word>(slots_for(pattern.count)))) + 1;
    std::int32_t distinct = 0;
    for (std::int64_t k = 0; k < pattern.count; ++k) {
      const std::int64_t key = pattern.cursor[k];
      Slot& slot = slot_of(key);
      if (slot.stamp != stamp_) slot = {key, stamp_, distinct++};
      pattern_ids_[k] = slot.id;
    }
    for (std::int64_t j = 0; j < text.count; ++j) {
      const std::int64_t key = text.cursor[j];
      const Slot& slot = slot_of(key);
      const bool is_there = slot.stamp == stamp_ && !(job_.mixed_signs && key < 0);
      text_ids_[j] = is_there ? slot.id : distinct;
    }
  }

  /// A pair without what both begin and end with, whichever way has fewer columns of words.
  [[nodiscard]] Pair shorter(Pair pair) const noexcept {
    if (!job_.mixed_signs) trim(pair.pattern, pair.text);
    const auto steps = [](const Keys& a, const Keys& b) { return blocks_of(a.count) * b.count; };
    if (steps(pair.pattern, pair.text) > steps(pair.text, pair.pattern)) std::swap(pair.pattern, pair.text);
    return pair;
  }

  [[nodiscard]] Numbering<std::int64_t> as_numbers(const Keys& keys) const noexcept {
    return {keys.cursor, keys.count, static_cast<Word>(job_.low), static_cast<Word>(job_.range)};
  }

  std::int64_t measure_one(const Pair& pair) noexcept {
    if (job_.range > 0) return across(as_numbers(pair.pattern), as_numbers(pair.text));
    number(pair.pattern, pair.text);
    const auto sentinel = static_cast<Word>(pair.pattern.count);
    return across(Numbering<std::int32_t>{pattern_ids_, pair.pattern.count, 0, sentinel},
                  Numbering<std::int32_t>{text_ids_, pair.text.count, 0, sentinel});
  }

  /// Two pairs whose patterns are a word each, and whose keys are numbers.
  void two(const Pair& one, const Pair& other, std::int64_t& distance, std::int64_t& its_distance) noexcept {
    const std::array<Numbering<std::int64_t>, 2> patterns{as_numbers(one.pattern), as_numbers(other.pattern)};
    const std::array<Numbering<std::int64_t>, 2> texts{as_numbers(one.text), as_numbers(other.text)};
    for (std::size_t p = 0; p < 2; ++p) {
      Word* const masks = masks_ + p;
      for (std::int64_t k = 0; k < patterns[p].count; ++k) masks[patterns[p][k] * 2] |= Word{1} << k;
    }
    Column column;
    Column its_column;
    const std::int64_t common = std::min(texts[0].count, texts[1].count);
    for (std::int64_t j = 0; j < common; ++j) {
      static_cast<void>(column.step(masks_[texts[0][j] * 2], 1U));
      static_cast<void>(its_column.step(masks_[texts[1][j] * 2 + 1], 1U));
    }
    for (std::int64_t j = common; j < texts[0].count; ++j) {
      static_cast<void>(column.step(masks_[texts[0][j] * 2], 1U));
    }
    for (std::int64_t j = common; j < texts[1].count; ++j) {
      static_cast<void>(its_column.step(masks_[texts[1][j] * 2 + 1], 1U));
    }
    for (std::size_t p = 0; p < 2; ++p) {
      Word* const masks = masks_ + p;
      for (std::int64_t k = 0; k < patterns[p].count; ++k) masks[patterns[p][k] * 2] = 0;
    }
    distance = texts[0].count + column.change(patterns[0].count);
    its_distance = texts[1].count + its_column.change(patterns[1].count);
  }

  template <class Id>
  std::int64_t across(const Numbering<Id>& pattern, const Numbering<Id>& text) noexcept {
    // The first row of the table counts the rows of the text; down its last column the blocks say the rest.
    const std::int64_t blocks = blocks_of(pattern.count);
    if (blocks == 1) return text.count + strip<1, true>(pattern, 0, text);
    if (blocks == 2) return text.count + strip<2, true>(pattern, 0, text);
    if (blocks <= kStrip) return text.count + strip<kStrip, true>(pattern, 0, text);
    std::fill(carries_, carries_ + text.count, std::uint8_t{1});
    std::int64_t distance = text.count;
    for (std::int64_t begin = 0; begin < pattern.count; begin += kStrip * kBits) {
      distance += strip<kStrip, false>(pattern, begin, text);
    }
    return distance;
  }

  /// `width` blocks of rows from `begin` on, along the text: by how much the last column changes down them.
  /// Only: there are no others.
  template <std::int64_t width, bool is_only, class Id>
  std::int64_t strip(const Numbering<Id>& pattern, std::int64_t begin, const Numbering<Id>& text) noexcept {
    const std::int64_t rows = std::min(width * kBits, pattern.count - begin);
    for (std::int64_t k = 0; k < rows; ++k) {
      masks_[pattern[begin + k] * width + k / kBits] |= Word{1} << (k % kBits);
    }
    std::array<Column, width> columns;
    for (std::int64_t j = 0; j < text.count; ++j) {
      const Word* const equal = masks_ + text[j] * width;
      unsigned carry = is_only ? 1U : carries_[j];
      for (std::size_t b = 0; b < width; ++b) carry = columns[b].step(equal[b], carry);
      if constexpr (!is_only) carries_[j] = static_cast<std::uint8_t>(carry);
    }
    for (std::int64_t k = 0; k < rows; ++k) masks_[pattern[begin + k] * width + k / kBits] = 0;
    std::int64_t change = 0;
    for (std::int64_t b = 0; b < width; ++b) {
      change += columns[static_cast<std::size_t>(b)].change(rows - b * kBits);
    }
    return change;
  }

  const EditJob& job_;
  Room room_;
  Word* masks_;  ///< all zero between pairs
  Slot* slots_;
  std::int32_t* pattern_ids_;
  std::int32_t* text_ids_;
  std::uint8_t* carries_;
  std::uint32_t stamp_ = 0;
  unsigned shift_ = 0;
};

/// Edits in the upper half of a number, substitutions among them in the lower: the least is what is asked
/// for.
constexpr std::int64_t kEdit = std::int64_t{1} << 32;
constexpr std::int64_t kSubstitution = kEdit + 1;

/// Distance and substitutions of a pair, by rows of the plain table; `row` holds b.count + 1 numbers.
std::int64_t count_edits(Keys a, Keys b, bool mixed_signs, std::int64_t* row) noexcept {
  if (!mixed_signs) trim(a, b);
  for (std::int64_t j = 0; j <= b.count; ++j) row[j] = j * kEdit;
  for (std::int64_t i = 0; i < a.count; ++i) {
    const std::int64_t key = a.cursor[i];
    const bool never = mixed_signs && key < 0;
    std::int64_t corner = row[0];
    std::int64_t left = corner + kEdit;
    row[0] = left;
    for (std::int64_t j = 0; j < b.count; ++j) {
      const bool is_same = key == b.cursor[j] && !never;
      const std::int64_t through = corner + (is_same ? 0 : kSubstitution);
      corner = row[j + 1];
      left = std::min(through, std::min(corner, left) + kEdit);
      row[j + 1] = left;
    }
  }
  return row[b.count];
}

/// The smallest and the largest of some keys.
struct Ends {
  std::int64_t low;
  std::int64_t high;

  void see(const std::int64_t* keys, std::int64_t count) noexcept {
    // Four at a time, so that none waits for the one before it.
    std::array<std::int64_t, 4> lows{low, low, low, low};
    std::array<std::int64_t, 4> highs{high, high, high, high};
    std::int64_t k = 0;
    for (; k + 4 <= count; k += 4) {
      for (std::size_t lane = 0; lane < 4; ++lane) {
        const std::int64_t key = keys[k + static_cast<std::int64_t>(lane)];
        lows[lane] = key < lows[lane] ? key : lows[lane];
        highs[lane] = key > highs[lane] ? key : highs[lane];
      }
    }
    for (; k < count; ++k) {
      lows[0] = std::min(lows[0], keys[k]);
      highs[0] = std::max(highs[0], keys[k]);
    }
    low = *std::min_element(lows.begin(), lows.end());
    high = *std::max_element(highs.begin(), highs.end());
  }
};

/// The bits that any of some keys has; no key is above them, where none is below 0.
Word bits_of(const std::int64_t* keys, std::int64_t count) noexcept {
  Word bits = 0;
  for (std::int64_t k = 0; k < count; ++k) bits |= static_cast<Word>(keys[k]);
  return bits;
}

std::int64_t longest_of(const EditJob& job, std::int64_t i) noexcept {
  return std::max(job.a.length(i), job.b.length(i));
}

}  // namespace

void find_range(EditJob& job) noexcept {
  const std::int64_t a_count = job.a.total();
  const std::int64_t b_count = job.b.total();
  if (job.mixed_signs || a_count == 0 || b_count == 0) return;
  // Masks that fit a second cache, and are cleared in less time than the keys are numbered in.
  const std::int64_t cap = std::min<std::int64_t>(8192, 256 + (a_count + b_count) / 8);
  // Small numbers from 0 on show by their bits, which are had sooner than their ends.
  const Word bits = bits_of(job.a_keys, a_count) | bits_of(job.b_keys, b_count);
  if (bits < static_cast<Word>(cap)) {
    job.low = 0;
    job.range = static_cast<std::int64_t>(bits) + 1;
    return;
  }
  Ends all{job.a_keys[0], job.a_keys[0]};
  all.see(job.a_keys, a_count);
  all.see(job.b_keys, b_count);
  const std::int64_t low = all.low;
  const Word range = static_cast<Word>(all.high) - static_cast<Word>(low);
  if (range >= static_cast<Word>(cap)) return;
  job.low = low;
  job.range = static_cast<std::int64_t>(range) + 1;
}

WorkShares edit_shares(const EditJob& job) noexcept {
  return shares_of(
      job.a.count,
      [&](std::int64_t i) {
        const std::int64_t m = job.a.length(i);
        const std::int64_t n = job.b.length(i);
        // Bytes that could be moved in the time of a step of 3 ns, of a cell of 1 ns, of looking a key up.
        return job.wants_counts ? 8 * m * n + 64
                                : 32 * std::min(blocks_of(m) * n, blocks_of(n) * m) + 32 * (m + n);
      },
      [&](std::int64_t i) {
        return job.wants_counts ? (job.b.length(i) + 1) * static_cast<std::int64_t>(sizeof(std::int64_t))
                                : Room(longest_of(job, i), job.range).bytes;
      });
}

void edit_distance(const EditJob& job, const WorkShares& shares, std::byte* scratch, std::int64_t* distances,
                   std::int64_t* counts) noexcept {
  by_work(shares, scratch, [&](Range share, std::byte* own) {
    const auto keys_of = [](Offsets level, const std::int64_t* keys, std::int64_t i) {
      return Keys{keys + level.start(i), level.length(i)};
    };
    if (job.wants_counts) {
      for (std::int64_t i = share.begin; i < share.end; ++i) {
        const Keys a = keys_of(job.a, job.a_keys, i);
        const Keys b = keys_of(job.b, job.b_keys, i);
        const std::int64_t common = count_edits(a, b, job.mixed_signs, reinterpret_cast<std::int64_t*>(own));
        const std::int64_t edits = common / kEdit;
        const std::int64_t substitutions = common % kEdit;
        const std::int64_t surplus = a.count - b.count;  // insertions less deletions
        distances[i] = edits;
        counts[3 * i] = substitutions;
        counts[3 * i + 1] = (edits - substitutions + surplus) / 2;
        counts[3 * i + 2] = (edits - substitutions - surplus) / 2;
      }
    } else {
      std::int64_t longest = 0;
      for (std::int64_t i = share.begin; i < share.end; ++i) longest = std::max(longest, longest_of(job, i));
      Distances pairs(job, longest, own);
      const auto pair_of = [&](std::int64_t i) {
        return Pair{keys_of(job.a, job.a_keys, i), keys_of(job.b, job.b_keys, i)};
      };
      pairs.measure(share, pair_of, distances);
    }
  });
}

}  // namespace varlen
