#include "varlen/window.hpp"

#include <algorithm>

#include "support/dispatch.hpp"
#include "support/writers.hpp"
#include "varlen/pad.hpp"
#include "varlen/pool.hpp"
#include "varlen/span.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen {
namespace {

struct Seq2col {
  Rows values;
  Offsets level;
  Offsets centers;
  Window how;
};

/// Rows [from, to) of the output, one run of bytes after another.
template <class Out>
[[gnu::always_inline]] inline void write_rows(const Seq2col& job, std::int64_t from, std::int64_t to,
                                              Out& out) noexcept {
  const auto [left, right, dilation, stride] = job.how;
  const std::int64_t width = job.values.width;
  const std::byte* const begin = job.values.data;
  const std::byte* const end = begin + job.values.count * width;
  std::int64_t i =
      std::upper_bound(job.centers.ends, job.centers.ends + job.centers.count, from) - job.centers.ends;
  for (std::int64_t row = from; row < to; ++i) {
    const std::int64_t last = job.level.length(i) - 1;
    const std::byte* const rows = begin + job.level.start(i) * width;
    std::int64_t place = (row - job.centers.start(i)) * stride;
    const std::int64_t stop = std::min(job.centers.end(i), to);
    for (; row < stop; ++row, place += stride) {
      const std::int64_t lead = std::min(left, dilation == 1 ? place : place / dilation);
      const std::int64_t tail = std::min(right, dilation == 1 ? last - place : (last - place) / dilation);
      if (lead < left) out.fill((left - lead) * width);
      const std::byte* input = rows + (place - lead * dilation) * width;
      if (dilation == 1) {
        out.copy(input, (lead + 1 + tail) * width, begin, end);
      } else {
        for (std::int64_t k = 0; k <= lead + tail; ++k) {
          out.copy(input + k * dilation * width, width, begin, end);
        }
      }
      if (tail < right) out.fill((right - tail) * width);
    }
  }
  out.finish();
}

VARLEN_LOOP void write_cached(const Seq2col& job, const Pattern& zeros, std::int64_t from, std::int64_t to,
                              std::byte* out, std::byte* end) noexcept {
  CacheWriter rows(out, end, zeros);
  write_rows(job, from, to, rows);
}

void write_past(const Seq2col& job, const Pattern& zeros, std::int64_t from, std::int64_t to, std::byte* out,
                std::byte* end) noexcept {
  PastCaches rows(out, end, zeros);
  write_rows(job, from, to, rows);
}

}  // namespace

void window_kept(Offsets level, std::int64_t stride, std::int64_t* centers) noexcept {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < level.count; ++i) {
    const std::int64_t length = level.length(i);
    sum += length > 0 ? (length - 1) / stride + 1 : 0;
    centers[i] = sum;
  }
}

void seq2col(Rows values, Offsets level, Offsets centers, Window how, std::byte* out) noexcept {
  const std::int64_t total = centers.total();
  const std::int64_t bytes = how.places() * values.width;
  if (total == 0 || bytes == 0) return;
  how.dilation = std::min(how.dilation, values.count);  // further apart is outside, all the same
  how.stride = std::min(how.stride, values.count);
  const Seq2col job{values, level, centers, how};
  const Pattern zeros(nullptr, 0);
  const bool past = stores_for(total * bytes) == Stores::past_caches;
  const std::int64_t chunks = std::min(total, chunks_for(total * bytes));
  const auto cut = [&](std::int64_t c) { return total / chunks * c + std::min(c, total % chunks); };
  parallel(chunks, [&](std::int64_t c) {
    std::byte* const to = out + cut(c) * bytes;
    (past ? write_past : best<write_cached>)(job, zeros, cut(c), cut(c + 1), to, out + cut(c + 1) * bytes);
  });
}

Status window_counts(Offsets level, Stepping how, std::int64_t* ends) noexcept {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < level.count; ++i) {
    if (!checked_add(sum, span_steps_of(level.length(i), how.size, how.step, how.full_only), sum)) {
      return {Code::overflow, i, 0};
    }
    ends[i] = sum;
  }
  return {};
}

Status window_ranges(Offsets level, Offsets counts, Stepping how, Range* ranges,
                     std::int64_t* ends) noexcept {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < level.count; ++i) {
    for (std::int64_t k = counts.start(i); k < counts.end(i); ++k) {
      const std::int64_t begin = level.start(i) + (k - counts.start(i)) * how.step;
      const std::int64_t rows = std::min(how.size, level.end(i) - begin);
      if (!checked_add(sum, rows, sum)) return {Code::overflow, k, 0};
      ranges[k] = {begin, begin + rows};
      ends[k] = sum;
    }
  }
  return {};
}

std::int64_t window_difference(Offsets a, Offsets b) noexcept {
  const std::int64_t* const place = std::mismatch(a.ends, a.ends + a.count, b.ends).first;
  return place == a.ends + a.count ? -1 : place - a.ends;
}

}  // namespace varlen
