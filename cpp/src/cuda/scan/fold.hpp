// What scans join: words that were read, and totals of what was read before.
//
//     Total none, start;                    // of nothing, and what a sequence starts with
//     Total join(Total a, Total b) const;   // a and then b
//     Total add(Total a, Word x) const;     // a and then one word
//     Word give(Total a) const;             // what is written
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "support/number.hpp"
#include "varlen/scan.hpp"

namespace varlen::cuda {

/// A number as it lies in shared memory: a double, or an integer of 64 bits.
using Word = std::uint64_t;

struct SumOfReals {
  using Total = double;
  static constexpr bool kFloats = true;
  static constexpr bool kLooksBack = false;
  Total none = -0.0;
  Total start = -0.0;

  explicit SumOfReals(const ScanJob& job) noexcept : start(job.exclusive ? 0.0 : -0.0) {}
  [[nodiscard]] VARLEN_DEVICE Total join(Total a, Total b) const { return a + b; }
  [[nodiscard]] VARLEN_DEVICE Total add(Total a, Word x) const { return a + bits_as<double>(x); }
  [[nodiscard]] VARLEN_DEVICE Word give(Total a) const { return bits_as<Word>(a); }
};

/// A number times a power of 2 to the 512, so that products of parts stay in range where those that are asked
/// for do.
struct alignas(16) Scaled {
  double number;
  std::int64_t power;
};

struct ProdOfReals {
  using Total = Scaled;
  static constexpr bool kFloats = true;
  static constexpr bool kLooksBack = false;
  Total none{1, 0};
  Total start{1, 0};

  explicit ProdOfReals(const ScanJob&) noexcept {}
  [[nodiscard]] VARLEN_DEVICE Total join(Total a, Total b) const {
    return in_range(a.number * b.number, a.power + b.power);
  }
  [[nodiscard]] VARLEN_DEVICE Total add(Total a, Word x) const {
    return join(a, in_range(bits_as<double>(x), 0));
  }
  [[nodiscard]] VARLEN_DEVICE Word give(Total a) const {
    double number = a.number;
    for (int k = 0; k < 3 && a.power > 0; ++k, --a.power) number *= kUp;
    for (int k = 0; k < 3 && a.power < 0; ++k, ++a.power) number *= kDown;
    return bits_as<Word>(number);
  }

 private:
  static constexpr double kUp = 0x1p512;
  static constexpr double kDown = 0x1p-512;
  static constexpr double kMost = std::numeric_limits<double>::max();

  [[nodiscard]] static VARLEN_DEVICE Total in_range(double number, std::int64_t power) {
    for (int k = 0; k < 4; ++k) {
      const double size = number < 0 ? -number : number;
      if (size >= 0x1p256 && size <= kMost) {
        number *= kDown;
        ++power;
      } else if (size < 0x1p-256 && size > 0) {
        number *= kUp;
        --power;
      } else {
        break;
      }
    }
    return {number, power};
  }
};

/// Extremes: the first of equals, NaN where there is one.
struct EndOfReals {
  using Total = double;
  static constexpr bool kFloats = true;
  static constexpr bool kLooksBack = false;
  Total none;
  Total start;
  bool is_max;

  explicit EndOfReals(const ScanJob& job) noexcept : is_max(job.op == Scan::max) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    none = start = is_max ? -kInfinity : kInfinity;
  }
  [[nodiscard]] VARLEN_DEVICE Total join(Total a, Total b) const {
    return is_nan(b) || (is_max ? b > a : b < a) ? b : a;
  }
  [[nodiscard]] VARLEN_DEVICE Total add(Total a, Word x) const { return join(a, bits_as<double>(x)); }
  [[nodiscard]] VARLEN_DEVICE Word give(Total a) const { return bits_as<Word>(a); }
};

/// All four of integers. Sums and products wrap; signed ones are those of unsigned bits.
struct FoldOfWholes {
  using Total = std::uint64_t;
  static constexpr bool kFloats = false;
  static constexpr bool kLooksBack = false;
  Total none;
  Total start;
  Scan op;
  Total flip;  ///< what makes numbers compare as unsigned ones

  explicit FoldOfWholes(const ScanJob& job) noexcept : op(job.op) {
    const bool has_sign = job.type >= Type::i8 && job.type <= Type::i64;
    constexpr Total kSign = Total{1} << 63;
    flip = has_sign ? kSign : 0;
    none = start = op == Scan::prod ? 1 : 0;
    if (op == Scan::sum || op == Scan::prod) return;
    none = (op == Scan::max ? 0 : ~Total{0}) ^ flip;
    const int bits = job.type == Type::b1 ? 1 : 8 * bytes_of_type(job.type) - (has_sign ? 1 : 0);
    const Total most = ~Total{0} >> (64 - bits);
    start = !job.exclusive ? none : op == Scan::min ? most : has_sign ? ~most : 0;
  }
  [[nodiscard]] VARLEN_DEVICE Total join(Total a, Total b) const {
    if (op == Scan::sum) return a + b;
    if (op == Scan::prod) return a * b;
    return (op == Scan::max) == ((b ^ flip) > (a ^ flip)) ? b : a;
  }
  [[nodiscard]] VARLEN_DEVICE Total add(Total a, Word x) const { return join(a, x); }
  [[nodiscard]] VARLEN_DEVICE Word give(Total a) const { return a; }
};

/// Where runs of the same extreme begin. Rows count from where the scan begins; the place of a row inside its
/// sequence is kept with the sign that makes later ones larger.
struct WhichFold {
  using Total = std::int64_t;
  static constexpr bool kFloats = false;  // of what is written
  static constexpr bool kLooksBack = true;
  Total none = std::numeric_limits<std::int64_t>::min();
  Total start = none;
  std::int64_t before;  ///< how many rows have none of their own
  bool reverse;
  bool floats;

  explicit WhichFold(const ScanJob& job) noexcept
      : before(job.exclusive ? 1 : 0), reverse(job.reverse), floats(is_float_type(job.type)) {}
  [[nodiscard]] VARLEN_DEVICE Total join(Total a, Total b) const { return b > a ? b : a; }
  /// Row t of so many, which follows another word.
  [[nodiscard]] VARLEN_DEVICE Total add(Total a, Word x, Word last, std::int64_t t, std::int64_t rows) const {
    if (t < before || (t > before && alike(x, last))) return a;
    const std::int64_t own = t - before;
    return reverse ? own - (rows - 1) : own;
  }
  [[nodiscard]] VARLEN_DEVICE Word give(Total a) const {
    if (a == none) return ~Word{0};
    return static_cast<Word>(reverse ? -a : a);
  }

 private:
  [[nodiscard]] VARLEN_DEVICE bool alike(Word a, Word b) const {
    if (!floats) return a == b;
    const auto x = bits_as<double>(a);
    const auto y = bits_as<double>(b);
    return x == y || (is_nan(x) && is_nan(y));
  }
};

}  // namespace varlen::cuda
