#include <algorithm>
#include <array>
#include <utility>

#include "support/dispatch.hpp"
#include "support/prefetch.hpp"
#include "varlen/concat.hpp"
#include "varlen/copy.hpp"
#include "varlen/pad.hpp"
#include "varlen/pool.hpp"

namespace varlen {
namespace {

// Padded rows of up to this many bytes are copied whole, whatever is in them.
constexpr std::int64_t kSmall = 128;
// Measured: with AVX2 the loop is a tenth to a fifth faster than memcpy up to here, and as fast beyond.
constexpr std::int64_t kMedium = 16384;
// Rows of the rectangle: their first lines arrive in time, and are still there.
constexpr std::int64_t kPrefetchDistance = 4;
constexpr std::uintptr_t kLine = 64;

/// One thread's part: the rows [from, to) of the output.
struct Job {
  const Offsets* levels;
  int depth;
  const std::int64_t* sizes;
  std::int64_t width;
  bool left;
  const std::byte* dense_end;
  std::int64_t from;
  std::int64_t to;
  std::byte* out;  ///< where row `from` goes
  std::byte* limit;

  [[nodiscard]] std::int64_t slot_bytes(int axis) const noexcept {
    std::int64_t bytes = width;
    for (int a = axis + 1; a < depth; ++a) bytes *= sizes[a];
    return bytes;
  }

  /// Rows of values in front of sequence i of levels[axis].
  [[nodiscard]] std::int64_t deep(int axis, std::int64_t i) const noexcept {
    for (; axis < depth; ++axis) i = levels[axis].start(i);
    return i;
  }
};

/// Rows that lie whole in the part: a fixed number of vectors each. Gives back the first that it did not do.
template <int Vectors>
std::int64_t small_rows(Job& job, Range rows, const std::byte* dense) noexcept {
  constexpr std::int64_t kReach = std::int64_t{Vectors} * 16;
  const std::int64_t width = job.width;
  const std::int64_t row_bytes = job.sizes[job.depth - 1] * width;
  const std::int64_t* const ends = job.levels[job.depth - 1].ends;
  const std::int64_t room = job.dense_end - dense - kReach;
  const std::int64_t readable = room < 0 ? 0 : room / row_bytes;
  const std::int64_t stop = std::min(rows.end, rows.begin + readable);
  const bool left = job.left;
  std::byte* out = job.out;
  std::byte* const last = job.limit - kReach;
  std::int64_t start = job.levels[job.depth - 1].start(rows.begin);
  std::int64_t i = rows.begin;
  for (; i < stop && out <= last; ++i, dense += row_bytes) {
    const std::int64_t bytes = (ends[i] - start) * width;
    start = ends[i];
    const std::byte* input = dense + (left ? row_bytes - bytes : 0);
    for (std::ptrdiff_t v = 0; v < Vectors; ++v) store(out + 16 * v, load(input + 16 * v));
    out += bytes;
  }
  job.out = out;
  return i;
}

using SmallRows = std::int64_t (*)(Job&, Range, const std::byte*) noexcept;

template <std::size_t... Is>
constexpr std::array<SmallRows, sizeof...(Is)> small_table(std::index_sequence<Is...> /*vectors*/) {
  return {&small_rows<static_cast<int>(Is) + 1>...};
}

constexpr auto kSmallRows = small_table(std::make_index_sequence<kSmall / 16>{});

/// Rows that lie whole in the part, each up to kMedium bytes in the rectangle. As small_rows.
VARLEN_LOOP std::int64_t unpad_medium_rows(Job& job, Range rows, const std::byte* dense,
                                           std::int64_t row_bytes) noexcept {
  const std::int64_t width = job.width;
  const std::int64_t* const ends = job.levels[job.depth - 1].ends;
  const bool left = job.left;
  const std::uintptr_t side = left ? static_cast<std::uintptr_t>(row_bytes) - 2 * kLine : 0;
  std::byte* out = job.out;
  const std::byte* const last = job.limit - row_bytes - kWideBytes;
  const std::int64_t readable = (job.dense_end - dense - kWideBytes) / row_bytes;
  const std::int64_t stop = std::min(rows.end, rows.begin + readable);
  std::int64_t start = job.levels[job.depth - 1].start(rows.begin);
  std::int64_t i = rows.begin;
  for (; i < stop && out <= last; ++i, dense += row_bytes) {
    const std::int64_t bytes = (ends[i] - start) * width;
    start = ends[i];
    if (i + kPrefetchDistance < stop) {
      // Chosen, not branched on: where an empty row comes next is not to be guessed.
      const std::byte* next = ends[i + kPrefetchDistance] > ends[i + kPrefetchDistance - 1]
                                  ? dense + kPrefetchDistance * row_bytes + side
                                  : out;
      prefetch(next, 0, 0);
      prefetch(next, 0, 0, kLine);
    }
    const std::byte* input = dense + (left ? row_bytes - bytes : 0);
    if (bytes < kOverMost) {
      copy_over(out, input, bytes);
    } else {
      copy_bytes(out, input, bytes);
    }
    out += bytes;
  }
  job.out = out;
  return i;
}

void one_row(Job& job, Range rows, const std::byte* dense, std::int64_t row_bytes) noexcept {
  const std::int64_t gap = job.left ? row_bytes - rows.size() * job.width : 0;
  const std::int64_t from = std::max(rows.begin, job.from);
  const std::int64_t bytes = (std::min(rows.end, job.to) - from) * job.width;
  if (bytes <= 0) return;
  copy_bytes(job.out, dense + gap + (from - rows.begin) * job.width, bytes);
  job.out += bytes;
}

/// Sequences `rows` of levels[axis]; dense is where the first of them lies.
void block(Job& job, int axis, Range rows, const std::byte* dense) noexcept {
  const Offsets level = job.levels[axis];
  const std::int64_t row_bytes = job.slot_bytes(axis - 1);
  const std::int64_t first = rows.begin;
  const auto begins_before = [&](std::int64_t value) {  // the first sequence that begins past `value`
    std::int64_t low = rows.begin;
    std::int64_t high = rows.end;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (job.deep(axis, middle) <= value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  if (rows.size() <= 0) return;
  if (job.deep(axis, rows.begin) < job.from) rows.begin = std::max(rows.begin, begins_before(job.from) - 1);
  if (job.deep(axis, rows.end) > job.to) rows.end = std::min(rows.end, begins_before(job.to - 1));
  const auto row_at = [&](std::int64_t i) { return dense + (i - first) * row_bytes; };
  const auto range = [&](std::int64_t i) { return Range{level.start(i), level.end(i)}; };
  if (axis + 1 < job.depth) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const Range inner = range(i);
      const std::int64_t gap = job.left ? job.sizes[axis] - inner.size() : 0;
      block(job, axis + 1, inner, row_at(i) + gap * job.slot_bytes(axis));
    }
    return;
  }
  std::int64_t i = rows.begin;
  if (i < rows.end && level.start(i) < job.from) {  // begun by the part in front
    one_row(job, range(i), row_at(i), row_bytes);
    ++i;
  }
  if (i < rows.end && row_bytes <= kSmall) {
    const std::int64_t full = level.end(rows.end - 1) > job.to ? rows.end - 1 : rows.end;
    i = kSmallRows[static_cast<std::size_t>((row_bytes - 1) / 16)](job, {i, full}, row_at(i));
  }
  if (i < rows.end && row_bytes <= kMedium) {
    const std::int64_t full = level.end(rows.end - 1) > job.to ? rows.end - 1 : rows.end;
    i = best<unpad_medium_rows>(job, {i, full}, row_at(i), row_bytes);
  }
  for (; i < rows.end; ++i) one_row(job, range(i), row_at(i), row_bytes);
}

}  // namespace

void unpad(const std::byte* dense, std::int64_t width, const Offsets* levels, int depth,
           const std::int64_t* sizes, Side side, std::byte* out) noexcept {
  const std::int64_t total = levels[depth - 1].total();
  const std::int64_t n = levels[0].count;
  if (total == 0 || width == 0) return;
  const Job full{levels, depth, sizes, width, side == Side::left, nullptr, 0, total, out, nullptr};
  const std::byte* end = dense + n * full.slot_bytes(-1);
  if (end - dense == total * width) {  // nothing is padded
    const ConcatBlock all{dense, total * width};
    concat(&all, 1, out);
    return;
  }
  const std::int64_t chunks = std::min(total, chunks_for(total * width));
  const auto cut = [&](std::int64_t c) { return total / chunks * c + std::min(c, total % chunks); };
  parallel(chunks, [&](std::int64_t c) {
    Job part = full;
    part.dense_end = end;
    part.from = cut(c);
    part.to = cut(c + 1);
    part.out = out + part.from * width;
    part.limit = out + part.to * width;
    block(part, 0, {0, n}, dense);
  });
}

Status unpad_check(Offsets level, std::int64_t slots) noexcept {
  for (std::int64_t i = 0; i < level.count; ++i) {
    if (level.length(i) > slots) return {Code::too_long, i, level.length(i)};
  }
  return {};
}

Status lengths_from_mask(const std::byte* mask, std::int64_t n, std::int64_t slots, Side side,
                         std::int64_t* lengths) noexcept {
  for (std::int64_t i = 0; i < n; ++i, mask += slots) {
    std::int64_t count = 0;
    std::int64_t turns = 0;  // places where a slot differs from the one before it
    for (std::int64_t j = 0; j < slots; ++j) count += mask[j] != std::byte{0} ? 1 : 0;
    for (std::int64_t j = 1; j < slots; ++j) {
      turns += (mask[j] != std::byte{0}) != (mask[j - 1] != std::byte{0}) ? 1 : 0;
    }
    const bool partial = count > 0 && count < slots;
    const std::byte first = partial ? mask[side == Side::left ? slots - 1 : 0] : std::byte{1};
    if (partial && (turns > 1 || first == std::byte{0})) return {Code::not_prefix_mask, i, count};
    lengths[i] = count;
  }
  return {};
}

}  // namespace varlen
