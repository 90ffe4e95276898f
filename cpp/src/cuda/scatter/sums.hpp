// What lookups and their way back share: numbers of rows as they came, and sums of elements of any type.
#pragma once

#include <algorithm>
#include <cstdint>

#include "support/elements.hpp"
#include "support/number.hpp"
#include "support/view.hpp"
#include "varlen/cuda/stream.hpp"
#include "varlen/scatter.hpp"

namespace varlen::cuda {

constexpr int kRowsAtOnce = 4;  ///< that a thread has on their way

/// Rows of a table of `rows`. Without data there is a row for every lookup.
struct RowNumbers {
  View<const std::byte> data;
  bool is_wide;
  std::uint64_t limit;

  RowNumbers(Lookups lookups, std::int64_t rows) noexcept
      : data{lookups.data, lookups.count * bytes_of(lookups.type)},
        is_wide(bytes_of(lookups.type) == 8),
        limit(static_cast<std::uint64_t>(rows)) {
    // As unsigned numbers those below zero are beyond all rows.
    if (lookups.type == Type::i32) limit = std::min(limit, std::uint64_t{1} << 31);
  }

  /// -1 where the table has no such row.
  [[nodiscard]] VARLEN_DEVICE std::int64_t row(std::int64_t k) const {
    if (data.data == nullptr) return k;
    const std::uint64_t number =
        is_wide ? word_at<std::uint64_t>(data, 8 * k) : word_at<std::uint32_t>(data, 4 * k);
    return number < limit ? static_cast<std::int64_t>(number) : -1;
  }
};

/// Elements of one type and their sum: halves and f32 are added in float, f64 in double, others as 64 bits.
/// A sum is carried by its bits, so that one kernel has all types.
class Sums {
 public:
  explicit Sums(Type type) noexcept : type_(type), size_(bytes_of(type)) {}

  [[nodiscard]] VARLEN_DEVICE int size() const { return size_; }
  [[nodiscard]] VARLEN_DEVICE Type type() const { return type_; }
  /// Of nothing: added to it, a number keeps its bits.
  [[nodiscard]] VARLEN_DEVICE std::uint64_t zero() const {
    if (type_ == Type::f64) return bits_as<std::uint64_t>(-0.0);
    return is_real(type_) ? bits_as<std::uint32_t>(-0.0F) : 0;
  }
  /// A sum and the elements at the first n addresses, in their order; those without a bit in `row_mask` count
  /// as zero. All addresses are read.
  [[nodiscard]] VARLEN_DEVICE std::uint64_t add(std::uint64_t sum,
                                                const std::byte* const (&addresses)[kRowsAtOnce],
                                                unsigned row_mask, int n) const {
    std::uint64_t bits[kRowsAtOnce];
    with_width(size_, [&](auto zero) {
      using Word = decltype(zero);
      VARLEN_UNROLLED for (int j = 0; j < kRowsAtOnce; ++j) {
        bits[j] = View<const Word>{reinterpret_cast<const Word*>(addresses[j]), 1}[0];
      }
    });
    VARLEN_UNROLLED for (int j = 0; j < kRowsAtOnce; ++j) {
      if ((row_mask >> j & 1U) == 0) bits[j] = 0;
    }
    if (type_ == Type::f64) {
      return add_up<double, std::uint64_t>(sum, bits, n, [](auto x) { return bits_as<double>(x); });
    }
    if (!is_real(type_)) {
      const int shift = type_ >= Type::i8 && type_ <= Type::i64 ? 64 - 8 * size_ : 0;
      VARLEN_UNROLLED for (int j = 0; j < kRowsAtOnce; ++j) {
        if (j < n) sum += type_ == Type::b1 ? (bits[j] != 0 ? 1 : 0) : widen(bits[j], shift);
      }
      return sum;
    }
    VARLEN_UNROLLED for (int j = 0; j < kRowsAtOnce; ++j) {
      const auto half = static_cast<std::uint16_t>(bits[j]);
      if (type_ == Type::f16) bits[j] = bits_as<std::uint32_t>(widen_half(half));
      if (type_ == Type::bf16) bits[j] = std::uint32_t{half} << 16;
    }
    return add_up<float, std::uint32_t>(sum, bits, n,
                                        [](auto x) { return bits_as<float>(static_cast<std::uint32_t>(x)); });
  }
  /// The bits of a sum as those of a double, or of a whole number.
  [[nodiscard]] VARLEN_DEVICE std::uint64_t wide(std::uint64_t sum) const {
    if (!is_real(type_) || type_ == Type::f64) return sum;
    return bits_as<std::uint64_t>(static_cast<double>(bits_as<float>(static_cast<std::uint32_t>(sum))));
  }

 private:
  template <class Number, class Bits, class As>
  [[nodiscard]] static VARLEN_DEVICE std::uint64_t add_up(std::uint64_t sum,
                                                          const std::uint64_t (&bits)[kRowsAtOnce], int n,
                                                          As as) {
    Number number = as(sum);
    VARLEN_UNROLLED for (int j = 0; j < kRowsAtOnce; ++j) {
      if (j < n) number += as(bits[j]);
    }
    return bits_as<Bits>(number);
  }
  [[nodiscard]] static VARLEN_DEVICE std::uint64_t widen(std::uint64_t bits, int shift) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << shift) >> shift);
  }

  Type type_;
  int size_;
};

/// The sum of two wide ones.
[[nodiscard]] VARLEN_DEVICE std::uint64_t join_wide(bool are_real, std::uint64_t a, std::uint64_t b) {
  return are_real ? bits_as<std::uint64_t>(bits_as<double>(a) + bits_as<double>(b)) : a + b;
}

/// A wide sum as an element, rounded once.
VARLEN_CALLED void write_wide(std::byte* to, Type type, int size, std::uint64_t sum) {
  if (is_real(type)) {
    with_float(type, [&](auto zero) {
      using T = decltype(zero);
      View<T>{reinterpret_cast<T*>(to), 1}[0] = element_of<T>(bits_as<double>(sum));
    });
    return;
  }
  if (type == Type::b1) sum = sum != 0 ? 1 : 0;
  with_width(size, [&](auto zero) {
    using T = decltype(zero);
    View<T>{reinterpret_cast<T*>(to), 1}[0] = static_cast<T>(sum);
  });
}

}  // namespace varlen::cuda
