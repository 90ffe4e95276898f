// Short pieces of rows whose width is a multiple of 4 bytes, by masked loads: no branch depends on a length,
// where a copy by sizes would mispredict once or twice a piece (half of its time at a mean of 32 bytes). To
// be called where runs(Isa::avx2); elsewhere they do nothing.
#pragma once

#include <cstdint>

#include "varlen/pieces.hpp"

namespace varlen {

/// Rows of the rectangle up to this many bytes are worth it; longer ones are for memcpy and memset.
inline constexpr std::int64_t kShortRow = 512;
/// Likewise for pieces laid end to end.
inline constexpr std::int64_t kShortPiece = 64;
/// Far enough for a short row to arrive from memory, near enough to be still there.
inline constexpr std::int64_t kPrefetchDistance = 12;

/// Rows [begin, end) as pad_pieces, for slots * width <= kShortRow, width a multiple of 4 and fill.blocks.
/// Gives the first row that it left: a few at the end, because it may write up to 31 bytes behind a row.
std::int64_t pad_short(const Piece* pieces, std::int64_t begin, std::int64_t end, std::int64_t slots,
                       std::int64_t width, Side side, const FillPattern& fill, std::byte* out) noexcept;

/// Pieces [begin, end) end to end from out on; nothing is written from `stop` on. Gives the first that it
/// left.
std::int64_t concat_short(const Piece* pieces, std::int64_t begin, std::int64_t end, std::int64_t width,
                          std::byte*& out, const std::byte* stop) noexcept;

}  // namespace varlen
