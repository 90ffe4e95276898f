#include "varlen/edit.hpp"

#include <algorithm>
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
  const std::int64_t* at;
  std::int64_t count;
};

constexpr std::int64_t blocks_of(std::int64_t rows) noexcept {
  return (rows + kBits - 1) / kBits;
}

/// Slots of a table that is at most half full.
constexpr std::int64_t slots_for(std::int64_t rows) noexcept {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<Word>(2 * rows + 2)));
}

/// Where things lie in the memory for pairs of so many keys at most: the table, a mask for each key, the
/// numbers of the keys of both sides, what leaves a block below.
struct Room {
  std::int64_t slots;
  std::int64_t masks;
  std::int64_t pattern_ids;
  std::int64_t text_ids;
  std::int64_t carries;
  std::int64_t bytes;

  explicit Room(std::int64_t longest) noexcept
      : slots(slots_for(longest)),
        masks(slots * static_cast<std::int64_t>(sizeof(Slot))),
        pattern_ids(masks + (longest + 1) * static_cast<std::int64_t>(sizeof(Word))),
        text_ids(pattern_ids + longest * static_cast<std::int64_t>(sizeof(std::int32_t))),
        carries(text_ids + longest * static_cast<std::int64_t>(sizeof(std::int32_t))),
        bytes(carries + longest) {}
};

/// What both sides begin and end with costs nothing.
void trim(Keys& a, Keys& b) noexcept {
  while (a.count > 0 && b.count > 0 && a.at[0] == b.at[0]) {
    ++a.at;
    ++b.at;
    --a.count;
    --b.count;
  }
  while (a.count > 0 && b.count > 0 && a.at[a.count - 1] == b.at[b.count - 1]) {
    --a.count;
    --b.count;
  }
}

/// One column of 64 rows: `carry` is what comes from the block above, bit 0 for +1, bit 1 for -1.
struct Column {
  Word up = ~Word{0};  ///< rows that are one more than the row above
  Word down = 0;       ///< rows that are one less

  unsigned step(Word equal, unsigned carry, unsigned last) noexcept {
    const Word plus = carry & 1U;
    const Word minus = carry >> 1U;
    const Word vertical = equal | down;
    equal |= minus;
    const Word horizontal = (((equal & up) + up) ^ up) | equal;
    Word right_up = down | ~(horizontal | up);
    Word right_down = up & horizontal;
    const auto out = static_cast<unsigned>(((right_up >> last) & 1U) | (((right_down >> last) & 1U) << 1U));
    right_up = (right_up << 1U) | plus;
    right_down = (right_down << 1U) | minus;
    up = right_down | ~(vertical | right_up);
    down = right_up & vertical;
    return out;
  }
};

/// Distances of the pairs of one share.
class Distances {
 public:
  Distances(bool mixed_signs, const Room& room, std::byte* scratch) noexcept
      : mixed_signs_(mixed_signs),
        slots_count_(room.slots),
        slots_(reinterpret_cast<Slot*>(scratch)),
        masks_(reinterpret_cast<Word*>(scratch + room.masks)),
        pattern_ids_(reinterpret_cast<std::int32_t*>(scratch + room.pattern_ids)),
        text_ids_(reinterpret_cast<std::int32_t*>(scratch + room.text_ids)),
        carries_(reinterpret_cast<std::uint8_t*>(scratch + room.carries)) {
    clear();
  }

  std::int64_t of(Keys pattern, Keys text) noexcept {
    if (!mixed_signs_) trim(pattern, text);
    // Whichever way has fewer columns of words.
    if (blocks_of(pattern.count) * text.count > blocks_of(text.count) * pattern.count) {
      std::swap(pattern, text);
    }
    if (pattern.count == 0 || text.count == 0) return pattern.count + text.count;
    return across(pattern, text);
  }

 private:
  void clear() noexcept {
    std::fill(slots_, slots_ + slots_count_, Slot{0, 0, 0});
    stamp_ = 0;
  }

  [[nodiscard]] Slot& slot_of(std::int64_t key) const noexcept {
    auto at = static_cast<std::int64_t>((static_cast<Word>(key) * 0x9E3779B97F4A7C15U) >> shift_);
    const std::int64_t last = (std::int64_t{1} << (kBits - shift_)) - 1;
    while (slots_[at].stamp == stamp_ && slots_[at].key != key) at = (at + 1) & last;
    return slots_[at];
  }

  std::int64_t across(Keys pattern, Keys text) noexcept {
    number(pattern, text);
    std::int64_t distance = pattern.count;
    for (std::int64_t begin = 0; begin < pattern.count; begin += kBits) {
      const std::int64_t rows = std::min(kBits, pattern.count - begin);
      const std::int32_t* const ids = pattern_ids_ + begin;
      for (std::int64_t k = 0; k < rows; ++k) masks_[ids[k]] |= Word{1} << k;
      const auto last = static_cast<unsigned>(rows - 1);
      Column column;
      if (begin + rows == pattern.count) {
        for (std::int64_t j = 0; j < text.count; ++j) {
          const unsigned out = column.step(masks_[text_ids_[j]], carries_[j], last);
          distance += static_cast<std::int64_t>(out & 1U) - static_cast<std::int64_t>(out >> 1U);
        }
      } else {
        for (std::int64_t j = 0; j < text.count; ++j) {
          carries_[j] = static_cast<std::uint8_t>(column.step(masks_[text_ids_[j]], carries_[j], last));
        }
      }
      for (std::int64_t k = 0; k < rows; ++k) masks_[ids[k]] = 0;
    }
    return distance;
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
      const std::int64_t key = pattern.at[k];
      Slot& slot = slot_of(key);
      if (slot.stamp != stamp_) slot = {key, stamp_, distinct++};
      pattern_ids_[k] = slot.id;
    }
    for (std::int64_t j = 0; j < text.count; ++j) {
      const std::int64_t key = text.at[j];
      const Slot& slot = slot_of(key);
      const bool is_there = slot.stamp == stamp_ && !(mixed_signs_ && key < 0);
      text_ids_[j] = is_there ? slot.id : distinct;
      carries_[j] = 1;
    }
    std::fill(masks_, masks_ + distinct + 1, Word{0});
  }

  bool mixed_signs_;
  std::int64_t slots_count_;
  Slot* slots_;
  Word* masks_;
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
std::int64_t counted(Keys a, Keys b, bool mixed_signs, std::int64_t* row) noexcept {
  if (!mixed_signs) trim(a, b);
  for (std::int64_t j = 0; j <= b.count; ++j) row[j] = j * kEdit;
  for (std::int64_t i = 0; i < a.count; ++i) {
    const std::int64_t key = a.at[i];
    const bool never = mixed_signs && key < 0;
    std::int64_t corner = row[0];
    std::int64_t left = corner + kEdit;
    row[0] = left;
    for (std::int64_t j = 0; j < b.count; ++j) {
      const bool same = key == b.at[j] && !never;
      const std::int64_t through = corner + (same ? 0 : kSubstitution);
      corner = row[j + 1];
      left = std::min(through, std::min(corner, left) + kEdit);
      row[j + 1] = left;
    }
  }
  return row[b.count];
}

std::int64_t longest_of(const EditJob& job, std::int64_t i) noexcept {
  return std::max(job.a.length(i), job.b.length(i));
}

}  // namespace

WorkShares edit_shares(const EditJob& job) noexcept {
  return shares_of(
      job.a.count,
      [&](std::int64_t i) {
        const std::int64_t m = job.a.length(i);
        const std::int64_t n = job.b.length(i);
        // Bytes that could be moved in the time of a step of 3 ns, of a cell of 1 ns, of looking a key up.
        return job.counted ? 8 * m * n + 64
                           : 32 * std::min(blocks_of(m) * n, blocks_of(n) * m) + 32 * (m + n);
      },
      [&](std::int64_t i) {
        return job.counted ? (job.b.length(i) + 1) * static_cast<std::int64_t>(sizeof(std::int64_t))
                           : Room(longest_of(job, i)).bytes;
      });
}

void edit_distance(const EditJob& job, const WorkShares& shares, std::byte* scratch, std::int64_t* distances,
                   std::int64_t* counts) noexcept {
  by_work(shares, scratch, [&](Range some, std::byte* own) {
    const auto keys_of = [](Offsets level, const std::int64_t* keys, std::int64_t i) {
      return Keys{keys + level.start(i), level.length(i)};
    };
    if (job.counted) {
      for (std::int64_t i = some.begin; i < some.end; ++i) {
        const Keys a = keys_of(job.a, job.a_keys, i);
        const Keys b = keys_of(job.b, job.b_keys, i);
        const std::int64_t both = counted(a, b, job.mixed_signs, reinterpret_cast<std::int64_t*>(own));
        const std::int64_t edits = both / kEdit;
        const std::int64_t substitutions = both % kEdit;
        const std::int64_t more = a.count - b.count;  // insertions less deletions
        distances[i] = edits;
        counts[3 * i] = substitutions;
        counts[3 * i + 1] = (edits - substitutions + more) / 2;
        counts[3 * i + 2] = (edits - substitutions - more) / 2;
      }
    } else {
      std::int64_t longest = 0;
      for (std::int64_t i = some.begin; i < some.end; ++i) longest = std::max(longest, longest_of(job, i));
      Distances pairs(job.mixed_signs, Room(longest), own);
      for (std::int64_t i = some.begin; i < some.end; ++i) {
        distances[i] = pairs.of(keys_of(job.a, job.a_keys, i), keys_of(job.b, job.b_keys, i));
      }
    }
  });
}

}  // namespace varlen
