#include "chosen.hpp"
#include "each.hpp"

namespace varlen::cuda {

namespace {

struct Counts {
  Chosen chosen;

  [[nodiscard]] VARLEN_DEVICE Nothing scope(std::int64_t, std::int64_t) const { return {}; }
  [[nodiscard]] VARLEN_DEVICE std::int64_t value(Nothing, std::int64_t i) const {
    const std::int64_t end = chosen.level.end(i);
    return end > chosen.level.start(i) ? chosen.numbers[end - 1] : 0;
  }
};

struct RowsOf : InSequences {  // of the result
  Chosen chosen;

  [[nodiscard]] VARLEN_DEVICE std::int64_t value(const Among& among, std::int64_t k) const {
    const std::int64_t i = sequence(among, k);
    const std::int64_t number = k - level.start(i) + 1;
    std::int64_t low = chosen.level.start(i);
    std::int64_t high = chosen.level.end(i);
    VARLEN_ROLLED while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (chosen.numbers[middle] < number) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

struct Spaces : InSequences {  // of the result
  Ends sequences;
  View<const std::int64_t> rows;

  [[nodiscard]] VARLEN_DEVICE std::int64_t value(const Among& among, std::int64_t k) const {
    const std::int64_t i = sequence(among, k);
    return (k + 1 < level.end(i) ? rows[k + 1] : sequences.end(i)) - rows[k];
  }
};

}  // namespace

Error count_chosen(Stream stream, const Chosen& chosen, std::int64_t* lengths) noexcept {
  return write_each_alone(stream, Counts{chosen}, chosen.level.ends.count, lengths);
}

Error rows_of_chosen(Stream stream, const Chosen& chosen, Offsets result, std::int64_t count,
                     std::int64_t* rows) noexcept {
  return write_each_alone(stream, RowsOf{{ends_of(result)}, chosen}, count, rows);
}

Error spaces_of_chosen(Stream stream, const Chosen& chosen, Offsets result, std::int64_t count,
                       const std::int64_t* rows, std::int64_t* spaces) noexcept {
  return write_each_alone(stream, Spaces{{ends_of(result)}, chosen.level, {rows, count}}, count, spaces);
}

}  // namespace varlen::cuda
