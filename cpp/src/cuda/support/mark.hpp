// Which rows of an output come from somewhere: a byte each, 1 or 0, by the maps that `move.hpp` takes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "launch.hpp"
#include "view.hpp"

namespace varlen::cuda {

template <class Map>
struct Mark {
  static constexpr bool kAlone = true;
  static constexpr int kBytes = 4;  // of a thread, written at once where all are there

  Map map;
  View<std::uint8_t> out;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t tile = static_cast<std::int64_t>(thread.threads()) * kBytes;
    const std::int64_t begin = thread.block() * tile;
    const std::int64_t end = begin + tile < out.count ? begin + tile : out.count;
    const auto scope = map.scope(begin, end - 1);
    const std::int64_t first = begin + static_cast<std::int64_t>(thread.index()) * kBytes;
    std::uint32_t word = 0;
    for (int k = 0; k < kBytes; ++k) {
      if (first + k >= end) break;
      const std::uint32_t there = map.source(scope, first + k) >= 0 ? 1 : 0;
      word |= there << (8 * k);
    }
    if (first + kBytes <= end && reinterpret_cast<std::uintptr_t>(out.data) % kBytes == 0) {
      View<std::uint32_t>{reinterpret_cast<std::uint32_t*>(out.data), out.count / kBytes}[first / kBytes] =
          word;
      return;
    }
    for (int k = 0; k < kBytes; ++k) {
      if (first + k < end) out[first + k] = static_cast<std::uint8_t>((word >> (8 * k)) & 1);
    }
  }
};

/// out: `rows` bytes.
template <class Map>
Error mark_rows(Stream stream, const Map& map, std::int64_t rows, std::byte* out) noexcept {
  Grid grid;
  grid.blocks = blocks_for(rows, static_cast<std::int64_t>(grid.threads) * Mark<Map>::kBytes);
  return launch(stream, grid, Mark<Map>{map, {reinterpret_cast<std::uint8_t*>(out), rows}});
}

}  // namespace varlen::cuda
