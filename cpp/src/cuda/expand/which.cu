// Elements to the row of their sequence that holds them: the way back of extremes.
#include "support/divisor.hpp"
#include "support/launch.hpp"
#include "support/sequences.hpp"
#include "support/word.hpp"
#include "varlen/cuda/expand.hpp"

namespace varlen::cuda {

namespace {

struct ExpandWhich {
  static constexpr bool kNoBarrier = true;
  static constexpr int kWords = 4;

  InSequences sequences;
  const std::byte* input;
  std::byte* out;
  int word;            ///< bytes of one
  std::int64_t words;  ///< of the output
  Divisor words_of_row;
  Divisor words_of_element;
  std::int64_t columns;
  View<const std::int64_t> wide;
  View<const std::int32_t> narrow;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t tile = static_cast<std::int64_t>(thread.threads()) * kWords;
    const std::int64_t begin = thread.block() * tile;
    const std::int64_t end = begin + tile < words ? begin + tile : words;
    const Candidates candidates =
        sequences.scope(words_of_row.quotient(begin), words_of_row.quotient(end - 1));
    for (std::int64_t word_index = begin + thread.index(); word_index < end; word_index += thread.threads()) {
      const std::int64_t row = words_of_row.quotient(word_index);
      const std::int64_t column = word_index - row * words_of_row.divisor();
      const std::int64_t i = sequences.sequence(candidates, row);
      const std::int64_t element = i * columns + words_of_element.quotient(column);
      const std::int64_t place = narrow.data != nullptr ? narrow[element] : wide[element];
      with_word(word, [&](auto zero) {
        using Word = decltype(zero);
        const View<const Word> from{reinterpret_cast<const Word*>(input),
                                    sequences.level.count() * words_of_row.divisor()};
        View<Word>{reinterpret_cast<Word*>(out), words}[word_index] =
            place == row - sequences.level.start(i) ? from[i * words_of_row.divisor() + column] : Word{};
      });
    }
  }
};

}  // namespace

Error expand_which(Stream stream, Offsets level, std::int64_t total, const std::byte* rows,
                   std::int64_t columns, std::int64_t size, WhichRows which, std::byte* out) noexcept {
  if (total == 0 || columns == 0 || size == 0) return 0;
  const std::int64_t word = word_of(size, {rows, out});
  const std::int64_t element_words = size / word;
  const std::int64_t words = total * columns * element_words;
  const std::int64_t elements = level.count * columns;
  Grid grid;
  grid.blocks = blocks_for(words, static_cast<std::int64_t>(grid.threads) * ExpandWhich::kWords);
  return launch(stream, grid,
                ExpandWhich{{ends_of(level)},
                            rows,
                            out,
                            static_cast<int>(word),
                            words,
                            Divisor(columns * element_words, words),
                            Divisor(element_words, columns * element_words),
                            columns,
                            {which.wide, elements},
                            {which.narrow, elements}});
}

}  // namespace varlen::cuda
