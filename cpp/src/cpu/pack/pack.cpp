#include "varlen/pack.hpp"

#include <algorithm>

#include "support/prefetch.hpp"

namespace varlen {

void pack_order(Offsets level, Ties ties, std::int64_t longest, std::int64_t* lengths, std::int64_t* indices,
                std::int64_t* size_at_t, std::int64_t* room) noexcept {
  const std::int64_t n = level.count;
  std::fill(room, room + longest + 1, 0);
  for (std::int64_t i = 0; i < n; ++i) ++room[level.length(i)];
  std::int64_t longer = 0;  // room[l] becomes the column of the next sequence of length l
  for (std::int64_t l = longest; l >= 0; --l) {
    const std::int64_t count = room[l];
    if (l < longest) size_at_t[l] = longer;
    room[l] = longer;
    longer += count;
  }
  const auto put = [&](std::int64_t i) {
    const std::int64_t length = level.length(i);
    const std::int64_t k = room[length]++;
    lengths[k] = length;
    indices[k] = i;
  };
  if (ties == Ties::stable) {
    for (std::int64_t i = 0; i < n; ++i) put(i);
  } else {
    for (std::int64_t i = n - 1; i >= 0; --i) put(i);
  }
}

void pack_sizes(const std::int64_t* lengths, std::int64_t columns, std::int64_t steps,
                std::int64_t* size_at_t) noexcept {
  std::int64_t size = columns;
  for (std::int64_t t = 0; t < steps; ++t) {
    while (size > 0 && lengths[size - 1] <= t) --size;
    size_at_t[t] = size;
  }
}

Status pack_check_lengths(const std::int64_t* lengths, std::int64_t columns, std::int64_t steps) noexcept {
  std::int64_t previous = steps;
  for (std::int64_t k = 0; k < columns; ++k) {
    const std::int64_t length = lengths[k];
    if (length < 0) return {Code::negative_length, k, length};
    if (length > steps) return {Code::too_long, k, length};
    if (length > previous) return {Code::increasing, k, length};
    previous = length;
  }
  return {};
}

Status pack_check_sizes(const std::int64_t* size_at_t, std::int64_t steps, const std::int64_t* lengths,
                        std::int64_t columns) noexcept {
  std::int64_t size = columns;
  for (std::int64_t t = 0; t < steps; ++t) {
    while (size > 0 && lengths[size - 1] <= t) --size;
    if (size_at_t[t] != size) return {Code::count_mismatch, t, size};
  }
  return {};
}

Status pack_check_indices(const std::int64_t* indices, std::int64_t columns, std::uint8_t* marks) noexcept {
  std::fill(marks, marks + columns, std::uint8_t{0});
  for (std::int64_t k = 0; k < columns; ++k) {
    const std::int64_t index = indices[k];
    if (index < 0 || index >= columns) return {Code::index_out_of_range, k, index};
    if (marks[index] != 0) return {Code::repeated, k, index};
    marks[index] = 1;
  }
  return {};
}

Status pack_check_level(Offsets level, const std::int64_t* lengths, const std::int64_t* indices) noexcept {
  for (std::int64_t k = 0; k < level.count; ++k) {
    const std::int64_t length = level.length(indices[k]);
    if (lengths[k] != length) return {Code::count_mismatch, k, length};
  }
  return {};
}

void pack_ends(const std::int64_t* lengths, const std::int64_t* indices, std::int64_t columns,
               std::int64_t* ends) noexcept {
  for (std::int64_t k = 0; k < columns; ++k) ends[indices[k]] = lengths[k];
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < columns; ++i) ends[i] = total += ends[i];
}

void pack_places(const std::int64_t* indices, std::int64_t columns, std::int64_t* places) noexcept {
  for (std::int64_t k = 0; k < columns; ++k) places[indices[k]] = k;
}

void pack_columns(const Piece* pieces, const std::int64_t* indices, std::int64_t columns,
                  const std::byte** rows) noexcept {
  with_prefetch(
      0, columns, kPrefetchOffsets, [&](std::int64_t k) { prefetch(pieces, indices[k], sizeof(Piece)); },
      [&](std::int64_t k) { rows[k] = pieces[indices[k]].data; });
}

void pack_columns(const std::byte* values, std::int64_t width, Offsets level, const std::int64_t* indices,
                  std::int64_t columns, const std::byte** rows) noexcept {
  with_prefetch(
      0, columns, kPrefetchOffsets,
      [&](std::int64_t k) { prefetch(level.ends, indices[k], sizeof(*level.ends)); },
      [&](std::int64_t k) { rows[k] = values + level.start(indices[k]) * width; });
}

}  // namespace varlen
