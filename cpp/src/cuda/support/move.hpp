// Rows that change places: every word of an output is written once, wherever it comes from.
//
// A map says which row of the input becomes which row of the output:
//
//     Scope scope(first, last) const;              // what output rows [first, last] have in common
//     std::int64_t source(scope, row) const;       // the input row; below 0 where the fill goes
//
// or, where rows come from several inputs,
//
//     const std::byte* source(scope, row) const;   // where the input row lies; null where the fill goes
//
// and may have more to write for a row than its words:
//
//     void note(row) const;                        // called once for every output row
//
// Neighbouring threads write neighbouring words, the widest that the rows allow; each has kWords of them on
// their way at a time. Bytes are not looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "divisor.hpp"
#include "launch.hpp"
#include "varlen/cuda/fill.hpp"
#include "varlen/views.hpp"
#include "view.hpp"
#include "word.hpp"

namespace varlen::cuda {

/// What goes where no row comes from: one that is given in memory of the device, or 16 bytes that repeat.
struct Blank {
  const std::byte* row = nullptr;
  alignas(16) std::byte bytes[kWidestFill] = {};
};

/// A fill as cuda/fill.hpp says.
[[nodiscard]] inline Blank blank_of(Fill fill) noexcept {
  Blank blank;
  if (fill.data == nullptr || fill.period == 0) return blank;
  if (!is_host_fill(fill.period)) {
    blank.row = fill.data;
    return blank;
  }
  for (std::int64_t i = 0; i < kWidestFill; ++i) blank.bytes[i] = fill.data[i % fill.period];
  return blank;
}

template <class Map>
struct Move {
  static constexpr bool kNoBarrier = true;
  static constexpr int kWords = 4;

  Map map;
  View<const std::byte> input;
  View<std::byte> out;
  int word;  ///< bytes of one; in and out are so aligned
  Divisor words_of_row;
  Blank blank;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t tile = static_cast<std::int64_t>(thread.threads()) * kWords;
    const std::int64_t all = out.count / word;
    const std::int64_t begin = thread.block() * tile;
    const std::int64_t end = begin + tile < all ? begin + tile : all;
    const auto scope = map.scope(words_of_row.quotient(begin), words_of_row.quotient(end - 1));
    const std::int64_t first = begin + thread.index();
    decltype(map.source(scope, begin)) sources[kWords] = {};
    std::int64_t columns[kWords] = {};
    VARLEN_UNROLLED for (int k = 0; k < kWords; ++k) {
      const std::int64_t word_index = first + k * static_cast<std::int64_t>(thread.threads());
      if (word_index >= end) continue;
      const std::int64_t row = words_of_row.quotient(word_index);
      columns[k] = word_index - row * words_of_row.divisor();
      sources[k] = map.source(scope, row);
    }
    if constexpr (requires { map.note(begin); }) {
      VARLEN_ROLLED for (std::int64_t word_index = first; word_index < end; word_index += thread.threads()) {
        const std::int64_t row = words_of_row.quotient(word_index);
        if (word_index == row * words_of_row.divisor()) map.note(row);
      }
      if (out.data == nullptr) return;
    }
    with_word(word, [&](auto zero) {
      using Word = decltype(zero);
      Word words[kWords] = {};
      VARLEN_UNROLLED for (int k = 0; k < kWords; ++k) {
        if (first + k * static_cast<std::int64_t>(thread.threads()) >= end) continue;
        words[k] = is_row(sources[k]) ? word_at<Word>(sources[k], columns[k]) : blank_word<Word>(columns[k]);
      }
      const View<Word> to = words_at<Word>(out);
      VARLEN_UNROLLED for (int k = 0; k < kWords; ++k) {
        const std::int64_t word_index = first + k * static_cast<std::int64_t>(thread.threads());
        if (word_index < end) to[word_index] = words[k];
      }
    });
  }

 private:
  template <class Word>
  [[nodiscard]] static VARLEN_DEVICE View<const Word> words_at(View<const std::byte> bytes) {
    return {reinterpret_cast<const Word*>(bytes.data), bytes.count / static_cast<std::int64_t>(sizeof(Word))};
  }
  template <class Word>
  [[nodiscard]] static VARLEN_DEVICE View<Word> words_at(View<std::byte> bytes) {
    return {reinterpret_cast<Word*>(bytes.data), bytes.count / static_cast<std::int64_t>(sizeof(Word))};
  }
  [[nodiscard]] static VARLEN_DEVICE bool is_row(std::int64_t source) { return source >= 0; }
  [[nodiscard]] static VARLEN_DEVICE bool is_row(const std::byte* source) { return source != nullptr; }
  template <class Word>
  [[nodiscard]] VARLEN_DEVICE Word word_at(std::int64_t source, std::int64_t column) const {
    return words_at<Word>(input)[source * words_of_row.divisor() + column];
  }
  template <class Word>
  [[nodiscard]] VARLEN_DEVICE Word word_at(const std::byte* source, std::int64_t column) const {
    return View<const Word>{reinterpret_cast<const Word*>(source), words_of_row.divisor()}[column];
  }
  template <class Word>
  [[nodiscard]] VARLEN_DEVICE Word blank_word(std::int64_t column) const {
    if (blank.row != nullptr) return word_at<Word>(blank.row, column);
    constexpr std::int64_t kOf16 = 16 / sizeof(Word);
    return reinterpret_cast<const Word*>(blank.bytes)[column % kOf16];
  }
};

/// The same, for rows whose addresses are all multiples of `word`, as `word_of` gives it.
template <class Map>
Error move_rows_by(std::int64_t word, Stream stream, const Map& map, Rows input, std::int64_t rows,
                   const Blank& blank, std::byte* out) noexcept {
  const std::int64_t words = rows * (input.width / word);
  Grid grid;
  grid.blocks = blocks_for(words, static_cast<std::int64_t>(grid.threads) * Move<Map>::kWords);
  return launch(stream, grid,
                Move<Map>{map,
                          {input.data, input.count * input.width},
                          {out, rows * input.width},
                          static_cast<int>(word),
                          Divisor(input.width / word, words),
                          blank});
}

/// out: `rows` rows of the width of those of `input`.
template <class Map>
Error move_rows(Stream stream, const Map& map, Rows input, std::int64_t rows, const Blank& blank,
                std::byte* out) noexcept {
  if (input.width == 0 || rows == 0) return 0;
  return move_rows_by(word_of(input.width, {input.data, out, blank.row}), stream, map, input, rows, blank,
                      out);
}

/// What a map has to write for each of `rows` rows, and none of the rows.
template <class Map>
Error note_rows(Stream stream, const Map& map, std::int64_t rows) noexcept {
  return move_rows_by(1, stream, map, {nullptr, 0, 1}, rows, {}, nullptr);
}

/// out: `rows` rows of `width` bytes, from wherever the map says; `bits`: those of all their addresses.
template <class Map>
Error collect_rows(Stream stream, const Map& map, std::int64_t width, std::uintptr_t bits, std::int64_t rows,
                   std::byte* out) noexcept {
  if (width == 0 || rows == 0) return 0;
  const auto* const all = reinterpret_cast<const void*>(bits);
  return move_rows_by(word_of(width, {all, out}), stream, map, {nullptr, 0, width}, rows, {}, out);
}

}  // namespace varlen::cuda
