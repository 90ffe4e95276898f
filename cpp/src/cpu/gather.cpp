#include "varlen/gather.hpp"

#include <algorithm>
#include <cstring>

#include "ahead.hpp"
#include "varlen/checked.hpp"
#include "varlen/copy.hpp"
#include "varlen/pool.hpp"

namespace varlen {
namespace {

// A range of more bytes than this is memcpy's; below it the call costs more than the copy.
constexpr std::int64_t kShort = 256;
constexpr std::int64_t kOverrun = 32;

/// Copies bytes by whole vectors, and reads and writes fewer than kOverrun bytes more.
inline void copy_short(std::byte* out, const std::byte* in, std::int64_t bytes) noexcept {
  for (std::int64_t at = 0; at < bytes; at += kOverrun) detail::move_fixed<kOverrun>(out + at, in + at);
}

}  // namespace

Status gather_descend(Offsets level, const Range* ranges, std::int64_t n, std::int64_t limit, Range* below,
                      std::int64_t* ends) noexcept {
  std::int64_t sum = 0;
  Status status;
  with_lookahead(
      0, n, kOffsetsAhead,
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
        below[k] = {begin, end};
        ends[k] = sum;
      });
  return status;
}

Status gather_ends(Offsets level, const Range* ranges, const Range* below, const std::int64_t* ends,
                   std::int64_t n, std::int64_t* out) noexcept {
  Status status;
  with_lookahead(
      0, n, kRowsAhead, [&](std::int64_t k) { prefetch(level.ends, ranges[k].begin, 8); },
      [&](std::int64_t k) {
        const std::int64_t shift = below[k].begin - (k > 0 ? ends[k - 1] : 0);
        std::int64_t before = below[k].begin;
        bool bad = false;
        for (std::int64_t i = ranges[k].begin; i < ranges[k].end; ++i) {
          const std::int64_t end = level.end(i);
          bad |= end < before;
          *out++ = end - shift;
          before = end;
        }
        if ((bad || before > below[k].end) && status.ok()) {
          std::int64_t i = ranges[k].begin;
          while (i + 1 < ranges[k].end && level.end(i) >= level.start(i) && level.end(i) <= below[k].end) ++i;
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
  const std::byte* const values_end = values.data + values.count * width;
  // Chunks are cut by rows of the output, so that one giant range does not hold up the rest.
  const std::int64_t chunks = std::min(total, chunks_for(total * width));
  parallel(chunks, [&](std::int64_t c) {
    const std::int64_t from = total / chunks * c;
    const std::int64_t to = c + 1 == chunks ? total : total / chunks * (c + 1);
    const std::int64_t first = std::upper_bound(ends, ends + n, from) - ends;
    const std::int64_t last = std::lower_bound(ends + first, ends + n, to) - ends;
    std::byte* const stop = out + to * width;
    std::byte* at = out + from * width;
    std::int64_t done = from;
    with_lookahead(
        first, last + 1, kRowsAhead,
        [&](std::int64_t k) {
          prefetch(values.data, ranges[k].begin, width);
          prefetch(values.data, ranges[k].begin, width, 64);
        },
        [&](std::int64_t k) {
          const std::int64_t skipped = done - (k > 0 ? ends[k - 1] : 0);  // not 0 at a chunk's first range
          const std::int64_t end = std::min(ends[k], to);
          const std::int64_t bytes = (end - done) * width;
          const std::byte* from_row = values.data + (ranges[k].begin + skipped) * width;
          if (bytes <= kShort && at + bytes + kOverrun <= stop && from_row + bytes + kOverrun <= values_end) {
            copy_short(at, from_row, bytes);
          } else if (bytes > 0) {
            std::memcpy(at, from_row, static_cast<std::size_t>(bytes));
          }
          at += bytes;
          done = end;
        });
  });
}

}  // namespace varlen
