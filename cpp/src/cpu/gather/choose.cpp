// What to pick: indices, masks, slices and windows to ranges of rows.
#include <algorithm>
#include <array>

#include "support/prefetch.hpp"
#include "support/read_once.hpp"
#include "varlen/gather.hpp"
#include "varlen/pool.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen {
namespace {

constexpr std::int64_t kMaxChunks = 64;

constexpr std::int64_t wrap(std::int64_t i, std::int64_t count) noexcept {
  return i < 0 ? i + count : i;
}

/// gather_sequences of [begin, end), with ends counted from 0 at begin.
Status pick(Offsets level, const std::int64_t* index, std::int64_t begin, std::int64_t end, Range* ranges,
            std::int64_t* ends) noexcept {
  const std::int64_t count = level.count;
  std::uint64_t sum = 0;  // a wrap shows as a sign, because one sequence adds less than 2^63
  Status status;
  with_prefetch(
      begin, end, kPrefetchOffsets, [&](std::int64_t k) { prefetch(level.ends, wrap(index[k], count), 8); },
      [&](std::int64_t k) {
        const std::int64_t i = wrap(read_once(index + k), count);
        if (!is_inside(i, count)) {
          if (status.ok()) status = {Code::index_out_of_range, k, index[k]};
          return;
        }
        ranges[k] = {level.start(i), level.end(i)};
        sum += static_cast<std::uint64_t>(ranges[k].size());
        ends[k] = static_cast<std::int64_t>(sum);
        if (ends[k] < 0 && status.ok()) status = {Code::overflow, k, index[k]};
      });
  return status;
}

}  // namespace

Status gather_index(const std::int64_t* index, std::int64_t n, std::int64_t count, Range* ranges) noexcept {
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t i = wrap(read_once(index + k), count);
    if (!is_inside(i, count)) return {Code::index_out_of_range, k, index[k]};
    ranges[k] = {i, i + 1};
  }
  return {};
}

bool gather_in_range(const std::int64_t* numbers, std::int64_t n, std::int64_t count) noexcept {
  bool are_inside = true;
  for (std::int64_t k = 0; k < n; ++k) {
    are_inside = are_inside && static_cast<std::uint64_t>(numbers[k]) < static_cast<std::uint64_t>(count);
  }
  return are_inside;
}

std::int64_t gather_count(const std::uint8_t* mask, std::int64_t n) noexcept {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n; ++i) count += mask[i] != 0 ? 1 : 0;
  return count;
}

std::int64_t gather_mask(const std::uint8_t* mask, std::int64_t n, std::int64_t count,
                         std::int64_t* index) noexcept {
  std::int64_t place = 0;
  for (std::int64_t i = 0; i < n && place <= count; ++i) {
    index[place] = i;  // always written, kept where the mask says so: nothing to mispredict
    place += mask[i] != 0 ? 1 : 0;
  }
  return std::min(place, count);
}

bool gather_inside(Offsets level, const std::int64_t* sequences, const std::int64_t* ids, std::int64_t n,
                   std::int64_t* out) noexcept {
  bool are_inside = true;
  with_prefetch(
      0, n, kPrefetchOffsets, [&](std::int64_t k) { prefetch(level.ends, sequences[k], 8); },
      [&](std::int64_t k) {
        const std::int64_t i = read_once(sequences + k);
        if (!is_inside(i, level.count)) {
          are_inside = false;
          return;
        }
        const Range rows{level.start(i), level.end(i)};
        const std::int64_t place = wrap(read_once(ids + k), rows.size());
        const bool is_there = is_inside(place, rows.size());
        are_inside = are_inside && is_there;
        out[k] = is_there ? rows.begin + place : 0;
      });
  return are_inside;
}

bool gather_inside(Offsets level, Offsets units, const std::int64_t* ids, std::int64_t* out) noexcept {
  bool are_inside = true;
  std::int64_t k = 0;
  for (std::int64_t i = 0; i < units.count; ++i) {
    const Range rows{level.start(i), level.end(i)};
    for (const std::int64_t end = units.end(i); k < end; ++k) {
      const std::int64_t place = wrap(read_once(ids + k), rows.size());
      const bool is_there = is_inside(place, rows.size());
      are_inside = are_inside && is_there;
      out[k] = is_there ? rows.begin + place : 0;
    }
  }
  return are_inside;
}

Slice::Pick Slice::resolve(std::int64_t length) const noexcept {
  const auto clip = [&](std::int64_t x) {
    if (x < 0) return std::max<std::int64_t>(x + length, step < 0 ? -1 : 0);
    return std::min(x, step < 0 ? length - 1 : length);
  };
  const std::int64_t first = clip(start);
  const std::int64_t last = clip(stop);
  if (step > 0) return {first, first < last ? (last - first - 1) / step + 1 : 0};
  const std::int64_t stride = step < 0 ? -step : 1;  // no slice has a step of 0
  return {first, last < first ? (first - last - 1) / stride + 1 : 0};
}

void gather_steps(Slice::Pick pick, std::int64_t step, std::int64_t* index) noexcept {
  for (std::int64_t k = 0; k < pick.size; ++k) index[k] = pick.first + k * step;
}

Status gather_sequences(Offsets level, const std::int64_t* index, std::int64_t n, Range* ranges,
                        std::int64_t* ends) noexcept {
  constexpr std::int64_t kBytes = sizeof(Range) + 3 * sizeof(std::int64_t);
  const std::int64_t chunks = std::min(kMaxChunks, chunks_for(n * kBytes));
  if (chunks <= 1) return pick(level, index, 0, n, ranges, ends);
  std::array<Status, kMaxChunks> statuses{};
  const auto cut = [&](std::int64_t c) { return n / chunks * c + std::min(c, n % chunks); };
  parallel(chunks, [&](std::int64_t c) {
    statuses[static_cast<std::size_t>(c)] = pick(level, index, cut(c), cut(c + 1), ranges, ends);
  });
  std::array<std::int64_t, kMaxChunks> starts{};
  std::int64_t sum = 0;
  for (std::int64_t c = 0; c < chunks; ++c) {
    const auto place = static_cast<std::size_t>(c);
    if (!statuses[place].ok()) return statuses[place];
    starts[place] = sum;
    if (!checked_add(sum, ends[cut(c + 1) - 1], sum)) return {Code::overflow, cut(c + 1) - 1, sum};
  }
  parallel(chunks, [&](std::int64_t c) {
    const std::int64_t shift = starts[static_cast<std::size_t>(c)];
    for (std::int64_t k = cut(c); k < cut(c + 1); ++k) ends[k] += shift;
  });
  return {};
}

void gather_all(Offsets level, Range* ranges) noexcept {
  for (std::int64_t i = 0; i < level.count; ++i) ranges[i] = {level.start(i), level.end(i)};
}

void gather_windows(const Range* ranges, std::int64_t n, Slice window, Range* out,
                    std::int64_t* ends) noexcept {
  std::int64_t sum = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const Slice::Pick pick = window.resolve(ranges[k].size());
    sum += pick.size;  // a part of what was there: fits
    const std::int64_t begin = ranges[k].begin + pick.first;
    out[k] = {begin, begin + pick.size};
    ends[k] = sum;
  }
}

void gather_strided(const Range* ranges, const std::int64_t* ends, std::int64_t n, std::int64_t step,
                    std::int64_t* index) noexcept {
  std::int64_t place = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t row = ranges[k].begin; place < ends[k]; ++place, row += step) index[place] = row;
  }
}

Status gather_column(const Range* ranges, std::int64_t n, std::int64_t place, std::int64_t* index) noexcept {
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t i = wrap(place, ranges[k].size());
    if (!is_inside(i, ranges[k].size())) return {Code::index_out_of_range, k, ranges[k].size()};
    index[k] = ranges[k].begin + i;
  }
  return {};
}

}  // namespace varlen
