#include <algorithm>

#include "support/dispatch.hpp"
#include "support/prefetch.hpp"
#include "varlen/concat.hpp"
#include "varlen/copy.hpp"
#include "varlen/pool.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen {
namespace {

// Rows of a part follow each other, but the machine loses sight of that while others are copied: so many
// bytes behind those that are copied are asked for. Always as many, for a loop over as many as were copied is
// one more branch to be guessed wrong: it took 1.3 of the time at 256 bytes a sequence.
constexpr std::int64_t kPrefetchBytes = 512;
constexpr std::int64_t kLine = 64;

/// Rows [from, to) of the output, which begin at `out`.
VARLEN_LOOP void interleave_part(const Part* parts, std::int64_t n, std::int64_t width, Offsets result,
                                 std::int64_t from, std::int64_t to, std::byte* out) noexcept {
  const std::byte* const stop = out + (to - from) * width;
  std::int64_t i = std::upper_bound(result.ends, result.ends + result.count, from) - result.ends;
  std::int64_t skip = from - result.start(i);  // not 0 where a chunk begins inside a sequence
  while (out < stop) {
    for (std::int64_t p = 0; p < n; ++p) {
      const std::byte* const data = parts[p].data;
      const Offsets level{parts[p].ends, result.count};
      const std::int64_t rows = level.length(i) - skip;
      if (rows <= 0) {
        skip = -rows;
        continue;
      }
      const std::byte* const input = data + (level.start(i) + skip) * width;
      skip = 0;
      const std::int64_t room = std::min(stop - out, data + level.total() * width - input);
      const std::int64_t bytes = std::min(rows * width, stop - out);
      for (std::int64_t line = 0; line < kPrefetchBytes; line += kLine) prefetch(input + bytes, line, 1);
      if (bytes < kOverMost && bytes + kWideBytes <= room) {
        copy_over(out, input, bytes);
      } else {
        copy_bytes(out, input, bytes);
      }
      out += bytes;
    }
    ++i;
  }
}

}  // namespace

Status interleave_ends(const Offsets* levels, std::int64_t n, std::int64_t* out) noexcept {
  std::int64_t total = 0;
  for (std::int64_t p = 0; p < n; ++p) {
    if (!checked_add(total, levels[p].total(), total)) return {Code::overflow, p, total};
  }
  const std::int64_t count = levels[0].count;
  std::copy(levels[0].ends, levels[0].ends + count, out);
  for (std::int64_t p = 1; p < n; ++p) {
    const std::int64_t* const ends = levels[p].ends;
    for (std::int64_t i = 0; i < count; ++i) out[i] += ends[i];
  }
  return {};
}

void interleave(const Part* parts, std::int64_t n, std::int64_t width, Offsets result,
                std::byte* out) noexcept {
  const std::int64_t total = result.total();
  if (total == 0 || width == 0) return;
  const std::int64_t chunks = std::min(total, chunks_for(total * width));
  parallel(chunks, [&](std::int64_t c) {
    const std::int64_t from = total / chunks * c;
    const std::int64_t to = c + 1 == chunks ? total : total / chunks * (c + 1);
    best<interleave_part>(parts, n, width, result, from, to, out + from * width);
  });
}

}  // namespace varlen
