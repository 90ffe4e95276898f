// Erasing a vector at a time: 64 bytes with AVX-512, 32 with AVX2.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/views.hpp"

namespace varlen {

/// Where a pass through the rows has come to: rows done, sequences whose ends are written, rows kept.
struct EraseProgress {
  std::int64_t row = 0;
  std::int64_t sequence = 0;
  std::int64_t rows_kept = 0;
};

/// How many tokens are compared with every row rather than searched among.
inline constexpr std::int64_t kWideTokens = 16;

/// erase_rows of at most kWideTokens tokens, as far as whole vectors go. Only where runs(Isa::avx512).
EraseProgress erase_packed(Rows values, Offsets level, const std::byte* tokens, std::int64_t n,
                           std::byte* out, std::int64_t* ends) noexcept;

/// The same of words of 4 or 8 bytes. Only where runs(Isa::avx2).
EraseProgress erase_permuted(Rows values, Offsets level, const std::byte* tokens, std::int64_t n,
                             std::byte* out, std::int64_t* ends) noexcept;

/// As far as this machine gets with one of them: not at all, else.
EraseProgress erase_wide(Rows values, Offsets level, const std::byte* tokens, std::int64_t n, std::byte* out,
                         std::int64_t* ends) noexcept;

}  // namespace varlen
