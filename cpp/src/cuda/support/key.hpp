// Numbers as keys: unsigned integers in the order of the numbers, NaN behind all others, -0 beside 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include "number.hpp"
#include "thread.hpp"
#include "varlen/cast.hpp"
#include "view.hpp"

namespace varlen::cuda {

/// Keys of 64 bits, or of 32 for numbers of up to 4 bytes. What a dtype means is worked out on the host.
template <class Key>
class Keys {
 public:
  /// descending turns the order round, but for NaN.
  Keys(Type type, const std::byte* numbers, std::int64_t count, bool descending) noexcept
      : numbers_{numbers, count * bytes_of(type)},
        size_(bytes_of(type)),
        is_bool_(type == Type::b1),
        is_real_(is_real(type)),
        turn_(descending ? static_cast<Key>(~Key{0}) : Key{0}) {
    const bool has_sign = is_real_ || (type >= Type::i8 && type <= Type::i64);
    if (has_sign) sign_ = static_cast<Key>(Key{1} << (8 * size_ - 1));
    const int mantissa = type == Type::f16 ? 10 : type == Type::bf16 ? 7 : type == Type::f32 ? 23 : 52;
    if (is_real_) infinity_ = static_cast<Key>((sign_ - 1) >> mantissa << mantissa);
  }

  /// Those of elements first, first + step, ..., N of them; behind `limit` of them they mean nothing. All
  /// are on their way before the first is used.
  template <int N>
  VARLEN_DEVICE void load_many(std::int64_t first, std::int64_t step, int limit, Key (&keys)[N]) const {
    const std::int64_t offset = first * size_;
    step *= size_;
    if (size_ == 4) {
      read_words<std::uint32_t>(numbers_, offset, step, limit, keys);
    } else if (size_ == 2) {
      read_words<std::uint16_t>(numbers_, offset, step, limit, keys);
    } else if (sizeof(Key) == 4 || size_ == 1) {
      read_words<std::uint8_t>(numbers_, offset, step, limit, keys);
    } else {
      read_words<std::uint64_t>(numbers_, offset, step, limit, keys);
    }
    VARLEN_UNROLLED for (int k = 0; k < N; ++k) keys[k] = key_of(keys[k]);
  }
  [[nodiscard]] VARLEN_DEVICE Key operator()(std::int64_t i) const {
    Key one[1];
    load_many(i, 0, 1, one);
    return one[0];
  }

 private:
  [[nodiscard]] VARLEN_DEVICE Key key_of(Key bits) const {
    Key key = bits ^ sign_;
    if (is_bool_) key = bits != 0 ? 1 : 0;
    if (is_real_) {
      const Key magnitude = bits & (sign_ - 1);
      if (magnitude > infinity_) return static_cast<Key>(~Key{0});
      key = (bits & sign_) != 0 ? sign_ - magnitude : sign_ + magnitude;
    }
    return key ^ turn_;
  }

  View<const std::byte> numbers_;
  int size_;
  bool is_bool_;
  bool is_real_;
  Key turn_;
  Key sign_ = 0;
  Key infinity_ = 0;
};

}  // namespace varlen::cuda
