// Rows that a mask marks: eight marks a turn, as many rows copied at once where all of them are set.
#include <cstring>

#include "support/read_once.hpp"
#include "varlen/gather.hpp"

namespace varlen {
namespace {

constexpr std::int64_t kTurn = 8;
constexpr unsigned kAllMarks = 255;

/// Eight bytes that lie anywhere.
using Word [[gnu::aligned(1), gnu::may_alias]] = std::uint64_t;

/// A bit for each of eight marks, the first one lowest.
unsigned bits_of(const std::uint8_t* marks) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kLow = kOnes * 127;
  const std::uint64_t word =
      *reinterpret_cast<const volatile Word*>(marks);  // once: what counts is what moves
  const std::uint64_t ones = ((word | ((word & kLow) + kLow)) >> 7U) & kOnes;
  return static_cast<unsigned>((ones * 0x0102040810204080U) >> 56U);
}

/// Rows of kWidth bytes; 0: of any width.
template <std::int64_t kWidth>
std::int64_t take_marked(Rows values, Offsets level, const std::uint8_t* mask, std::int64_t count,
                         std::byte* out, std::int64_t* ends) noexcept {
  const std::int64_t width = kWidth > 0 ? kWidth : values.width;
  const auto copy = [&](std::int64_t place, std::int64_t row, std::int64_t rows) {
    std::memcpy(out + place * width, values.data + row * width, static_cast<std::size_t>(rows * width));
  };
  std::int64_t place = 0;
  std::int64_t row = 0;
  std::int64_t i = 0;
  for (; row + kTurn <= values.count && place + kTurn <= count; row += kTurn) {
    const unsigned marks = bits_of(mask + row);
    if (marks == kAllMarks) {
      copy(place, row, kTurn);
    } else if (marks != 0) {
      std::int64_t next = place;
      for (unsigned k = 0; k < kTurn; ++k) {
        const bool is_marked = (marks >> k & 1U) != 0;
        // A row of few bytes is written whether it stays or not: nothing to mispredict.
        if (kWidth > 0 || is_marked) copy(next, row + k, 1);
        next += is_marked ? 1 : 0;
      }
    }
    for (; i < level.count && level.end(i) < row + kTurn; ++i) {
      const unsigned prefix = (1U << static_cast<unsigned>(level.end(i) - row)) - 1U;
      ends[i] = place + __builtin_popcount(marks & prefix);
    }
    place += __builtin_popcount(marks);
  }
  for (; i < level.count; ++i) {
    for (const std::int64_t end = level.end(i); row < end; ++row) {
      if (read_once(mask + row) == 0 || place == count) continue;
      copy(place, row, 1);
      ++place;
    }
    ends[i] = place;
  }
  return place;
}

}  // namespace

std::int64_t gather_marked(Rows values, Offsets level, const std::uint8_t* mask, std::int64_t count,
                           std::byte* out, std::int64_t* ends) noexcept {
  switch (values.width) {
    case 1:
      return take_marked<1>(values, level, mask, count, out, ends);
    case 2:
      return take_marked<2>(values, level, mask, count, out, ends);
    case 4:
      return take_marked<4>(values, level, mask, count, out, ends);
    case 8:
      return take_marked<8>(values, level, mask, count, out, ends);
    case 16:
      return take_marked<16>(values, level, mask, count, out, ends);
    default:
      return take_marked<0>(values, level, mask, count, out, ends);
  }
}

}  // namespace varlen
