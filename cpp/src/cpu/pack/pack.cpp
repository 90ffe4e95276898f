#include "varlen/pack.hpp"

#include <algorithm>

#include "support/prefetch.hpp"

namespace varlen {

void pack_order(Offsets level, Ties ties, std::int64_t longest, std::int32_t* lengths, std::int32_t* indices,
                std::int32_t* size_at_t, std::int32_t* room) noexcept {
  const std::int64_t n = level.count;
  std::fill(room, room + longest + 1, 0);
  for (std::int64_t i = 0; i < n; ++i) ++room[level.length(i)];
  std::int32_t longer = 0;  // room[l] becomes the column of the next sequence of length l
  for (std::int64_t l = longest; l >= 0; --l) {
    const std::int32_t count = room[l];
    if (l < longest) size_at_t[l] = longer;
    room[l] = longer;
    longer += count;
  }
  const auto put = [&](std::int64_t i) {
    const auto length = static_cast<std::int32_t>(level.length(i));
    const std::int32_t k = room[length]++;
    lengths[k] = length;
    indices[k] = static_cast<std::int32_t>(i);
  };
  if (ties == Ties::stable) {
    for (std::int64_t i = 0; i < n; ++i) put(i);
  } else {
    for (std::int64_t i = n - 1; i >= 0; --i) put(i);
  }
}

template <class T>
Status pack_check_lengths(const T* lengths, std::int64_t columns, std::int64_t steps,
                          std::int32_t* out) noexcept {
  std::int64_t before = steps;
  for (std::int64_t k = 0; k < columns; ++k) {
    const std::int64_t length = lengths[k];
    if (length < 0) return {Code::negative_length, k, length};
    if (length > steps) return {Code::too_long, k, length};
    if (length > before) return {Code::increasing, k, length};
    before = length;
    if (out != nullptr) out[k] = static_cast<std::int32_t>(length);
  }
  return {};
}

template <class T>
Status pack_check_sizes(const T* size_at_t, std::int64_t steps, const std::int32_t* lengths,
                        std::int64_t columns, std::int32_t* out) noexcept {
  std::int64_t size = columns;
  for (std::int64_t t = 0; t < steps; ++t) {
    while (size > 0 && lengths[size - 1] <= t) --size;
    if (size_at_t[t] != size) return {Code::miscounted, t, size};
    if (out != nullptr) out[t] = static_cast<std::int32_t>(size);
  }
  return {};
}

template <class T>
Status pack_check_indices(const T* indices, std::int64_t columns, std::int32_t* out,
                          std::uint8_t* seen) noexcept {
  std::fill(seen, seen + columns, std::uint8_t{0});
  for (std::int64_t k = 0; k < columns; ++k) {
    const std::int64_t index = indices[k];
    if (index < 0 || index >= columns) return {Code::index_out_of_range, k, index};
    if (seen[index] != 0) return {Code::repeated, k, index};
    seen[index] = 1;
    if (out != nullptr) out[k] = static_cast<std::int32_t>(index);
  }
  return {};
}

template Status pack_check_lengths(const std::int32_t*, std::int64_t, std::int64_t, std::int32_t*) noexcept;
template Status pack_check_lengths(const std::int64_t*, std::int64_t, std::int64_t, std::int32_t*) noexcept;
template Status pack_check_sizes(const std::int32_t*, std::int64_t, const std::int32_t*, std::int64_t,
                                 std::int32_t*) noexcept;
template Status pack_check_sizes(const std::int64_t*, std::int64_t, const std::int32_t*, std::int64_t,
                                 std::int32_t*) noexcept;
template Status pack_check_indices(const std::int32_t*, std::int64_t, std::int32_t*, std::uint8_t*) noexcept;
template Status pack_check_indices(const std::int64_t*, std::int64_t, std::int32_t*, std::uint8_t*) noexcept;

Status pack_check_level(Offsets level, const std::int32_t* lengths, const std::int32_t* indices) noexcept {
  for (std::int64_t k = 0; k < level.count; ++k) {
    const std::int64_t length = level.length(indices[k]);
    if (lengths[k] != length) return {Code::miscounted, k, length};
  }
  return {};
}

void pack_ends(const std::int32_t* lengths, const std::int32_t* indices, std::int64_t columns,
               std::int64_t* ends) noexcept {
  for (std::int64_t k = 0; k < columns; ++k) ends[indices[k]] = lengths[k];
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < columns; ++i) ends[i] = total += ends[i];
}

void pack_columns(const Piece* pieces, const std::int32_t* indices, std::int64_t columns,
                  const std::byte** rows) noexcept {
  with_prefetch(
      0, columns, kPrefetchOffsets, [&](std::int64_t k) { prefetch(pieces, indices[k], sizeof(Piece)); },
      [&](std::int64_t k) { rows[k] = pieces[indices[k]].data; });
}

void pack_columns(const std::byte* values, std::int64_t width, Offsets level, const std::int32_t* indices,
                  std::int64_t columns, const std::byte** rows) noexcept {
  with_prefetch(
      0, columns, kPrefetchOffsets,
      [&](std::int64_t k) { prefetch(level.ends, indices[k], sizeof(*level.ends)); },
      [&](std::int64_t k) { rows[k] = values + level.start(indices[k]) * width; });
}

}  // namespace varlen
