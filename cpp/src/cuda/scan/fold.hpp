// What scans join: words that were read, and totals of what was read before.
//
//     Total identity, start;                    // of nothing, and what a sequence starts with
//     Total join(Total a, Total b) const;   // a and then b
//     Total add(Total a, Word x) const;     // a and then one word
//     Word give(Total a, Total next, Word x) const;  // what is written for x, which makes next of a
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "support/elements.hpp"
#include "varlen/scan.hpp"

namespace varlen::cuda {

struct SumOfReals {
  using Word = std::uint64_t;  ///< a double, or an integer of 64 bits
  using Total = double;
  static constexpr bool kFloats = true;
  static constexpr bool kLooksBack = false;
  Total identity = -0.0;
  Total start = -0.0;

  bool exclusive;

  explicit SumOfReals(const ScanJob& job) noexcept
      : start(job.exclusive ? 0.0 : -0.0), exclusive(job.exclusive) {}
  [[nodiscard]] VARLEN_DEVICE Total join(Total a, Total b) const { return a + b; }
  [[nodiscard]] VARLEN_DEVICE Total add(Total a, Word x) const { return a + bits_as<double>(x); }
  [[nodiscard]] VARLEN_DEVICE Word give(Total a, Total next, Word) const {
    return bits_as<Word>(exclusive ? a : next);
  }
};

/// A number times a power of 2 to the 512, so that products of parts stay in range where those that are asked
/// for do.
struct alignas(16) ScaledNumber {
  double number;
  std::int64_t power;
};

constexpr double kScaleUp = 0x1p512;
constexpr double kScaleDown = 0x1p-512;
constexpr double kScaledMost = std::numeric_limits<double>::max();

[[nodiscard]] VARLEN_DEVICE ScaledNumber rescale(double number, std::int64_t power = 0) {
  for (int k = 0; k < 4; ++k) {
    const double size = number < 0 ? -number : number;
    if (size >= 0x1p256 && size <= kScaledMost) {
      number *= kScaleDown;
      ++power;
    } else if (size < 0x1p-256 && size > 0) {
      number *= kScaleUp;
      --power;
    } else {
      break;
    }
  }
  return {number, power};
}

[[nodiscard]] VARLEN_DEVICE ScaledNumber operator*(const ScaledNumber& a, const ScaledNumber& b) {
  return rescale(a.number * b.number, a.power + b.power);
}

[[nodiscard]] VARLEN_DEVICE double plain(ScaledNumber a) {
  for (int k = 0; k < 3 && a.power > 0; ++k, --a.power) a.number *= kScaleUp;
  for (int k = 0; k < 3 && a.power < 0; ++k, ++a.power) a.number *= kScaleDown;
  return a.number;
}

struct ProdOfReals {
  using Word = std::uint64_t;
  using Total = ScaledNumber;
  static constexpr bool kFloats = true;
  static constexpr bool kLooksBack = false;
  Total identity{1, 0};
  Total start{1, 0};
  bool exclusive;

  explicit ProdOfReals(const ScanJob& job) noexcept : exclusive(job.exclusive) {}
  [[nodiscard]] VARLEN_DEVICE Total join(Total a, Total b) const { return a * b; }
  [[nodiscard]] VARLEN_DEVICE Total add(Total a, Word x) const { return a * rescale(bits_as<double>(x)); }
  [[nodiscard]] VARLEN_DEVICE Word give(Total a, Total next, Word) const {
    return bits_as<Word>(plain(exclusive ? a : next));
  }
};

/// The gradient of the product before a row, when the row is not part of it: s becomes x * (s + d), or d + x
/// * s where products are exclusive. So many rows make by * s + sum of it.
struct ProdBackFold {
  /// d and x; then what the product before the row is to be multiplied with.
  struct alignas(16) Word {
    double d, x;
  };
  struct Total {
    double factor;
    std::int64_t power;  ///< of by, as that of Scaled
    double sum;
  };
  static constexpr bool kLooksBack = false;
  Total identity{1, 0, 0};
  Total start{1, 0, 0};
  bool exclusive;

  explicit ProdBackFold(const ScanJob& job) noexcept : exclusive(job.exclusive) {}
  [[nodiscard]] VARLEN_DEVICE Total join(const Total& a, const Total& b) const {
    const ScaledNumber factor_b{b.factor, b.power};
    const ScaledNumber factor = ScaledNumber{a.factor, a.power} * factor_b;
    return {factor.number, factor.power, a.sum == 0 ? b.sum : plain(factor_b * rescale(a.sum)) + b.sum};
  }
  [[nodiscard]] VARLEN_DEVICE Total add(const Total& a, const Word& w) const {
    const ScaledNumber factor = ScaledNumber{a.factor, a.power} * rescale(w.x);
    const double own = exclusive ? a.sum : a.sum + w.d;
    const double sum = own == 0 ? 0 : w.x * own;  // a gradient of 0 stays one beside NaN
    return {factor.number, factor.power, exclusive ? w.d + sum : sum};
  }
  [[nodiscard]] VARLEN_DEVICE Word give(const Total& a, const Total&, const Word& w) const {
    return {exclusive ? a.sum : a.sum + w.d, w.x};
  }
};

/// Extremes: the first of equals, NaN where there is one.
struct EndOfReals {
  using Word = std::uint64_t;  ///< a double, or an integer of 64 bits
  using Total = double;
  static constexpr bool kFloats = true;
  static constexpr bool kLooksBack = false;
  Total identity;
  Total start;
  bool is_max;
  bool exclusive;

  explicit EndOfReals(const ScanJob& job) noexcept : is_max(job.op == Scan::max), exclusive(job.exclusive) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    identity = start = is_max ? -kInfinity : kInfinity;
  }
  [[nodiscard]] VARLEN_DEVICE Total join(Total a, Total b) const {
    return is_nan(b) || (is_max ? b > a : b < a) ? b : a;
  }
  [[nodiscard]] VARLEN_DEVICE Total add(Total a, Word x) const { return join(a, bits_as<double>(x)); }
  [[nodiscard]] VARLEN_DEVICE Word give(Total a, Total next, Word) const {
    return bits_as<Word>(exclusive ? a : next);
  }
};

/// All four of integers. Sums and products wrap; signed ones are those of unsigned bits.
struct FoldOfWholes {
  using Word = std::uint64_t;  ///< a double, or an integer of 64 bits
  using Total = std::uint64_t;
  static constexpr bool kFloats = false;
  static constexpr bool kLooksBack = false;
  Total identity;
  Total start;
  Scan op;
  Total flip;  ///< what makes numbers compare as unsigned ones
  bool exclusive;

  explicit FoldOfWholes(const ScanJob& job) noexcept : op(job.op), exclusive(job.exclusive) {
    const bool has_sign = job.type >= Type::i8 && job.type <= Type::i64;
    constexpr Total kSign = Total{1} << 63;
    flip = has_sign ? kSign : 0;
    identity = start = op == Scan::prod ? 1 : 0;
    if (op == Scan::sum || op == Scan::prod) return;
    identity = (op == Scan::max ? 0 : ~Total{0}) ^ flip;
    const int bits = job.type == Type::b1 ? 1 : 8 * bytes_of(job.type) - (has_sign ? 1 : 0);
    const Total limit = ~Total{0} >> (64 - bits);
    start = !job.exclusive ? identity : op == Scan::min ? limit : has_sign ? ~limit : 0;
  }
  [[nodiscard]] VARLEN_DEVICE Total join(Total a, Total b) const {
    if (op == Scan::sum) return a + b;
    if (op == Scan::prod) return a * b;
    return (op == Scan::max) == ((b ^ flip) > (a ^ flip)) ? b : a;
  }
  [[nodiscard]] VARLEN_DEVICE Total add(Total a, Word x) const { return join(a, x); }
  [[nodiscard]] VARLEN_DEVICE Word give(Total a, Total next, Word) const { return exclusive ? a : next; }
};

/// Where runs of the same extreme begin. Rows count from where the scan begins; the place of a row inside its
/// sequence is kept with the sign that makes later ones larger.
struct WhichFold {
  using Word = std::uint64_t;  ///< a double, or an integer of 64 bits
  using Total = std::int64_t;
  static constexpr bool kFloats = false;  // of what is written
  static constexpr bool kLooksBack = true;
  Total identity = std::numeric_limits<std::int64_t>::min();
  Total start = identity;
  std::int64_t lead;  ///< how many rows have none of their own
  bool reverse;
  bool floats;

  explicit WhichFold(const ScanJob& job) noexcept
      : lead(job.exclusive ? 1 : 0), reverse(job.reverse), floats(is_real(job.type)) {}
  [[nodiscard]] VARLEN_DEVICE Total join(Total a, Total b) const { return b > a ? b : a; }
  /// Row t of so many, which follows another word.
  [[nodiscard]] VARLEN_DEVICE Total add(Total a, Word x, Word last, std::int64_t t, std::int64_t rows) const {
    if (t < lead || (t > lead && is_same(x, last))) return a;
    const std::int64_t own = t - lead;
    return reverse ? own - (rows - 1) : own;
  }
  [[nodiscard]] VARLEN_DEVICE Word give(Total, Total next, Word) const {
    if (next == identity) return ~Word{0};
    return static_cast<Word>(reverse ? -next : next);
  }

 private:
  [[nodiscard]] VARLEN_DEVICE bool is_same(Word a, Word b) const {
    if (!floats) return a == b;
    const auto x = bits_as<double>(a);
    const auto y = bits_as<double>(b);
    return x == y || (is_nan(x) && is_nan(y));
  }
};

}  // namespace varlen::cuda
