#include "keys.hpp"

#include <array>
#include <limits>
#include <type_traits>

#include "support/dispatch.hpp"
#include "support/elements.hpp"

namespace varlen {
namespace {

/// The keys of floats: their magnitude, with their sign. So -0 is 0.
template <class T, class K, class Bits, Bits infinity>
struct KeyOfFloat {
  static K make(T x, K flip) noexcept {
    constexpr Bits kMagnitude = std::numeric_limits<Bits>::max() >> 1;
    const Bits bits = std::bit_cast<Bits>(x);
    const auto magnitude = static_cast<K>(bits & kMagnitude);
    const K key = ((bits & ~kMagnitude) != 0 ? -magnitude : magnitude) ^ flip;
    return magnitude > static_cast<K>(infinity) ? std::numeric_limits<K>::max() : key;
  }
};

template <class T, class K>
struct KeyOf {
  static K make(T x, K flip) noexcept {
    if constexpr (sizeof(T) == sizeof(K) && std::is_unsigned_v<T>) {
      return static_cast<K>(x ^ (T{1} << (8 * sizeof(T) - 1))) ^ flip;
    } else {
      return static_cast<K>(x) ^ flip;
    }
  }
};
template <class K>
struct KeyOf<Bool, K> {
  static K make(Bool x, K flip) noexcept { return static_cast<K>(x.byte != 0) ^ flip; }
};
template <class K>
struct KeyOf<Half, K> : KeyOfFloat<Half, K, std::uint16_t, 0x7C00U> {};
template <class K>
struct KeyOf<BFloat, K> : KeyOfFloat<BFloat, K, std::uint16_t, 0x7F80U> {};
template <class K>
struct KeyOf<float, K> : KeyOfFloat<float, K, std::uint32_t, 0x7F800000U> {};
template <class K>
struct KeyOf<double, K> : KeyOfFloat<double, K, std::uint64_t, 0x7FF0000000000000U> {};

template <class T, class K>
VARLEN_LOOP void keys(const std::byte* input, std::int64_t stride, std::int64_t count, bool descending,
                      K* out) noexcept {
  const K flip = descending ? K{-1} : K{0};
  if (stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = KeyOf<T, K>::make(read<T>(input, i), flip);
  } else {
    for (std::int64_t i = 0; i < count; ++i) out[i] = KeyOf<T, K>::make(read<T>(input, i * stride), flip);
  }
}

template <std::size_t... I>
constexpr auto narrow_table(std::index_sequence<I...>) {
  const auto one = []<class T>(T*) -> Keys32 {
    if constexpr (sizeof(T) <= 4) {
      return best<keys<T, std::int32_t>>;
    } else {
      return nullptr;
    }
  };
  return std::array<Keys32, kTypes>{one(static_cast<std::tuple_element_t<I, Types>*>(nullptr))...};
}

}  // namespace

Keys32 keys32_of(Type type) noexcept {
  static constexpr auto kTable = narrow_table(std::make_index_sequence<kTypes>{});
  return kTable[number(type)];
}

Keys64 keys64_of(Type type) noexcept {
  switch (type) {
    case Type::f64:
      return best<keys<double, std::int64_t>>;
    case Type::i64:
      return best<keys<std::int64_t, std::int64_t>>;
    case Type::u64:
      return best<keys<std::uint64_t, std::int64_t>>;
    default:
      return nullptr;
  }
}

}  // namespace varlen
