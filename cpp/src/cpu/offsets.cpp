#include "varlen/offsets.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "varlen/checked.hpp"

namespace varlen {
namespace {

// Long enough to fill the pipeline, short enough that a failed block is found again at once.
constexpr std::int64_t kBlock = 1024;

template <class T>
Status first_bad_length(const T* lengths, std::int64_t begin, std::int64_t end, std::int64_t sum) noexcept {
  for (std::int64_t i = begin; i < end; ++i) {
    if constexpr (std::is_signed_v<T>) {
      if (lengths[i] < 0) return {Code::negative_length, i, static_cast<std::int64_t>(lengths[i])};
    } else if constexpr (sizeof(T) == 8) {
      if (lengths[i] > static_cast<T>(std::numeric_limits<std::int64_t>::max()))
        return {Code::overflow, i, sum};
    }
    std::int64_t next = 0;
    if (!checked_add(sum, static_cast<std::int64_t>(lengths[i]), next)) return {Code::overflow, i, sum};
    sum = next;
  }
  return {};
}

}  // namespace

template <class T>
Status offsets_from_lengths(const T* lengths, std::int64_t n, std::int64_t* offsets) noexcept {
  // Sums run unsigned, so that a wrap is defined; a block whose or-ed parts show a sign bit is
  // walked again with care. A sum cannot wrap past the sign bit unseen: each step adds less than 2^63.
  std::uint64_t sum = 0;
  offsets[0] = 0;
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t end = std::min(n, begin + kBlock);
    const std::uint64_t before = sum;
    std::uint64_t seen = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const auto length = static_cast<std::uint64_t>(static_cast<std::int64_t>(lengths[i]));
      sum += length;
      seen |= length | sum;
      offsets[i + 1] = static_cast<std::int64_t>(sum);
    }
    if (static_cast<std::int64_t>(seen) < 0) {
      return first_bad_length(lengths, begin, end, static_cast<std::int64_t>(before));
    }
  }
  return {};
}

template Status offsets_from_lengths(const std::int8_t*, std::int64_t, std::int64_t*) noexcept;
template Status offsets_from_lengths(const std::int16_t*, std::int64_t, std::int64_t*) noexcept;
template Status offsets_from_lengths(const std::int32_t*, std::int64_t, std::int64_t*) noexcept;
template Status offsets_from_lengths(const std::int64_t*, std::int64_t, std::int64_t*) noexcept;
template Status offsets_from_lengths(const std::uint8_t*, std::int64_t, std::int64_t*) noexcept;
template Status offsets_from_lengths(const std::uint16_t*, std::int64_t, std::int64_t*) noexcept;
template Status offsets_from_lengths(const std::uint32_t*, std::int64_t, std::int64_t*) noexcept;
template Status offsets_from_lengths(const std::uint64_t*, std::int64_t, std::int64_t*) noexcept;

Status offsets_from_row_ids(const std::int64_t* row_ids, std::int64_t total, std::int64_t n,
                            std::int64_t* offsets) noexcept {
  std::int64_t row = 0;
  offsets[0] = 0;
  for (std::int64_t j = 0; j < total; ++j) {
    const std::int64_t id = row_ids[j];
    if (id < 0 || id >= n) return {Code::row_ids_range, j, id};
    if (id < row) return {Code::row_ids_unsorted, j, id};
    while (row < id) offsets[++row] = j;
  }
  while (row < n) offsets[++row] = total;
  return {};
}

Status check_ends(Offsets level, std::int64_t limit) noexcept {
  std::int64_t before = 0;
  for (std::int64_t begin = 0; begin < level.count; begin += kBlock) {
    const std::int64_t end = std::min(level.count, begin + kBlock);
    bool bad = level.ends[begin] < before;
    for (std::int64_t i = begin + 1; i < end; ++i) bad |= level.ends[i] < level.ends[i - 1];
    if (bad) {
      for (std::int64_t i = begin; i < end; before = level.ends[i++]) {
        if (level.ends[i] < before) return {Code::decreasing, i, level.ends[i]};
      }
    }
    before = level.ends[end - 1];
    if (limit >= 0 && before > limit) {
      std::int64_t i = begin;
      while (level.ends[i] <= limit) ++i;
      return {Code::beyond_total, i, level.ends[i]};
    }
  }
  return {};
}

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

void row_ids_of(Offsets level, std::int64_t* row_ids) noexcept {
  std::int64_t j = 0;
  for (std::int64_t i = 0; i < level.count; ++i) {
    for (const std::int64_t end = level.end(i); j < end; ++j) row_ids[j] = i;
  }
}

void positions_of(Offsets level, std::int64_t* positions) noexcept {
  std::int64_t j = 0;
  for (std::int64_t i = 0; i < level.count; ++i) {
    const std::int64_t start = j;
    for (const std::int64_t end = level.end(i); j < end; ++j) positions[j] = j - start;
  }
}

}  // namespace varlen
