#include <cstring>

#include "support/divisor.hpp"
#include "support/sequences.hpp"
#include "support/write_each.hpp"
#include "varlen/cuda/mask.hpp"

namespace varlen::cuda {

namespace {

/// The cells of the square, row after row.
template <class T>
struct Sees {
  Ends level;
  Divisor rows;
  AttentionWindow window;
  T content, blank;

  [[nodiscard]] VARLEN_DEVICE Candidates scope(std::int64_t first, std::int64_t last) const {
    return InSequences{level}.scope(rows.quotient(first), rows.quotient(last));
  }
  [[nodiscard]] VARLEN_DEVICE T value(const Candidates& candidates, std::int64_t cell) const {
    const std::int64_t row = rows.quotient(cell);
    const std::int64_t other = cell - row * rows.divisor();
    const std::int64_t i = level.holding(row, candidates.first, candidates.last);
    const bool is_near = other <= row ? row - other <= window.left : other - row <= window.right;
    return is_near && other >= level.start(i) && other < level.end(i) ? content : blank;
  }
};

template <class T>
Error write(Stream stream, Offsets level, std::int64_t total, AttentionWindow window,
            const std::byte* content, const std::byte* blank, std::byte* out) noexcept {
  Sees<T> sees{ends_of(level), Divisor(total, total * total), window, {}, {}};
  std::memcpy(&sees.content, content, sizeof(T));
  std::memcpy(&sees.blank, blank, sizeof(T));
  return write_each(stream, sees, total * total, reinterpret_cast<T*>(out));
}

}  // namespace

Error block_mask(Stream stream, Offsets level, std::int64_t total, AttentionWindow window, std::int64_t unit,
                 const std::byte* content, const std::byte* blank, std::byte* out) noexcept {
  if (total == 0) return 0;
  switch (unit) {
    case 1:
      return write<std::uint8_t>(stream, level, total, window, content, blank, out);
    case 2:
      return write<std::uint16_t>(stream, level, total, window, content, blank, out);
    case 4:
      return write<std::uint32_t>(stream, level, total, window, content, blank, out);
    default:
      return write<std::uint64_t>(stream, level, total, window, content, blank, out);
  }
}

}  // namespace varlen::cuda
