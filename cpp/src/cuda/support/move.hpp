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
// Neighbouring threads write neighbouring words, the widest that the rows allow; each has kWords of them on
// their way at a time. Bytes are not looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

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

template <class Map, class Word>
struct Move {
  static constexpr bool kAlone = true;
  static constexpr int kWords = 4;

  Map map;
  View<const Word> in;
  View<Word> out;
  Divisor words_of_row;
  Blank blank;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t tile = static_cast<std::int64_t>(thread.threads()) * kWords;
    const std::int64_t begin = thread.block() * tile;
    const std::int64_t end = begin + tile < out.count ? begin + tile : out.count;
    const auto scope = map.scope(words_of_row.quotient(begin), words_of_row.quotient(end - 1));
    Word words[kWords] = {};
    VARLEN_UNROLLED for (int k = 0; k < kWords; ++k) {
      const std::int64_t at = begin + k * static_cast<std::int64_t>(thread.threads()) + thread.index();
      if (at >= end) continue;
      const std::int64_t row = words_of_row.quotient(at);
      const std::int64_t column = at - row * words_of_row.by();
      const auto source = map.source(scope, row);
      words[k] = is_row(source) ? word_at(source, column) : blank_word(column);
    }
    VARLEN_UNROLLED for (int k = 0; k < kWords; ++k) {
      const std::int64_t at = begin + k * static_cast<std::int64_t>(thread.threads()) + thread.index();
      if (at < end) out[at] = words[k];
    }
  }

  [[nodiscard]] static VARLEN_DEVICE bool is_row(std::int64_t source) { return source >= 0; }
  [[nodiscard]] static VARLEN_DEVICE bool is_row(const std::byte* source) { return source != nullptr; }
  [[nodiscard]] VARLEN_DEVICE Word word_at(std::int64_t source, std::int64_t column) const {
    return in[source * words_of_row.by() + column];
  }
  [[nodiscard]] VARLEN_DEVICE Word word_at(const std::byte* source, std::int64_t column) const {
    return View<const Word>{words_at(source), words_of_row.by()}[column];
  }
  [[nodiscard]] VARLEN_DEVICE Word blank_word(std::int64_t column) const {
    if (blank.row != nullptr) return View<const Word>{words_at(blank.row), words_of_row.by()}[column];
    constexpr std::int64_t kOf16 = 16 / sizeof(Word);
    return words_at(blank.bytes)[column % kOf16];
  }
  [[nodiscard]] static VARLEN_DEVICE const Word* words_at(const std::byte* bytes) {
    return reinterpret_cast<const Word*>(bytes);
  }
};

/// Bytes of the widest word in which rows of `width` bytes at these addresses can be moved.
[[nodiscard]] inline std::int64_t word_of(std::int64_t width,
                                          std::initializer_list<const void*> all) noexcept {
  std::uintptr_t bits = static_cast<std::uintptr_t>(width) | 16;
  for (const void* each : all) bits |= reinterpret_cast<std::uintptr_t>(each);
  return static_cast<std::int64_t>(bits & (~bits + 1));  // the lowest bit that one of them has
}

template <class Word, class Map>
Error move_words(Stream stream, const Map& map, Rows in, std::int64_t rows, const Blank& blank,
                 std::byte* out) noexcept {
  using Body = Move<Map, Word>;
  constexpr std::int64_t kWord = sizeof(Word);
  const std::int64_t words = rows * (in.width / kWord);
  Grid grid;
  grid.blocks = blocks_for(words, static_cast<std::int64_t>(grid.threads) * Body::kWords);
  const Body body{map,
                  {reinterpret_cast<const Word*>(in.data), in.count * (in.width / kWord)},
                  {reinterpret_cast<Word*>(out), words},
                  Divisor(in.width / kWord, words),
                  blank};
  return launch(stream, grid, body);
}

/// The same, for rows whose addresses are all multiples of what `word_of` gave.
template <class Map>
Error move_rows_by(std::int64_t word, Stream stream, const Map& map, Rows in, std::int64_t rows,
                   const Blank& blank, std::byte* out) noexcept {
  switch (word) {
    case 16:
      return move_words<Word16>(stream, map, in, rows, blank, out);
    case 8:
      return move_words<std::uint64_t>(stream, map, in, rows, blank, out);
    case 4:
      return move_words<std::uint32_t>(stream, map, in, rows, blank, out);
    case 2:
      return move_words<std::uint16_t>(stream, map, in, rows, blank, out);
    default:
      return move_words<std::uint8_t>(stream, map, in, rows, blank, out);
  }
}

/// out: `rows` rows of the width of those of `in`.
template <class Map>
Error move_rows(Stream stream, const Map& map, Rows in, std::int64_t rows, const Blank& blank,
                std::byte* out) noexcept {
  if (in.width == 0 || rows == 0) return 0;
  return move_rows_by(word_of(in.width, {in.data, out, blank.row}), stream, map, in, rows, blank, out);
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
