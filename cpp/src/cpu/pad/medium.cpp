#include "medium.hpp"

#include <algorithm>

#include "support/dispatch.hpp"
#include "varlen/copy.hpp"

namespace varlen {
namespace {

/// As copy_over, for more bytes.
inline void copy_many(std::byte* out, const std::byte* in, std::int64_t bytes) noexcept {
  std::int64_t at = 0;
  for (; at + kOverFours <= bytes; at += kOverFours) copy_four(out, in, at);
  copy_over(out + at, in + at, bytes - at);
}

/// As fill_over, with a first store that may cross a line of the cache and pairs that fill one: where lines
/// come from the last cache, single stores that cross them took up to 1.3 times as long.
inline void fill_lines(std::byte* out, std::int64_t bytes, const Wide& block) noexcept {
  if (bytes <= 0) return;
  std::byte* const end = out + bytes;
  const auto put = [&block](std::byte* to) { std::memcpy(to, &block, sizeof block); };
  const auto within = [](const std::byte* to, std::int64_t size) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) %
                                     static_cast<std::uintptr_t>(size));
  };
  put(out);
  out += kOver - within(out, kOver);
  if (out < end && within(out, 2 * kOver) != 0) {
    put(out);
    out += kOver;
  }
  for (; out + kOver < end; out += 2 * kOver) {
    put(out);
    put(out + kOver);
  }
  if (out < end) put(out);
}

VARLEN_LOOP std::int64_t medium_rows(const SmallRows& job, const Pattern& fill, std::byte*& out,
                                     const std::byte* limit) noexcept {
  const std::int64_t width = job.width;
  const std::int64_t row_bytes = job.slots * width;
  const std::int64_t most = job.most * width;
  const std::int64_t* const ends = job.level.ends;
  std::byte* at = out;
  std::int64_t i = job.rows.begin;
  // Aligned stores take the pattern from its start, which they hit where the output is aligned to its period.
  if (reinterpret_cast<std::uintptr_t>(at) % static_cast<std::uintptr_t>(fill.period) != 0) return i;
  Wide block;
  std::memcpy(&block, fill.bytes, sizeof block);
  std::int64_t start = i < job.rows.end ? job.level.start(i) : 0;
  for (; i < job.rows.end && limit - at >= row_bytes + kOver; ++i, at += row_bytes) {
    const std::int64_t have = (ends[i] - start) * width;
    const std::int64_t bytes = std::min(have, most);
    const std::byte* in = job.data + (start - job.first) * width + (job.cut_left ? have - bytes : 0);
    if (job.end - in < bytes + kOver) break;
    start = ends[i];
    const std::int64_t gap = row_bytes - bytes;
    if (job.left) {
      fill_lines(at, gap, block);
      copy_many(at + gap, in, bytes);
    } else {
      copy_many(at, in, bytes);
      fill_lines(at + bytes, gap, block);
    }
  }
  out = at;
  return i;
}

}  // namespace

std::int64_t pad_medium(const SmallRows& job, const Pattern& fill, std::byte*& out,
                        const std::byte* limit) noexcept {
  return best<medium_rows>(job, fill, out, limit);
}

}  // namespace varlen
