#include "medium.hpp"

#include <algorithm>

#include "support/dispatch.hpp"
#include "varlen/copy.hpp"

namespace varlen {
namespace {

/// As copy_over, for more bytes.
inline void copy_many(std::byte* out, const std::byte* input, std::int64_t bytes) noexcept {
  std::int64_t place = 0;
  for (; place + kOverFours <= bytes; place += kOverFours) copy_four(out, input, place);
  copy_over(out + place, input + place, bytes - place);
}

/// As fill_over, with a first store that may cross a line of the cache and pairs that fill one: where lines
/// come from the last cache, single stores that cross them took up to 1.3 times as long.
inline void fill_lines(std::byte* out, std::int64_t bytes, const Wide& block) noexcept {
  if (bytes <= 0) return;
  std::byte* const end = out + bytes;
  const auto put = [&block](std::byte* to) { std::memcpy(to, &block, sizeof block); };
  const auto phase = [](const std::byte* to, std::int64_t size) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) %
                                     static_cast<std::uintptr_t>(size));
  };
  put(out);
  out += kWideBytes - phase(out, kWideBytes);
  if (out < end && phase(out, 2 * kWideBytes) != 0) {
    put(out);
    out += kWideBytes;
  }
  for (; out + kWideBytes < end; out += 2 * kWideBytes) {
    put(out);
    put(out + kWideBytes);
  }
  if (out < end) put(out);
}

VARLEN_LOOP std::int64_t medium_rows(const SmallRows& job, const Pattern& fill, std::byte*& out,
                                     const std::byte* limit) noexcept {
  const std::int64_t width = job.width;
  const std::int64_t row_bytes = job.slots * width;
  const std::int64_t byte_limit = job.slot_limit * width;
  const std::int64_t* const ends = job.level.ends;
  std::byte* place = out;
  std::int64_t i = job.rows.begin;
  // Aligned stores take the pattern from its start, which they hit where the output is aligned to its period.
  if (reinterpret_cast<std::uintptr_t>(place) % static_cast<std::uintptr_t>(fill.period) != 0) return i;
  Wide block;
  std::memcpy(&block, fill.bytes, sizeof block);
  std::int64_t start = i < job.rows.end ? job.level.start(i) : 0;
  for (; i < job.rows.end && limit - place >= row_bytes + kWideBytes; ++i, place += row_bytes) {
    const std::int64_t have = (ends[i] - start) * width;
    const std::int64_t bytes = std::min(have, byte_limit);
    const std::byte* input = job.data + (start - job.first) * width + (job.cut_left ? have - bytes : 0);
    if (job.end - input < bytes + kWideBytes) break;
    start = ends[i];
    const std::int64_t gap = row_bytes - bytes;
    if (job.left) {
      fill_lines(place, gap, block);
      copy_many(place + gap, input, bytes);
    } else {
      copy_many(place, input, bytes);
      fill_lines(place + bytes, gap, block);
    }
  }
  out = place;
  return i;
}

}  // namespace

std::int64_t pad_medium(const SmallRows& job, const Pattern& fill, std::byte*& out,
                        const std::byte* limit) noexcept {
  return best<medium_rows>(job, fill, out, limit);
}

}  // namespace varlen
