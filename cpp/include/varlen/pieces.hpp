// Rows from many places, as the arrays of a list: laid end to end, or one piece a row of a rectangle.
// Pieces are read exactly, never past their end. No pieces and empty pieces are legal. No overlap with out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/copy.hpp"
#include "varlen/pad.hpp"
#include "varlen/views.hpp"

namespace varlen {

struct Piece {
  const std::byte* data = nullptr;
  std::int64_t rows = 0;
};

/// out (level.total(), width) where level.length(i) is pieces[i].rows. Threaded by bytes.
void concat_pieces(const Piece* pieces, Offsets level, std::int64_t width, std::byte* out) noexcept;

/// output[0..) = a gap before every piece that has rows and one behind the last; pieces without rows are left
/// out. ends[k] = the rows of output[0..k]. Both hold 2 n + 1; returns how many they got, 0 or an odd number.
std::int64_t space_pieces(const Piece* pieces, std::int64_t n, Piece gap, Piece* output,
                          std::int64_t* ends) noexcept;

/// out (n, slots, width): piece i at the front (Side::right: the padding is on the right) or the back of row
/// i. No piece has more rows than slots. Threaded by output bytes.
void pad_pieces(const Piece* pieces, std::int64_t n, std::int64_t slots, std::int64_t width, Side side,
                const FillPattern& fill, std::byte* out) noexcept;

/// out (n, slots): 1 where pad_pieces puts a row, else 0.
void mask_pieces(const Piece* pieces, std::int64_t n, std::int64_t slots, Side side, std::byte* out) noexcept;

/// Cuts pieces to `slots` rows: Side::right loses the end, Side::left the beginning.
void cut_pieces(Piece* pieces, std::int64_t n, std::int64_t slots, std::int64_t width, Side side) noexcept;

}  // namespace varlen
