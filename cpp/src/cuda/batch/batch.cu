#include <algorithm>
#include <iterator>

#include "support/conversion.hpp"
#include "support/divisor.hpp"
#include "support/launch.hpp"
#include "support/move.hpp"
#include "support/sequences.hpp"
#include "support/view.hpp"
#include "support/word.hpp"
#include "varlen/cuda/batch.hpp"

namespace varlen::cuda {

namespace {

struct Axis {
  Ends level;
  std::int64_t slots;
  std::int64_t keep;
};

/// What one of the arrays is made of. Words are counted in the output; one that changes is an element.
struct alignas(16) Array {
  alignas(16) std::byte blank[kWidestFill];
  View<const std::byte> blank_row;  ///< null: `blank` repeats
  View<const std::byte> input;
  std::byte* out;
  std::int64_t rows;
  std::int64_t words;
  std::int64_t first_block;
  std::int64_t tail;  ///< slots below the last axis of this array
  Divisor words_of_row;
  Conversion change;
  BatchKind kind;
  std::int8_t depth;
  std::int8_t word_in;
  std::int8_t word_out;
};

/// Every array has blocks of its own; a block writes some words of one.
struct Batch {
  static constexpr bool kNoBarrier = true;
  static constexpr int kWords = 4;
  static constexpr int kArrays = 24;

  Axis axes[kMostDepth];
  Divisor unit_slots[kMostDepth + 1];  ///< slots of a sequence, of a child on the first axis, and so on
  View<const std::int64_t> sequences;  ///< null: one after another
  Array arrays[kArrays];
  int count;
  bool fill_left;
  bool cut_left;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    int which = count - 1;
    VARLEN_ROLLED while (arrays[which].first_block > thread.block()) {
      --which;
    }
    const Array& array = arrays[which];
    const int step = thread.threads();
    const std::int64_t first = (thread.block() - array.first_block) * step * kWords + thread.index();
    const std::int64_t left = array.words - first;
    Word16 words[kWords];
    std::int64_t from[kWords];
    VARLEN_UNROLLED for (int k = 0; k < kWords; ++k) {
      words[k] = {1, 0};
      from[k] = k * step < left ? find(array, first + k * step) : -1;
    }
    if (array.kind != BatchKind::mask) {
      with_word(array.word_in, [&](auto zero) {
        VARLEN_UNROLLED for (int k = 0; k < kWords; ++k) {
          if (from[k] >= 0) words[k] = widen_word(word_at<decltype(zero)>(array.input, from[k]));
        }
      });
    }
    if (array.kind == BatchKind::cast || array.kind == BatchKind::not_nan) {
      VARLEN_UNROLLED for (int k = 0; k < kWords; ++k) words[k].low = array.change(words[k].low);
    }
    const View<const std::byte> fill =
        array.blank_row.data != nullptr ? array.blank_row : View<const std::byte>{array.blank, kWidestFill};
    with_word(array.word_out, [&](auto zero) {
      using Word = decltype(zero);
      const View<Word> to{reinterpret_cast<Word*>(array.out), array.words};
      VARLEN_UNROLLED for (int k = 0; k < kWords; ++k) {
        if (k * step >= left) continue;
        to[first + k * step] = from[k] >= 0 ? narrow_word<Word>(words[k]) : word_at<Word>(fill, ~from[k]);
      }
    });
  }

 private:
  /// Where a word of the output lies among the rows, in bytes; ~ of where it lies in the fill if it does.
  [[nodiscard]] VARLEN_CALLED std::int64_t find(const Array& array, std::int64_t word) const {
    std::int64_t unit = array.words_of_row.quotient(word);
    const std::int64_t column = word - unit * array.words_of_row.divisor();
    if (array.depth > 0) {
      std::int64_t rest = unit * array.tail;
      unit = unit_slots[0].quotient(rest);
      rest -= unit * unit_slots[0].divisor();
      if (sequences.data != nullptr) {
        unit = sequences[unit];
        if (unit < 0) unit += axes[0].level.count();
      }
      VARLEN_ROLLED for (int d = 0; d < array.depth; ++d) {
        const Axis& axis = axes[d];
        const std::int64_t slot = unit_slots[d + 1].quotient(rest);
        rest -= slot * unit_slots[d + 1].divisor();
        if (unit < 0 || unit >= axis.level.count()) {
          unit = -1;
          break;
        }
        const std::int64_t start = axis.level.start(unit);
        const std::int64_t length = axis.level.end(unit) - start;
        const std::int64_t keep_count = length < axis.keep ? length : axis.keep;
        const std::int64_t child = fill_left ? slot - (axis.slots - keep_count) : slot;
        unit = child < 0 || child >= keep_count ? -1 : start + (cut_left ? length - keep_count : 0) + child;
      }
      if (unit >= array.rows) unit = -1;
    }
    if (unit >= 0) return (unit * array.words_of_row.divisor() + column) * array.word_in;
    const std::int64_t blank_at = column * array.word_out;
    return ~(array.blank_row.data != nullptr ? blank_at : blank_at % kWidestFill);
  }

  [[nodiscard]] static VARLEN_DEVICE Word16 widen_word(Word16 word) { return word; }
  [[nodiscard]] static VARLEN_DEVICE Word16 widen_word(std::uint64_t word) { return {word, 0}; }
  template <class Word>
  [[nodiscard]] static VARLEN_DEVICE Word narrow_word(Word16 word) {
    if constexpr (sizeof(Word) == 16) {
      return word;
    } else {
      return static_cast<Word>(word.low);
    }
  }
};

void set_array(Array& to, const BatchArray& from, std::int64_t rows) noexcept {
  to = {};
  to.kind = from.kind;
  to.depth = static_cast<std::int8_t>(from.depth);
  to.input = {from.rows.data, from.rows.count * from.rows.width};
  to.out = from.out;
  to.rows = from.rows.count;
  std::int64_t words = 1;
  if (from.kind == BatchKind::mask) {
    to.word_in = to.word_out = 1;
  } else if (from.kind == BatchKind::bytes) {
    const std::byte* const row = is_host_fill(from.fill.period) ? nullptr : from.fill.data;
    const std::int64_t word = word_of(from.rows.width, {from.rows.data, from.out, row});
    to.word_in = to.word_out = static_cast<std::int8_t>(word);
    words = from.rows.width / word;
  } else {
    const bool is_cast = from.kind == BatchKind::cast;
    to.word_in = static_cast<std::int8_t>(bytes_of(from.from));
    to.word_out = static_cast<std::int8_t>(is_cast ? bytes_of(from.to) : 1);
    words = from.rows.width / to.word_in;
    to.change = {from.from, is_cast ? from.to : Type::b1,
                 !is_cast            ? Instead::mask
                 : from.replaces_nan ? Instead::nan
                                     : Instead::none,
                 is_cast ? from.nan : 1};
  }
  to.words = rows * words;
  to.words_of_row = Divisor(std::max<std::int64_t>(words, 1), std::max<std::int64_t>(to.words, 1));
  const Blank blank = blank_of(from.fill);
  to.blank_row = {blank.row, blank.row != nullptr ? from.fill.period : 0};
  std::copy(std::begin(blank.bytes), std::end(blank.bytes), to.blank);
}

static_assert(sizeof(Batch) <= 4096, "kernels take so many bytes");

}  // namespace

Error batch(Stream stream, const BatchJob& job) noexcept {
  Batch body{};
  body.fill_left = job.side == Side::left;
  body.cut_left = job.cut == Side::left;
  body.sequences = {job.sequences, job.n};
  // An axis without slots has no rows below it, but arrays above it do.
  std::int64_t slots = std::max<std::int64_t>(job.n, 1);
  for (int d = 0; d < job.depth; ++d) slots *= std::max<std::int64_t>(job.axes[d].slots, 1);
  std::int64_t unit_slots = 1;
  std::int64_t tails[kMostDepth + 1];
  for (int d = job.depth; d >= 0; --d) {
    body.unit_slots[d] = Divisor(unit_slots, slots);
    tails[d] = unit_slots;
    if (d == 0) break;
    const BatchAxis& axis = job.axes[d - 1];
    body.axes[d - 1] = {ends_of(axis.ends), axis.slots, std::min(axis.keep, axis.slots)};
    unit_slots *= std::max<std::int64_t>(axis.slots, 1);
  }
  Grid grid;
  for (std::int64_t i = 0; i < job.count; ++i) {
    const BatchArray& array = job.arrays[i];
    std::int64_t rows = array.depth > 0 ? job.n : array.rows.count;
    for (int d = 0; d < array.depth; ++d) rows *= job.axes[d].slots;
    set_array(body.arrays[body.count], array, rows);
    if (body.arrays[body.count].words > 0) {
      body.arrays[body.count].tail = tails[array.depth];
      body.arrays[body.count].first_block = grid.blocks;
      grid.blocks +=
          blocks_for(body.arrays[body.count].words, static_cast<std::int64_t>(grid.threads) * Batch::kWords);
      ++body.count;
    }
    if (body.count < Batch::kArrays && i + 1 < job.count) continue;
    if (const Error error = launch(stream, grid, body); error != 0) return error;
    grid.blocks = 0;
    body.count = 0;
  }
  return 0;
}

}  // namespace varlen::cuda
