// Four offsets a step with AVX2, for int32 and int64 lengths.
#pragma once

#include <cstdint>

namespace varlen {

/// What one block of lengths gave. `bits` is all of them or-ed: longest and shortest hold where it is below
/// 2^32, which no negative length is.
struct WideScan {
  std::uint64_t sum = 0;
  std::uint64_t bits = 0;
  std::int64_t longest = 0;
  std::int64_t shortest = 0;
};

/// Where runs(Isa::avx2). ends[i] = sum + lengths[0] + ... + lengths[i], for n lengths, a multiple of 4 and
/// at least 4. Sums wrap.
WideScan wide_scan(const std::int32_t* lengths, std::int64_t n, std::uint64_t sum,
                   std::int64_t* ends) noexcept;
WideScan wide_scan(const std::int64_t* lengths, std::int64_t n, std::uint64_t sum,
                   std::int64_t* ends) noexcept;

}  // namespace varlen
