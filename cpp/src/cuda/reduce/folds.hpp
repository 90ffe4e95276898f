// How numbers of a column become one. A fold has:
//
//     using Lane = ...;                          // what is known of some rows
//     Lane identity() const;                         // of no rows: joined to a lane, it changes nothing
//     void add(Lane&, Value x, int64 row) const;
//     void join(Lane&, const Lane& later) const;
//     using ChunkFold = ...; ChunkFold chunk_fold() const;    // the fold that joins chunks
//     ChunkFold::Lane widen(Lane) const;
//     auto finish(Lane, int64 rows) const;       // what `Sink` takes
//
// and, with kPivot, at(x): the same fold for numbers around x, the first of their sequence.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "support/number.hpp"
#include "varlen/reduce.hpp"

namespace varlen::cuda {

/// Results as numbers of a dtype.
struct NumberSink {
  NumbersOut out;
  std::int64_t empty = 0;  ///< the bytes of an element

  template <class Result>
  VARLEN_DEVICE void put(std::int64_t i, Result result) const {
    out.put(i, result);
  }
  VARLEN_DEVICE void put_empty(std::int64_t i) const { out.put(i, empty); }
};

/// What a fold knows, as it is: for a pass that comes after it.
template <class Lane>
struct LaneSink {
  View<Lane> out;
  Lane empty{};

  VARLEN_DEVICE void put(std::int64_t i, const Lane& result) const { out[i] = result; }
  VARLEN_DEVICE void put_empty(std::int64_t i) const { out[i] = empty; }
};

/// Defaults: chunks are joined as rows are.
template <class Fold, class LaneOf, class SinkOf = NumberSink>
struct FoldOf {
  using Lane = LaneOf;
  using ChunkFold = Fold;
  using Sink = SinkOf;
  static constexpr bool kPivot = false;
  static constexpr int kRowsAtOnce = 8;  ///< that a thread has on their way

  [[nodiscard]] Fold chunk_fold() const noexcept { return static_cast<const Fold&>(*this); }
  [[nodiscard]] static VARLEN_DEVICE const Lane& widen(const Lane& lane) { return lane; }
};

/// Which of two numbers is the extreme.
template <class T>
struct Better {
  bool largest = true;
  std::int64_t flip = 0;  ///< what makes the bits of a u64 compare as those of a signed number

  Better() = default;
  Better(Reduce op, Type type) noexcept
      : largest(op == Reduce::max), flip(type == Type::u64 ? std::numeric_limits<std::int64_t>::min() : 0) {}

  [[nodiscard]] T worst() const noexcept {
    if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      return (largest ? Limits::min() : Limits::max()) ^ flip;
    } else {
      return largest ? -kInfinity<T> : kInfinity<T>;
    }
  }
  /// NaN is better than any number, and than no other NaN.
  [[nodiscard]] VARLEN_DEVICE bool operator()(T x, T than) const {
    if constexpr (std::is_integral_v<T>) {
      return largest ? (x ^ flip) > (than ^ flip) : (x ^ flip) < (than ^ flip);
    } else {
      return (largest ? x > than : x < than) || (x != x && than == than);
    }
  }
};

/// Sums, products and extremes, as the launch says: one kernel, for what it adds up comes from memory much
/// later.
template <class T>
struct NumberFold : FoldOf<NumberFold<T>, T> {
  static constexpr int kRowsAtOnce = 32 / sizeof(T);  // as many bytes of numbers of 8 bytes as of 4

  bool multiplies = false;
  bool is_end = false;
  Better<T> better;
  T worst = 0;
  bool squares = false;  ///< the numbers, first
  bool mean = false;
  bool root = false;

  void set_end(Reduce op, Type type) noexcept {
    is_end = true;
    better = Better<T>(op, type);
    worst = better.worst();
  }
  [[nodiscard]] VARLEN_DEVICE T identity() const {
    if (is_end) return worst;
    if (multiplies) return T(1);
    return std::is_floating_point_v<T> ? T(-0.0) : T(0);
  }
  VARLEN_DEVICE void join(T& lane, T x) const {
    if (is_end) {
      if (better(x, lane)) lane = x;
    } else if constexpr (std::is_integral_v<T>) {
      // Unsigned, for signed ones may not wrap.
      const auto a = static_cast<std::uint64_t>(lane);
      const auto b = static_cast<std::uint64_t>(x);
      lane = static_cast<T>(multiplies ? a * b : a + b);
    } else {
      lane = multiplies ? lane * x : lane + x;
    }
  }
  VARLEN_DEVICE void add(T& lane, T x, std::int64_t) const {
    if constexpr (std::is_same_v<T, double>) {
      if (squares) x *= x;
    }
    join(lane, x);
  }
  [[nodiscard]] VARLEN_DEVICE T finish(T lane, std::int64_t rows) const {
    if (mean) return lane / static_cast<T>(rows);
    if constexpr (std::is_same_v<T, double>) {
      if (root) return std::sqrt(lane);
    }
    return lane;
  }
};

/// Chunks of float, joined as double.
struct FloatFold : NumberFold<float> {
  using ChunkFold = NumberFold<double>;
  using Lane = float;

  [[nodiscard]] ChunkFold chunk_fold() const noexcept {
    ChunkFold result;
    result.multiplies = multiplies;
    result.mean = mean;
    if (is_end) result.set_end(better.largest ? Reduce::max : Reduce::min, Type::f64);
    return result;
  }
  [[nodiscard]] static VARLEN_DEVICE double widen(float lane) { return static_cast<double>(lane); }
};

/// An extreme, and the first row that holds it: -1 for no row.
template <class T>
struct Place {
  T value;
  std::int64_t row;
};

template <class T>
struct PlaceSink {
  NumbersOut out;
  std::int64_t empty = 0;
  View<std::int64_t> wide;
  View<std::int32_t> narrow;

  VARLEN_DEVICE void put_row(std::int64_t i, std::int64_t row) const {
    if (narrow.data != nullptr) {
      narrow[i] = static_cast<std::int32_t>(row);
    } else {
      wide[i] = row;
    }
  }
  VARLEN_DEVICE void put(std::int64_t i, const Place<T>& result) const {
    out.put(i, result.value);
    put_row(i, result.row);
  }
  VARLEN_DEVICE void put_empty(std::int64_t i) const {
    out.put(i, empty);
    put_row(i, -1);
  }
};

template <class T>
struct PlaceFold : FoldOf<PlaceFold<T>, Place<T>, PlaceSink<T>> {
  Better<T> better;
  T worst;

  PlaceFold(Reduce op, Type type) noexcept : better(op, type), worst(better.worst()) {}

  [[nodiscard]] VARLEN_DEVICE Place<T> identity() const { return {worst, -1}; }
  VARLEN_DEVICE void join(Place<T>& lane, const Place<T>& x) const {
    if (x.row < 0) return;
    const bool is_equal = !better(x.value, lane.value) && !better(lane.value, x.value);
    if (lane.row < 0 || (is_equal ? x.row < lane.row : better(x.value, lane.value))) lane = x;
  }
  VARLEN_DEVICE void add(Place<T>& lane, T x, std::int64_t row) const {
    if (lane.row < 0 || better(x, lane.value)) lane = {x, row};  // rows come in their order
  }
  [[nodiscard]] VARLEN_DEVICE Place<T> finish(const Place<T>& lane, std::int64_t) const { return lane; }
};

/// Sums of the differences from a pivot, and of their squares.
struct Spread {
  double sum;
  double squares;
};

/// The first number of a sequence is the pivot: however large all of them are, nothing but it is taken off.
struct SpreadFold : FoldOf<SpreadFold, Spread> {
  static constexpr bool kPivot = true;
  double pivot = 0;
  double ddof = 0;
  bool root = false;

  [[nodiscard]] VARLEN_DEVICE SpreadFold at(double x) const {
    SpreadFold result = *this;
    result.pivot = x;
    return result;
  }
  [[nodiscard]] VARLEN_DEVICE Spread identity() const { return {0, 0}; }
  VARLEN_DEVICE void join(Spread& lane, const Spread& x) const {
    lane.sum += x.sum;
    lane.squares += x.squares;
  }
  VARLEN_DEVICE void add(Spread& lane, double x, std::int64_t) const {
    const double off = x - pivot;
    lane.sum += off + 0 * x;  // NaN of an infinite number, but not where the difference overflows
    lane.squares += off * off;
  }
  [[nodiscard]] VARLEN_DEVICE double finish(const Spread& lane, std::int64_t rows) const {
    const double n = static_cast<double>(rows);
    double squares = lane.squares;  // infinite by overflow as well
    if (!(squares == kInfinity<double> && lane.sum == lane.sum)) squares -= lane.sum * (lane.sum / n);
    if (squares < 0) squares = 0;  // by rounding
    const double variance = n > ddof ? squares / (n - ddof) : kNan<double>;
    return root ? std::sqrt(variance) : variance;
  }
};

/// The sum of exponentials of numbers less the largest of them.
template <class T>
struct Exponentials {
  T maximum;
  T sum;
};

/// Their logarithms, or what the fold knows, for a pass that comes after it.
template <class T>
struct ExponentialSink {
  NumberSink logarithms;
  View<Exponentials<T>> exponentials;  ///< null: logarithms

  VARLEN_DEVICE void put(std::int64_t i, const Exponentials<T>& result) const {
    if (exponentials.data != nullptr) {
      exponentials[i] = result;
    } else {
      logarithms.put(i, result.maximum + std::log(result.sum));
    }
  }
  VARLEN_DEVICE void put_empty(std::int64_t i) const {
    if (exponentials.data == nullptr) logarithms.put_empty(i);
  }
};

template <class T>
struct ExponentialFold : FoldOf<ExponentialFold<T>, Exponentials<T>, ExponentialSink<T>> {
  static constexpr int kRowsAtOnce =
      32 / sizeof(T);  // exp of double is long, and takes longer than its bytes

  [[nodiscard]] VARLEN_DEVICE Exponentials<T> identity() const { return {-kInfinity<T>, T(0)}; }
  VARLEN_DEVICE void join(Exponentials<T>& lane, const Exponentials<T>& x) const {
    // Equal ones may be infinite. NaN is in the sums, whatever becomes of the largest.
    const bool rises = x.maximum > lane.maximum;
    const T maximum = rises ? x.maximum : lane.maximum;
    lane.sum = lane.sum * (lane.maximum == maximum ? T(1) : exp_of(lane.maximum - maximum)) +
               x.sum * (x.maximum == maximum ? T(1) : exp_of(x.maximum - maximum));
    lane.maximum = maximum;
  }
  VARLEN_DEVICE void add(Exponentials<T>& lane, T x, std::int64_t) const {
    const T share = x == lane.maximum ? T(1) : exp_of(-std::fabs(x - lane.maximum));
    if (x > lane.maximum) {
      lane.sum = lane.sum * share + T(1);
      lane.maximum = x;
    } else {
      lane.sum += share;
    }
  }
  [[nodiscard]] VARLEN_DEVICE const Exponentials<T>& finish(const Exponentials<T>& lane, std::int64_t) const {
    return lane;
  }
};

/// A product that neither overflows nor becomes zero: a mantissa of [1, 2) with the sign, a power of two, and
/// how many factors are none of the numbers that have these; 2 stands for more.
struct Factors {
  double mantissa;
  std::int64_t exponent;
  std::int32_t zeros, infinities, nans;
  std::int32_t padding = 0;
};

[[nodiscard]] VARLEN_DEVICE Factors factors_of(double x) {
  constexpr std::uint64_t kExponent = std::uint64_t{0x7FF} << 52;
  Factors result{1, 0, 0, 0, 0};
  if (x != x) {
    result.nans = 1;
    return result;
  }
  std::uint64_t bits = bits_as<std::uint64_t>(x);
  const double sign = (bits >> 63) != 0 ? -1 : 1;
  if (x == 0 || (bits & kExponent) == kExponent) {
    result.mantissa = sign;
    (x == 0 ? result.zeros : result.infinities) = 1;
    return result;
  }
  if ((bits & kExponent) == 0) {  // subnormal
    bits = bits_as<std::uint64_t>(x * 0x1p54);
    result.exponent = -54;
  }
  result.exponent += static_cast<std::int64_t>((bits & kExponent) >> 52) - 1023;
  result.mantissa = bits_as<double>((bits & ~kExponent) | (std::uint64_t{1023} << 52));
  return result;
}

[[nodiscard]] VARLEN_DEVICE std::int32_t at_most_two(std::int32_t n) {
  return n < 2 ? n : 2;
}

struct FactorFold : FoldOf<FactorFold, Factors, LaneSink<Factors>> {
  [[nodiscard]] VARLEN_DEVICE Factors identity() const { return {1, 0, 0, 0, 0}; }
  VARLEN_DEVICE void join(Factors& lane, const Factors& x) const {
    lane.mantissa *= x.mantissa;
    lane.exponent += x.exponent;
    if (std::fabs(lane.mantissa) >= 2) {
      lane.mantissa *= 0.5;
      ++lane.exponent;
    }
    lane.zeros = at_most_two(lane.zeros + x.zeros);
    lane.infinities = at_most_two(lane.infinities + x.infinities);
    lane.nans = at_most_two(lane.nans + x.nans);
  }
  VARLEN_DEVICE void add(Factors& lane, double x, std::int64_t) const { join(lane, factors_of(x)); }
  [[nodiscard]] VARLEN_DEVICE const Factors& finish(const Factors& lane, std::int64_t) const { return lane; }
};

/// The product without one of its factors.
[[nodiscard]] VARLEN_DEVICE double product_without(const Factors& all, double factor) {
  const Factors x = factors_of(factor);
  const bool has_zero = all.zeros > x.zeros;
  const bool has_infinity = all.infinities > x.infinities;
  if (all.nans > x.nans || (has_zero && has_infinity)) return kNan<double>;
  const double mantissa = all.mantissa / x.mantissa;
  if (has_zero) return mantissa * 0.0;
  if (has_infinity) return mantissa * kInfinity<double>;
  const std::int64_t exponent = all.exponent - x.exponent;
  constexpr std::int64_t kLimit = 4000;  // far past what a double holds
  return std::ldexp(mantissa, static_cast<int>(exponent > kLimit    ? kLimit
                                               : exponent < -kLimit ? -kLimit
                                                                    : exponent));
}

}  // namespace varlen::cuda
