#include "varlen/cast.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "halves.hpp"
#include "support/elements.hpp"
#include "varlen/pool.hpp"

namespace varlen {
namespace {

template <class From, class To>
void run(const std::byte* __restrict input, std::int64_t count, const std::byte* nan,
         std::byte* __restrict out) noexcept {
  if constexpr (kFloat<From>) {
    if (nan != nullptr) {
      const To instead = read<To>(nan, 0);
      for (std::int64_t i = 0; i < count; ++i) {
        const auto x = read<From>(input, i);
        const bool is_missing = is_nan(x);
        write(out, i, is_missing ? instead : convert<To>(is_missing ? From{} : x));
      }
      return;
    }
  }
  for (std::int64_t i = 0; i < count; ++i) write(out, i, convert<To>(read<From>(input, i)));
}

/// Between a half and float.
template <class From, class To>
inline constexpr bool kHalfAndFloat = (kHalf<From> && std::is_same_v<To, float>) ||
                                      (std::is_same_v<From, float> && kHalf<To>);

/// run, by the best instructions.
template <class From, class To>
void run_best(const std::byte* input, std::int64_t count, const std::byte* nan, std::byte* out) noexcept {
  if constexpr (kHalfAndFloat<From, To>) {
    constexpr bool kWidens = kHalf<From>;
    const HalfRuns* const best = half_runs<std::conditional_t<kWidens, From, To>>();
    if (best != nullptr && nan == nullptr)
      return (kWidens ? best->widen : best->narrow)(input, count, nan, out);
  }
  run<From, To>(input, count, nan, out);
}

/// run, in short blocks: what a number was is still in the first cache when it is looked at again.
template <class From, class To>
bool run_checked(const std::byte* __restrict input, std::int64_t count, const std::byte* nan,
                 std::byte* __restrict out) noexcept {
  constexpr std::int64_t kBlock = 1024;
  bool loss = false;
  for (std::int64_t from = 0; from < count; from += kBlock) {
    const std::int64_t n = std::min(kBlock, count - from);
    const std::byte* const block = input + from * static_cast<std::int64_t>(sizeof(From));
    std::int64_t bad = 0;
    for (std::int64_t i = 0; i < n; ++i) bad += overflows<To>(read<From>(block, i)) ? 1 : 0;
    loss |= bad != 0;
    run_best<From, To>(block, n, nan, out + from * static_cast<std::int64_t>(sizeof(To)));
  }
  return !loss;
}

template <class From>
void run_nan(const std::byte* __restrict input, std::int64_t count, const std::byte* /*nan*/,
             std::byte* __restrict out) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    write(out, i, static_cast<std::uint8_t>(is_nan(read<From>(input, i)) ? 1 : 0));
  }
}

// From an integer, to an integer of one width is the same bytes with either sign: one function for both.
template <class From, class To>
constexpr CastRun run_of() noexcept {
  if constexpr (std::is_integral_v<To> && !kFloat<From>) {
    return &run<From, std::make_unsigned_t<To>>;
  } else {
    return &run_best<From, To>;
  }
}

template <class From, std::size_t... To>
constexpr std::array<CastRun, kTypes> runs_from(std::index_sequence<To...> /*all*/) {
  return {run_of<From, std::tuple_element_t<To, Types>>()...};
}

template <std::size_t... From>
constexpr std::array<std::array<CastRun, kTypes>, kTypes> all_runs(std::index_sequence<From...> all) {
  return {runs_from<std::tuple_element_t<From, Types>>(all)...};
}

constexpr auto kRuns = all_runs(std::make_index_sequence<kTypes>{});

// Null where nothing can be lost.
template <class From, class To>
constexpr CheckedRun checked_of() noexcept {
  if constexpr (holds_all<From, To>()) {
    return nullptr;
  } else {
    return &run_checked<From, To>;
  }
}

template <class From, std::size_t... To>
constexpr std::array<CheckedRun, kTypes> checked_from(std::index_sequence<To...> /*all*/) {
  return {checked_of<From, std::tuple_element_t<To, Types>>()...};
}

template <std::size_t... From>
constexpr std::array<std::array<CheckedRun, kTypes>, kTypes> all_checked(std::index_sequence<From...> all) {
  return {checked_from<std::tuple_element_t<From, Types>>(all)...};
}

constexpr auto kCheckedRuns = all_checked(std::make_index_sequence<kTypes>{});

}  // namespace

std::int64_t size_of(Type type) noexcept {
  return kSizes[number(type)];
}

bool is_float(Type type) noexcept {
  return type >= Type::f16;
}

Convert cast_of(Type from, Type to, const std::byte* nan) noexcept {
  if (!is_float(from)) nan = nullptr;
  if (from == to && nan == nullptr) return {};
  return {kRuns[number(from)][number(to)], size_of(from), size_of(to), nan};
}

bool may_overflow(Type from, Type to) noexcept {
  return kCheckedRuns[number(from)][number(to)] != nullptr;
}

Convert checked_cast_of(Type from, Type to, const std::byte* nan, std::atomic<bool>* loss) noexcept {
  Convert result = cast_of(from, to, nan);
  result.checked_run = kCheckedRuns[number(from)][number(to)];
  if (result.checked_run != nullptr) result.loss = loss;
  return result;
}

bool are_plain_bools(const std::byte* input, std::int64_t count) noexcept {
  constexpr std::int64_t kBlock = 4096;
  for (std::int64_t from = 0; from < count; from += kBlock) {
    const std::int64_t to = std::min(count, from + kBlock);
    std::uint8_t bits = 0;
    for (std::int64_t i = from; i < to; ++i) bits |= read<std::uint8_t>(input, i);
    if (bits > 1) return false;
  }
  return true;
}

Convert nan_mask_of(Type from) noexcept {
  constexpr std::array<CastRun, 4> runs{&run_nan<Half>, &run_nan<BFloat>, &run_nan<float>, &run_nan<double>};
  if (!is_float(from)) return {};
  return {runs[number(from) - number(Type::f16)], size_of(from), 1, nullptr};
}

void cast(const Convert& how, const std::byte* input, std::int64_t count, std::byte* out) noexcept {
  const std::int64_t chunks = std::min(count, chunks_for(count * std::max(how.from, how.to)));
  parallel(chunks, [&](std::int64_t c) {
    const auto cut = [&](std::int64_t k) { return count / chunks * k + std::min(k, count % chunks); };
    const std::int64_t size = cut(c + 1) - cut(c);
    const std::byte* from = input + cut(c) * how.from;
    std::byte* to = out + cut(c) * how.to;
    if (how.run == nullptr) {
      std::memcpy(to, from, static_cast<std::size_t>(size * how.from));
    } else {
      how.apply(from, size, to);
    }
  });
}

}  // namespace varlen
