// Division by a number that is known before the launch: a multiplication where both fit 32 bits.
#pragma once

#include <cstdint>

#include "thread.hpp"

namespace varlen::cuda {

/// Of numbers from 0 to `limit`, by a number of at least 1.
class Divisor {
 public:
  Divisor() = default;
  Divisor(std::int64_t divisor, std::int64_t limit) noexcept : divisor_(divisor) {
    constexpr std::int64_t kNarrow = std::int64_t{1} << 31;
    if (divisor >= kNarrow || limit >= kNarrow) return;
    // The quotient is exact for all n below 2^31: the rounding of the factor adds less than 1 / by.
    while ((std::int64_t{1} << shift_) < divisor) ++shift_;
    factor_ = ((std::uint64_t{1} << (31 + shift_)) + static_cast<std::uint64_t>(divisor) - 1) /
              static_cast<std::uint64_t>(divisor);
  }

  [[nodiscard]] VARLEN_DEVICE std::int64_t quotient(std::int64_t n) const {
    if (factor_ == 0) return plain(n, divisor_);
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(n) * factor_) >> (31 + shift_));
  }
  [[nodiscard]] VARLEN_DEVICE std::int64_t divisor() const { return divisor_; }

 private:
  // Rare, and long.
  [[nodiscard]] static VARLEN_CALLED std::int64_t plain(std::int64_t n, std::int64_t divisor) {
    return n / divisor;
  }

  std::int64_t divisor_ = 1;
  std::uint64_t factor_ = 0;  ///< 0: a plain division
  int shift_ = 0;
};

}  // namespace varlen::cuda
