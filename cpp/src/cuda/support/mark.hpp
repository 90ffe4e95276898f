// Which rows of an output come from somewhere: a byte each, 1 or 0, by the maps that `move.hpp` takes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "each.hpp"

namespace varlen::cuda {

template <class Map>
struct Mark {
  Map map;

  [[nodiscard]] VARLEN_DEVICE auto scope(std::int64_t first, std::int64_t last) const {
    return map.scope(first, last);
  }
  template <class Scope>
  [[nodiscard]] VARLEN_DEVICE std::uint8_t value(const Scope& scope, std::int64_t row) const {
    return map.source(scope, row) >= 0 ? 1 : 0;
  }
};

/// out: `rows` bytes.
template <class Map>
Error mark_rows(Stream stream, const Map& map, std::int64_t rows, std::byte* out) noexcept {
  return write_each(stream, Mark<Map>{map}, rows, reinterpret_cast<std::uint8_t*>(out));
}

}  // namespace varlen::cuda
