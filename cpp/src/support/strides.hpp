// Elements from one set of strides to another.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace varlen {

/// An axis of both sides: strides in elements, 0 where one element is read again and again.
struct StridedAxis {
  std::int64_t extent = 1;
  std::int64_t from = 0;
  std::int64_t to = 0;
};

namespace detail {

// A square of so many elements of 4 bytes is read and written inside of the first cache.
constexpr std::int64_t kStridedTile = 32;

template <std::size_t size>
struct StridedElement {
  std::array<std::byte, size> bytes;
};

/// The last axis is that of the shortest step to write, the one before that of the shortest step to read.
template <class T>
void copy_plane(const StridedAxis& far, const StridedAxis& inner, const T* from, T* to) noexcept {
  if (inner.from == 1 && inner.to == 1) {
    for (std::int64_t i = 0; i < far.extent; ++i) {
      std::memcpy(to + i * far.to, from + i * far.from, static_cast<std::size_t>(inner.extent) * sizeof(T));
    }
    return;
  }
  for (std::int64_t i0 = 0; i0 < far.extent; i0 += kStridedTile) {
    const std::int64_t i1 = std::min(far.extent, i0 + kStridedTile);
    for (std::int64_t j0 = 0; j0 < inner.extent; j0 += kStridedTile) {
      const std::int64_t j1 = std::min(inner.extent, j0 + kStridedTile);
      for (std::int64_t i = i0; i < i1; ++i) {
        for (std::int64_t j = j0; j < j1; ++j) {
          to[i * far.to + j * inner.to] = from[i * far.from + j * inner.from];
        }
      }
    }
  }
}

template <class T>
void copy_axes(const StridedAxis* axes, std::size_t count, const T* from, T* to) noexcept {
  if (count == 2) {
    copy_plane(axes[0], axes[1], from, to);
    return;
  }
  for (std::int64_t i = 0; i < axes[0].extent; ++i) {
    copy_axes(axes + 1, count - 1, from + i * axes[0].from, to + i * axes[0].to);
  }
}

}  // namespace detail

/// Copies an element of `size` bytes for each place of the axes, which are put in the order that is walked.
inline void copy_strided(StridedAxis* axes, std::size_t count, std::int64_t size, const std::byte* from,
                         std::byte* to) noexcept {
  std::array<StridedAxis, 2> axis_pair;
  if (std::any_of(axes, axes + count, [](const StridedAxis& axis) { return axis.extent == 0; })) return;
  count = static_cast<std::size_t>(
      std::remove_if(axes, axes + count, [](const StridedAxis& axis) { return axis.extent == 1; }) - axes);
  std::sort(axes, axes + count, [](const StridedAxis& x, const StridedAxis& y) { return x.to > y.to; });
  if (count < 2) {
    axis_pair[1] = count == 0 ? StridedAxis{1, 1, 1} : axes[0];
    axes = axis_pair.data();
    count = 2;
  } else if (axes[count - 1].from != 1) {
    StridedAxis* const inner =
        std::find_if(axes, axes + count - 1, [](const StridedAxis& axis) { return axis.from == 1; });
    if (inner != axes + count - 1) std::rotate(inner, inner + 1, axes + count - 1);
  }
  const auto copy = [&]<class T>(T) {
    detail::copy_axes(axes, count, reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to));
  };
  switch (size) {
    case 1:
      return copy(std::uint8_t{});
    case 2:
      return copy(std::uint16_t{});
    case 4:
      return copy(std::uint32_t{});
    case 8:
      return copy(std::uint64_t{});
    case 16:
      return copy(detail::StridedElement<16>{});
    default:
      return copy(detail::StridedElement<32>{});
  }
}

}  // namespace varlen
