// What the builds of the loops over states share.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

#include "varlen/copy.hpp"
#include "varlen/ctc.hpp"
#include "varlen/pool.hpp"

namespace varlen {

/// Bytes of the vectors of all builds, which are the padding of rows of states.
inline constexpr std::int64_t kCtcVector = 32;

/// Where things lie in the memory of one sequence, in elements.
struct CtcRoom {
  std::int64_t lanes;   ///< of a vector
  std::int64_t width;   ///< states of a kind, with some that are not there behind them
  std::int64_t stride;  ///< of a row of states: labels, then blanks, each behind a vector of none
  std::int64_t rows;
  std::int64_t bytes;

  CtcRoom(Type type, std::int64_t steps, std::int64_t labels, bool with_gradient) noexcept
      : lanes(type == Type::f32 ? kCtcVector / 4 : kCtcVector / 8),
        width((labels + 2 + lanes - 1) / lanes * lanes),
        stride(2 * (lanes + width)),
        // A row of the way back; those of the way there, all of them or two that take turns.
        rows(1 + (with_gradient ? std::max<std::int64_t>(steps, 1) : 2)),
        // Behind them a vector of none; what labels give, whether they may follow each other, their shares.
        bytes((rows * stride + lanes + 3 * (width + lanes)) * (kCtcVector / lanes) + steps * 8) {}
};

struct CtcTable {
  void (*run32)(const CtcJob&, Range, std::byte*, std::byte*, std::byte*) noexcept;
  void (*run64)(const CtcJob&, Range, std::byte*, std::byte*, std::byte*) noexcept;
};

namespace baseline {
extern const CtcTable kCtc;
}  // namespace baseline

namespace avx2 {
extern const CtcTable kCtc;
}  // namespace avx2

}  // namespace varlen
