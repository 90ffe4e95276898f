// Whether any or all rows of each sequence are true: elements by their width, and what of their bits counts.
#include <algorithm>

#include "tables.hpp"

namespace varlen {
namespace {

constexpr std::int64_t kTruthTile = 512;
constexpr std::int64_t kTruthRun = 1024;

/// Of a run of elements: the bits of all together for any; for all, 0 where one of them is zero.
template <class W, bool Any>
W truth_of(const W* input, std::int64_t n, W counts) noexcept {
  W result = Any ? 0 : 1;
  for (std::int64_t j = 0; j < n; ++j) {
    if constexpr (Any) {
      result = static_cast<W>(result | (input[j] & counts));
    } else {
      result = static_cast<W>(result & static_cast<W>((input[j] & counts) != 0));
    }
  }
  return result;
}

/// Columns [c, c + w) of the rows of one sequence.
template <class W, bool Any>
void truth_of_rows(const W* input, std::int64_t rows, std::int64_t columns, std::int64_t w, W counts,
                   std::byte* out) noexcept {
  W result[kTruthTile];
  std::fill(result, result + w, Any ? W{0} : W{1});
  for (std::int64_t r = 0; r < rows; ++r, input += columns) {
    for (std::int64_t k = 0; k < w; ++k) {
      const W bits = static_cast<W>(input[k] & counts);
      result[k] = static_cast<W>(Any ? result[k] | bits : result[k] & static_cast<W>(bits != 0));
    }
  }
  for (std::int64_t k = 0; k < w; ++k) out[k] = static_cast<std::byte>(result[k] != 0 ? 1 : 0);
}

template <class W, bool Any>
void truth(const ReduceJob& job, Range share, std::byte* out) noexcept {
  // The sign of a zero does not count.
  constexpr W kAll = static_cast<W>(~W{0});
  const W counts = is_float(job.type) ? static_cast<W>(kAll >> 1) : kAll;
  const W* const values = reinterpret_cast<const W*>(job.values);
  const std::int64_t columns = job.columns;
  for (std::int64_t i = share.begin; i < share.end; ++i) {
    const std::int64_t start = job.level.start(i);
    const std::int64_t rows = job.level.end(i) - start;
    std::byte* const to = out + i * columns;
    if (rows == 0) {
      std::fill(to, to + columns, job.empty == nullptr ? std::byte{0} : *job.empty);
    } else if (columns == 1) {
      W result = Any ? 0 : 1;
      for (std::int64_t j = 0; j < rows && (result != 0) != Any; j += kTruthRun) {
        result = truth_of<W, Any>(values + start + j, std::min(kTruthRun, rows - j), counts);
      }
      *to = static_cast<std::byte>(result != 0 ? 1 : 0);
    } else {
      for (std::int64_t c = 0; c < columns; c += kTruthTile) {
        truth_of_rows<W, Any>(values + start * columns + c, rows, columns, std::min(kTruthTile, columns - c),
                              counts, to + c);
      }
    }
  }
}

}  // namespace

void reduce_truth(const ReduceJob& job, std::byte* out) noexcept {
  const bool any = job.op == Reduce::any;
  const std::int64_t size = size_of(job.type);
  const auto run = size == 1   ? (any ? truth<std::uint8_t, true> : truth<std::uint8_t, false>)
                   : size == 2 ? (any ? truth<std::uint16_t, true> : truth<std::uint16_t, false>)
                   : size == 4 ? (any ? truth<std::uint32_t, true> : truth<std::uint32_t, false>)
                               : (any ? truth<std::uint64_t, true> : truth<std::uint64_t, false>);
  by_sequences(job.level, job.columns * size, [&](Range share) { run(job, share, out); });
}

}  // namespace varlen
