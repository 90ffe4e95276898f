#include "varlen/offsets.hpp"

#include <algorithm>

#include "support/read_once.hpp"

namespace varlen {
namespace {

// Short enough that a bad block is walked again at once.
constexpr std::int64_t kOffsetsAtOnce = 1024;

constexpr std::int64_t difference(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

}  // namespace

Status offsets_from_row_ids(const std::int64_t* row_ids, std::int64_t total, std::int64_t n,
                            std::int64_t* offsets) noexcept {
  std::int64_t row = 0;
  offsets[0] = 0;
  for (std::int64_t j = 0; j < total; ++j) {
    const std::int64_t id = read_once(row_ids + j);
    if (id < 0 || id >= n) return {Code::row_ids_range, j, id};
    if (id < row) return {Code::row_ids_unsorted, j, id};
    while (row < id) offsets[++row] = j;
  }
  while (row < n) offsets[++row] = total;
  return {};
}

Status check_ends(Offsets level, std::int64_t limit) noexcept {
  std::int64_t previous = 0;
  for (std::int64_t begin = 0; begin < level.count; begin += kOffsetsAtOnce) {
    const std::int64_t end = std::min(level.count, begin + kOffsetsAtOnce);
    // Ends that are not negative differ by less than 2^63, so a step back shows as a sign.
    std::int64_t signs = level.ends[begin] | difference(level.ends[begin], previous);
    for (std::int64_t i = begin + 1; i < end; ++i) {
      signs |= level.ends[i] | difference(level.ends[i], level.ends[i - 1]);
    }
    const bool bad = signs < 0;
    if (bad) {
      for (std::int64_t i = begin; i < end; previous = level.ends[i++]) {
        if (level.ends[i] < previous) return {Code::decreasing, i, level.ends[i]};
      }
    }
    previous = level.ends[end - 1];
    if (limit >= 0 && previous > limit) {
      std::int64_t i = begin;
      while (level.ends[i] <= limit) ++i;
      return {Code::beyond_total, i, level.ends[i]};
    }
  }
  return {};
}

template <class T>
Status rebase_offsets(const T* numbers, std::int64_t n, std::int64_t limit, std::int64_t* offsets,
                      std::int64_t* first) noexcept {
  const std::int64_t start = read_once(numbers);
  *first = start;
  offsets[0] = 0;
  if (start < 0) return {Code::decreasing, 0, start};
  if (start > limit) return {Code::beyond_total, 0, start};
  for (std::int64_t begin = 0; begin < n; begin += kOffsetsAtOnce) {
    const std::int64_t end = std::min(n, begin + kOffsetsAtOnce);
    for (std::int64_t i = begin; i < end; ++i) offsets[i + 1] = difference(numbers[i + 1], start);
    // What was copied is checked: another thread may write to what was given.
    std::int64_t signs = 0;
    for (std::int64_t i = begin; i < end; ++i)
      signs |= offsets[i + 1] | difference(offsets[i + 1], offsets[i]);
    const bool is_beyond = offsets[end] > limit - start;
    if (signs >= 0 && !is_beyond) continue;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t value = difference(offsets[i + 1], -start);
      if (offsets[i + 1] < offsets[i]) return {Code::decreasing, i, value};
      if (offsets[i + 1] > limit - start) return {Code::beyond_total, i, value};
    }
  }
  return {};
}

template Status rebase_offsets(const std::int32_t*, std::int64_t, std::int64_t, std::int64_t*,
                               std::int64_t*) noexcept;
template Status rebase_offsets(const std::int64_t*, std::int64_t, std::int64_t, std::int64_t*,
                               std::int64_t*) noexcept;

LevelStats level_stats(Offsets level) noexcept {
  if (level.count == 0) return {};
  std::int64_t longest = level.ends[0];
  std::int64_t shortest = level.ends[0];
  for (std::int64_t i = 1; i < level.count; ++i) {
    const std::int64_t length = level.ends[i] - level.ends[i - 1];
    longest = std::max(longest, length);
    shortest = std::min(shortest, length);
  }
  return {longest, shortest};
}

void lengths_of(Offsets level, std::int64_t* lengths) noexcept {
  if (level.count > 0) lengths[0] = level.ends[0];
  for (std::int64_t i = 1; i < level.count; ++i) lengths[i] = level.ends[i] - level.ends[i - 1];
}

void lengths_of(Offsets level, std::int32_t* lengths) noexcept {
  for (std::int64_t i = 0; i < level.count; ++i) lengths[i] = static_cast<std::int32_t>(level.length(i));
}

void offsets_of(Offsets level, std::int32_t* offsets) noexcept {
  offsets[0] = 0;
  for (std::int64_t i = 0; i < level.count; ++i) offsets[i + 1] = static_cast<std::int32_t>(level.ends[i]);
}

void row_ids_of(Offsets level, std::int64_t* row_ids) noexcept {
  // Four at a time: what runs over is written again by the next sequence, so that a short one costs no
  // branch.
  const std::int64_t room = level.total() - 4;
  std::int64_t j = 0;
  for (std::int64_t i = 0; i < level.count; ++i) {
    const std::int64_t end = level.end(i);
    for (; j < end && j <= room; j += 4) {
      for (std::int64_t k = 0; k < 4; ++k) row_ids[j + k] = i;
    }
    for (; j < end; ++j) row_ids[j] = i;
    j = end;
  }
}

void positions_of(Offsets level, std::int64_t* positions) noexcept {
  const std::int64_t room = level.total() - 4;
  std::int64_t j = 0;
  for (std::int64_t i = 0; i < level.count; ++i) {
    const std::int64_t start = j;
    const std::int64_t end = level.end(i);
    for (; j < end && j <= room; j += 4) {
      for (std::int64_t k = 0; k < 4; ++k) positions[j + k] = j - start + k;
    }
    for (; j < end; ++j) positions[j] = j - start;
    j = end;
  }
}

}  // namespace varlen
