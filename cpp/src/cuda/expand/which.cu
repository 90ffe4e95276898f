// Elements to the row of their sequence that holds them: the way back of extremes.
#include "support/move.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/expand.hpp"

namespace varlen::cuda {

namespace {

template <class Word>
struct ExpandWhich {
  static constexpr bool kAlone = true;
  static constexpr int kWords = 4;

  InSequences of;
  View<const Word> in;
  View<Word> out;
  Divisor words_of_row;
  Divisor words_of_element;
  std::int64_t columns;
  View<const std::int64_t> wide;
  View<const std::int32_t> narrow;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t tile = static_cast<std::int64_t>(thread.threads()) * kWords;
    const std::int64_t begin = thread.block() * tile;
    const std::int64_t end = begin + tile < out.count ? begin + tile : out.count;
    const Among among = of.scope(words_of_row.quotient(begin), words_of_row.quotient(end - 1));
    for (std::int64_t at = begin + thread.index(); at < end; at += thread.threads()) {
      const std::int64_t row = words_of_row.quotient(at);
      const std::int64_t word = at - row * words_of_row.by();
      const std::int64_t i = of.sequence(among, row);
      const std::int64_t element = i * columns + words_of_element.quotient(word);
      const std::int64_t place = narrow.data != nullptr ? narrow[element] : wide[element];
      out[at] = place == row - of.level.start(i) ? in[i * words_of_row.by() + word] : Word{};
    }
  }
};

template <class Word>
Error expand_words(Stream stream, Offsets level, std::int64_t total, const std::byte* rows,
                   std::int64_t columns, std::int64_t size, WhichRows which, std::byte* out) noexcept {
  using Body = ExpandWhich<Word>;
  const std::int64_t each = size / static_cast<std::int64_t>(sizeof(Word));
  const std::int64_t words = total * columns * each;
  const std::int64_t elements = level.count * columns;
  Grid grid;
  grid.blocks = blocks_for(words, static_cast<std::int64_t>(grid.threads) * Body::kWords);
  return launch(stream, grid,
                Body{{ends_of(level)},
                     {reinterpret_cast<const Word*>(rows), elements * each},
                     {reinterpret_cast<Word*>(out), words},
                     Divisor(columns * each, words),
                     Divisor(each, columns * each),
                     columns,
                     {which.wide, elements},
                     {which.narrow, elements}});
}

}  // namespace

Error expand_which(Stream stream, Offsets level, std::int64_t total, const std::byte* rows,
                   std::int64_t columns, std::int64_t size, WhichRows which, std::byte* out) noexcept {
  if (total == 0 || columns == 0 || size == 0) return 0;
  switch (word_of(size, {rows, out})) {
    case 16:
      return expand_words<Word16>(stream, level, total, rows, columns, size, which, out);
    case 8:
      return expand_words<std::uint64_t>(stream, level, total, rows, columns, size, which, out);
    case 4:
      return expand_words<std::uint32_t>(stream, level, total, rows, columns, size, which, out);
    case 2:
      return expand_words<std::uint16_t>(stream, level, total, rows, columns, size, which, out);
    default:
      return expand_words<std::uint8_t>(stream, level, total, rows, columns, size, which, out);
  }
}

}  // namespace varlen::cuda
