#include <cstring>

#include "support/launch.hpp"
#include "support/number.hpp"
#include "varlen/cuda/cast.hpp"

namespace varlen::cuda {

namespace {

enum class Instead : std::uint8_t { none, nan, mask };

/// Each thread has a few elements on their way, a block apart.
struct Cast {
  static constexpr bool kAlone = true;
  static constexpr int kElements = 4;

  AnyNumber<double> reals;
  AnyNumber<std::int64_t> wholes;
  NumbersOut out;
  Instead instead;
  std::int64_t nan;  ///< the bytes of an element of the output

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const int step = thread.threads();
    const std::int64_t first = thread.block() * step * kElements + thread.index();
    const std::int64_t behind = out.count - first;
    const int n =
        behind <= 0
            ? 0
            : static_cast<int>((behind < step * kElements ? behind : step * kElements) + step - 1) / step;
    if (is_real(reals.type)) {
      double numbers[kElements];
      reals.many(first, step, n, numbers);
      VARLEN_UNROLLED for (int k = 0; k < kElements; ++k) {
        if (k < n) put(first + k * step, numbers[k]);
      }
    } else {
      std::int64_t numbers[kElements];
      wholes.many(first, step, n, numbers);
      VARLEN_UNROLLED for (int k = 0; k < kElements; ++k) {
        if (k < n) put(first + k * step, numbers[k]);
      }
    }
  }

 private:
  VARLEN_CALLED void put(std::int64_t at, double x) const {
    const bool is_nan = x != x;
    if (instead == Instead::mask || (is_nan && instead == Instead::nan)) {
      out.put(at, instead == Instead::mask ? std::int64_t{is_nan} : nan);
    } else if (is_real(out.type)) {
      out.put(at, x);
    } else {
      // From 2 ** 63 on a number has 11 zeros at its end.
      constexpr double kHalf = 9223372036854775808.0;
      const bool is_large = x >= kHalf;
      const auto whole = static_cast<std::uint64_t>(static_cast<std::int64_t>(is_large ? x - kHalf : x));
      out.put(at, static_cast<std::int64_t>(is_large ? whole + (std::uint64_t{1} << 63) : whole));
    }
  }
  VARLEN_CALLED void put(std::int64_t at, std::int64_t x) const {
    if (!is_real(out.type)) return out.put(at, x);
    const bool is_negative = x < 0 && wholes.type != Type::u64;
    auto size = static_cast<std::uint64_t>(x);
    if (is_negative) size = 0 - size;
    // Rounded to odd, so that a second rounding is as if it were the only one.
    constexpr std::uint64_t kLow = 0x7ff;
    if (out.type != Type::f64 && size >> 53 != 0) size = (size & ~kLow) | ((size & kLow) != 0 ? kLow + 1 : 0);
    const auto wide = static_cast<double>(size);
    out.put(at, is_negative ? -wide : wide);
  }
};

Error run(Stream stream, Type from, const NumbersOut& out, Instead instead, std::int64_t nan,
          const std::byte* in) noexcept {
  Grid grid;
  grid.blocks = blocks_for(out.count, static_cast<std::int64_t>(grid.threads) * Cast::kElements);
  return launch(stream, grid,
                Cast{AnyNumber<double>(from, in, out.count), AnyNumber<std::int64_t>(from, in, out.count),
                     out, instead, nan});
}

}  // namespace

Error cast(Stream stream, Type from, Type to, const std::byte* nan, const std::byte* in, std::int64_t count,
           std::byte* out) noexcept {
  std::int64_t bits = 0;
  if (nan != nullptr) std::memcpy(&bits, nan, static_cast<std::size_t>(bytes_of(to)));
  return run(stream, from, NumbersOut(to, out, count), nan != nullptr ? Instead::nan : Instead::none, bits,
             in);
}

Error nan_mask(Stream stream, Type from, const std::byte* in, std::int64_t count, std::byte* out) noexcept {
  return run(stream, from, NumbersOut(Type::b1, out, count), Instead::mask, 0, in);
}

}  // namespace varlen::cuda
