#include "varlen/gather.hpp"

#include <algorithm>
#include <type_traits>

#include "support/dispatch.hpp"
#include "support/prefetch.hpp"
#include "varlen/copy.hpp"
#include "varlen/pool.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen {
namespace {

// Bytes of a range that are asked for before they are copied; what lies behind arrives by itself. Measured on
// rows of 1 KB at random: 0.65 of the time of none ahead past the caches, 0.8 in the last one.
constexpr std::int64_t kAheadBytes = 1024;
constexpr std::int64_t kAheadLongRows = 8;

// Up to here ranges of changing lengths are copied over their ends: spans of 600 bytes on average in 0.8 of
// the time of exact copies. From here on those store to where lines begin, and by moves of strings.
constexpr std::int64_t kFoursMost = 4096;

/// Rows [from, to) of the choice, to the front of out.
VARLEN_LOOP void gather_part(Rows values, const Range* ranges, const std::int64_t* ends, std::int64_t n,
                             std::int64_t from, std::int64_t to, std::byte* out) noexcept {
  const std::int64_t width = values.width;
  const std::byte* const values_end = values.data + values.count * width;
  const std::int64_t first = std::upper_bound(ends, ends + n, from) - ends;
  const std::int64_t last = std::lower_bound(ends + first, ends + n, to) - ends;
  const std::byte* const stop = out + (to - from) * width;
  const std::int64_t mean = (to - from) * width / (last + 1 - first);
  std::int64_t cursor = from;
  // Inlined, or they would be compiled for the baseline.
  const auto run = [&](auto vectors) __attribute__((always_inline)) {
    constexpr std::int64_t kVectorBytes = decltype(vectors)::value * kWideBytes;
    const bool is_long = mean >= kAheadBytes / 2;
    with_prefetch(
        first, last + 1, is_long ? kAheadLongRows : kPrefetchRows,
        [&](std::int64_t k) __attribute__((always_inline)) {
          // Of short ones as many lines whatever their lengths, so that no branch waits for those.
          prefetch(values.data, ranges[k].begin, width);
          prefetch(values.data, ranges[k].begin, width, 64);
          if (!is_long) return;
          const std::int64_t bytes = std::min(ranges[k].size() * width, kAheadBytes);
          for (std::int64_t place = 128; place < bytes; place += 64) {
            prefetch(values.data, ranges[k].begin, width, static_cast<std::uintptr_t>(place));
          }
        },
        [&](std::int64_t k) __attribute__((always_inline)) {
          const std::int64_t skip = cursor - (k > 0 ? ends[k - 1] : 0);  // not 0 at a chunk's first range
          const std::int64_t end = std::min(ends[k], to);
          const std::int64_t bytes = (end - cursor) * width;
          const std::byte* input = values.data + (ranges[k].begin + skip) * width;
          const std::int64_t room = std::min(stop - out, values_end - input);
          if (bytes <= kVectorBytes && kVectorBytes <= room) {
            copy_over(out, input, kVectorBytes);
          } else if (bytes < kOverMost && bytes + kWideBytes <= room) {
            copy_over(out, input, bytes);
          } else if (bytes < kFoursMost && bytes + kOverFours <= room) {
            copy_fours(out, input, bytes);
          } else {
            copy_bytes(out, input, bytes);
          }
          out += bytes;
          cursor = end;
        });
  };
  if (mean <= kWideBytes / 2) {
    run(std::integral_constant<int, 1>{});
  } else if (mean <= kWideBytes) {
    run(std::integral_constant<int, 2>{});
  } else if (mean <= 2 * kWideBytes) {
    run(std::integral_constant<int, 4>{});
  } else {
    run(std::integral_constant<int, 0>{});
  }
}

}  // namespace

Status gather_descend(Offsets level, const Range* ranges, std::int64_t n, std::int64_t limit, Range* children,
                      std::int64_t* ends) noexcept {
  std::int64_t sum = 0;
  Status status;
  with_prefetch(
      0, n, kPrefetchOffsets,
      [&](std::int64_t k) {
        prefetch(level.ends, ranges[k].begin, 8);
        prefetch(level.ends, ranges[k].end, 8);
      },
      [&](std::int64_t k) {
        const Range r = ranges[k];
        const std::int64_t begin = level.start(r.begin);
        const std::int64_t end = r.end > r.begin ? level.end(r.end - 1) : begin;
        Code code = Code::ok;
        if (begin < 0 || end < begin) {
          code = Code::decreasing;
        } else if (end > limit) {
          code = Code::beyond_total;
        } else if (!checked_add(sum, end - begin, sum)) {
          code = Code::overflow;
        }
        if (code != Code::ok && status.ok()) status = {code, code == Code::overflow ? k : r.end - 1, end};
        children[k] = {begin, end};
        ends[k] = sum;
      });
  return status;
}

Status gather_ends(Offsets level, const Range* ranges, const Range* children, const std::int64_t* ends,
                   std::int64_t n, std::int64_t* out) noexcept {
  Status status;
  with_prefetch(
      0, n, kPrefetchRows, [&](std::int64_t k) { prefetch(level.ends, ranges[k].begin, 8); },
      [&](std::int64_t k) {
        const std::int64_t shift = children[k].begin - (k > 0 ? ends[k - 1] : 0);
        std::int64_t previous = children[k].begin;
        bool bad = false;
        for (std::int64_t i = ranges[k].begin; i < ranges[k].end; ++i) {
          const std::int64_t end = level.end(i);
          bad |= end < previous;
          *out++ = end - shift;
          previous = end;
        }
        if ((bad || previous > children[k].end) && status.ok()) {
          std::int64_t i = ranges[k].begin;
          while (i + 1 < ranges[k].end && level.end(i) >= level.start(i) && level.end(i) <= children[k].end)
            ++i;
          status = {Code::decreasing, i, level.end(i)};
        }
      });
  return status;
}

void gather_rows(Rows values, const Range* ranges, const std::int64_t* ends, std::int64_t n,
                 std::byte* out) noexcept {
  const std::int64_t width = values.width;
  const std::int64_t total = n > 0 ? ends[n - 1] : 0;
  if (total == 0 || width == 0) return;
  // Chunks are cut by rows of the output, so that one giant range does not hold up the rest.
  const std::int64_t chunks = std::min(total, chunks_for(total * width));
  parallel(chunks, [&](std::int64_t c) {
    const std::int64_t from = total / chunks * c;
    const std::int64_t to = c + 1 == chunks ? total : total / chunks * (c + 1);
    best<gather_part>(values, ranges, ends, n, from, to, out + from * width);
  });
}

}  // namespace varlen
