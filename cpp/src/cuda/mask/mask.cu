#include <cstring>

#include "support/divisor.hpp"
#include "support/each.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/mask.hpp"

namespace varlen::cuda {

namespace {

/// The cells of the square, row after row.
template <class T>
struct Sees {
  Ends level;
  Divisor rows;
  AttentionWindow window;
  T inside, outside;

  [[nodiscard]] VARLEN_DEVICE Among scope(std::int64_t first, std::int64_t last) const {
    return InSequences{level}.scope(rows.quotient(first), rows.quotient(last));
  }
  [[nodiscard]] VARLEN_DEVICE T value(const Among& among, std::int64_t cell) const {
    const std::int64_t row = rows.quotient(cell);
    const std::int64_t other = cell - row * rows.by();
    const std::int64_t i = level.holding(row, among.first, among.last);
    const bool near = other <= row ? row - other <= window.before : other - row <= window.behind;
    return near && other >= level.start(i) && other < level.end(i) ? inside : outside;
  }
};

template <class T>
Error write(Stream stream, Offsets level, std::int64_t total, AttentionWindow window, const std::byte* inside,
            const std::byte* outside, std::byte* out) noexcept {
  Sees<T> sees{ends_of(level), Divisor(total, total * total), window, {}, {}};
  std::memcpy(&sees.inside, inside, sizeof(T));
  std::memcpy(&sees.outside, outside, sizeof(T));
  return write_each(stream, sees, total * total, reinterpret_cast<T*>(out));
}

}  // namespace

Error block_mask(Stream stream, Offsets level, std::int64_t total, AttentionWindow window, std::int64_t unit,
                 const std::byte* inside, const std::byte* outside, std::byte* out) noexcept {
  if (total == 0) return 0;
  switch (unit) {
    case 1:
      return write<std::uint8_t>(stream, level, total, window, inside, outside, out);
    case 2:
      return write<std::uint16_t>(stream, level, total, window, inside, outside, out);
    case 4:
      return write<std::uint32_t>(stream, level, total, window, inside, outside, out);
    default:
      return write<std::uint64_t>(stream, level, total, window, inside, outside, out);
  }
}

}  // namespace varlen::cuda
