#include <algorithm>
#include <limits>
#include <utility>

#include "support/elements.hpp"
#include "varlen/cast.hpp"

namespace varlen {
namespace {

/// What an integer or a bool type holds.
struct Bounds {
  std::int64_t low;
  std::uint64_t high;
};

Bounds bounds_of(Type type) noexcept {
  const auto bits = static_cast<unsigned>(8 * size_of(type));
  if (type == Type::b1) return {0, 1};
  if (type >= Type::u8) return {0, ~std::uint64_t{0} >> (64 - bits)};
  return {std::numeric_limits<std::int64_t>::min() >> (64 - bits), ~std::uint64_t{0} >> (65 - bits)};
}

/// The first element for which fits() is false. In blocks without a branch inside, so that they become
/// vectors.
template <class T, class Fits>
Status first_bad(const std::byte* input, std::int64_t count, Fits fits) noexcept {
  constexpr std::int64_t kBlock = 1024;
  for (std::int64_t from = 0; from < count; from += kBlock) {
    const std::int64_t to = std::min(count, from + kBlock);
    std::int64_t bad = 0;
    for (std::int64_t i = from; i < to; ++i) bad += fits(read<T>(input, i)) ? 0 : 1;
    if (bad == 0) continue;
    for (std::int64_t i = from; i < to; ++i) {
      if (!fits(read<T>(input, i))) return {Code::not_representable, i, 0};
    }
  }
  return {};
}

template <class T>
Status check_integers(Bounds to, const std::byte* input, std::int64_t count) noexcept {
  using Limits = std::numeric_limits<T>;
  const T low = std::is_signed_v<T> && to.low > static_cast<std::int64_t>(Limits::min())
                    ? static_cast<T>(to.low)
                    : Limits::min();
  const T high =
      to.high < static_cast<std::uint64_t>(Limits::max()) ? static_cast<T>(to.high) : Limits::max();
  if (low == Limits::min() && high == Limits::max()) return {};
  return first_bad<T>(input, count, [&](T x) { return (x >= low) & (x <= high); });
}

template <class T>
Status check_floats(Bounds to, bool skip_nan, const std::byte* input, std::int64_t count) noexcept {
  constexpr double kFractionEnd = 4503599627370496.0;  // 2^52: what is larger has no fraction
  const auto low = static_cast<double>(to.low);
  const double limit = std::ldexp(1.0, static_cast<int>(std::bit_width(to.high)));
  return first_bad<T>(input, count, [=](T element) {
    const double x = convert<double>(element);
    const double size = std::fabs(x);
    const bool is_whole = ((size + kFractionEnd) - kFractionEnd == size) | (size >= kFractionEnd);
    return ((x >= low) & (x < limit) & is_whole) | (skip_nan & (x != x));
  });
}

/// For a To that holds less: what would become infinite does not fit.
template <class From, class To>
Status check_finite(const std::byte* input, std::int64_t count) noexcept {
  if constexpr (holds_all<From, To>()) {
    return {};
  } else {
    return first_bad<From>(input, count, [](From x) { return !overflows<To>(x); });
  }
}

template <class From>
Status check_finite_in(Type to, const std::byte* input, std::int64_t count) noexcept {
  if (to == Type::f16) return check_finite<From, Half>(input, count);
  if (to == Type::bf16) return check_finite<From, BFloat>(input, count);
  return to == Type::f32 ? check_finite<From, float>(input, count) : Status{};
}

template <class T>
Status check_from(Type to, bool skip_nan, const std::byte* input, std::int64_t count) noexcept {
  if (is_float(to)) return check_finite_in<T>(to, input, count);
  if constexpr (std::is_same_v<T, Bool>) {
    return {};
  } else if constexpr (kFloat<T>) {
    return check_floats<T>(bounds_of(to), skip_nan, input, count);
  } else {
    return check_integers<T>(bounds_of(to), input, count);
  }
}

using Check = Status (*)(Type, bool, const std::byte*, std::int64_t) noexcept;

template <std::size_t... From>
constexpr std::array<Check, kTypes> all_checks(std::index_sequence<From...> /*all*/) {
  return {&check_from<std::tuple_element_t<From, Types>>...};
}

constexpr auto kChecks = all_checks(std::make_index_sequence<kTypes>{});

}  // namespace

Status cast_check(Type from, Type to, bool skip_nan, const std::byte* input, std::int64_t count) noexcept {
  if (from == to || (is_float(to) && !may_overflow(from, to))) return {};
  return kChecks[number(from)](to, skip_nan, input, count);
}

}  // namespace varlen
