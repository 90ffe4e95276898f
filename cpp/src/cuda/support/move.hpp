// Rows that change places: every word of an output is written once, wherever it comes from.
//
// A map says which row of the input becomes which row of the output:
//
//     Scope scope(first, last) const;              // what output rows [first, last] have in common
//     std::int64_t source(scope, row) const;       // the input row; below 0 where the fill goes
//
// Neighbouring threads write neighbouring words, the widest that the rows allow; each has kWords of them on
// their way at a time. Bytes are not looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "divisor.hpp"
#include "launch.hpp"
#include "varlen/views.hpp"
#include "view.hpp"
#include "word.hpp"

namespace varlen::cuda {

/// What goes where no row comes from: one that is given in memory of the device, or 16 bytes that repeat.
struct Blank {
  const std::byte* row = nullptr;
  alignas(16) std::byte bytes[16] = {};
};

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
    Word words[kWords];
    VARLEN_UNROLLED for (int k = 0; k < kWords; ++k) {
      const std::int64_t at = begin + k * static_cast<std::int64_t>(thread.threads()) + thread.index();
      if (at >= end) continue;
      const std::int64_t row = words_of_row.quotient(at);
      const std::int64_t column = at - row * words_of_row.by();
      const std::int64_t source = map.source(scope, row);
      words[k] = source >= 0 ? in[source * words_of_row.by() + column] : blank_word(column);
    }
    VARLEN_UNROLLED for (int k = 0; k < kWords; ++k) {
      const std::int64_t at = begin + k * static_cast<std::int64_t>(thread.threads()) + thread.index();
      if (at < end) out[at] = words[k];
    }
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

/// out: `rows` rows of the width of those of `in`.
template <class Map>
Error move_rows(Stream stream, const Map& map, Rows in, std::int64_t rows, const Blank& blank,
                std::byte* out) noexcept {
  if (in.width == 0 || rows == 0) return 0;
  switch (word_of(in.width, {in.data, out, blank.row})) {
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

}  // namespace varlen::cuda
