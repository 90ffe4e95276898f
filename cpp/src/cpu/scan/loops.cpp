#include "loops.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

namespace varlen {
namespace {

template <class C, class A = C>
struct RunningSum {
  using T = C;
  using Acc = A;
  static constexpr Acc kIdentity = std::is_floating_point_v<A> ? A(-0.0) : A(0);
  static constexpr bool kExtreme = false;
  static Acc join(Acc a, Acc b) noexcept { return a + b; }
};

template <class C, class A = C>
struct RunningProd {
  using T = C;
  using Acc = A;
  static constexpr Acc kIdentity = 1;
  static constexpr bool kExtreme = false;
  static Acc join(Acc a, Acc b) noexcept { return a * b; }
};

template <class C, bool is_max>
struct RunningEnd {
  using T = C;
  using Acc = C;
  using Limits = std::numeric_limits<C>;
  static constexpr C kLow = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  static constexpr C kHigh = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static constexpr Acc kIdentity = is_max ? kLow : kHigh;
  static constexpr bool kExtreme = true;
  static Acc join(Acc a, Acc b) noexcept {
    const Acc extreme = pick_extreme(b, a);  // a, where one of them is NaN
    if constexpr (std::is_floating_point_v<C>) return std::isnan(b) ? b : extreme;
    return extreme;
  }
  static Acc pick_extreme(Acc b, Acc a) noexcept { return (is_max ? b > a : b < a) ? b : a; }
};
template <class C>
using RunningMax = RunningEnd<C, true>;
template <class C>
using RunningMin = RunningEnd<C, false>;

template <class T>
[[gnu::always_inline]] inline bool has_nan(const T* input, std::int64_t step, std::int64_t n) noexcept {
  using Mask = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  Mask mask = 0;
  if (step == 1 || step == -1) {  // a loop over vectors
    const T* const low = step == 1 ? input : input - (n - 1);
    for (std::int64_t r = 0; r < n; ++r) mask |= std::isnan(low[r]) ? Mask{1} : Mask{0};
  } else {
    for (std::int64_t r = 0; r < n; ++r) mask |= std::isnan(input[r * step]) ? Mask{1} : Mask{0};
  }
  return mask != 0;
}

/// Rows of one column, sequence after sequence, from `place` on.
template <class K, bool exclusive, class Join>
[[gnu::always_inline]] inline void run_rows(ScanRows rows, std::int64_t in_step, std::int64_t out_step,
                                            ScanPlace& place, std::int64_t turn, Join join) noexcept {
  using T = typename K::T;
  using Acc = typename K::Acc;
  const auto* input = reinterpret_cast<const T*>(rows.input);
  auto* out = reinterpret_cast<T*>(rows.out);
  auto* const sum = reinterpret_cast<Acc*>(place.acc);
  const Acc start = *reinterpret_cast<const Acc*>(place.starts);
  Acc a = *sum;
  std::int64_t left = rows.count;
  for (;;) {
    const std::int64_t n = std::min(place.remaining, left);
    for (std::int64_t r = 0; r < n; ++r) {
      const Acc next = join(a, static_cast<Acc>(*input));
      *out = static_cast<T>(exclusive ? a : next);
      a = next;
      input += in_step;
      out += out_step;
    }
    place.remaining -= n;
    left -= n;
    if (left == 0) break;
    place.sequence += turn;
    place.remaining = place.length(place.sequence);
    a = start;
  }
  *sum = a;
}

/// The same, with steps known to the compiler where rows are side by side.
template <class K, bool exclusive, class Join>
void run_column(const ScanRows& rows, ScanPlace& place, std::int64_t turn, Join join) noexcept {
  if (rows.in_step == 1 && rows.out_step == 1) {
    run_rows<K, exclusive>(rows, 1, 1, place, turn, join);
  } else {
    run_rows<K, exclusive>(rows, rows.in_step, rows.out_step, place, turn, join);
  }
}

/// Rows of one column. Without NaN an extreme is one instruction from row to row, so that is looked for in
/// many rows at once.
template <class K, bool exclusive>
void each_number(ScanRows rows, ScanPlace& place, std::int64_t turn) noexcept {
  using T = typename K::T;
  using Acc = typename K::Acc;
  if constexpr (K::kExtreme && std::is_floating_point_v<T>) {
    constexpr std::int64_t kLimit = 1024;
    const auto is_nan = [](const std::byte* acc) { return std::isnan(*reinterpret_cast<const Acc*>(acc)); };
    std::int64_t left = rows.count;
    while (left > 0) {
      rows.count = std::min(left, kLimit);
      if (is_nan(place.acc) || is_nan(place.starts) ||
          has_nan(reinterpret_cast<const T*>(rows.input), rows.in_step, rows.count)) {
        run_column<K, exclusive>(rows, place, turn, [](Acc a, Acc x) { return K::join(a, x); });
      } else {
        run_column<K, exclusive>(rows, place, turn, [](Acc a, Acc x) { return K::pick_extreme(x, a); });
      }
      rows.input += rows.count * rows.in_step * static_cast<std::int64_t>(sizeof(T));
      rows.out += rows.count * rows.out_step * static_cast<std::int64_t>(sizeof(T));
      left -= rows.count;
    }
  } else {
    run_column<K, exclusive>(rows, place, turn, [](Acc a, Acc x) { return K::join(a, x); });
  }
}

template <class K, bool exclusive>
void each_row(ScanRows rows, ScanPlace& place, std::int64_t w, std::int64_t turn) noexcept {
  using T = typename K::T;
  using Acc = typename K::Acc;
  constexpr std::int64_t kSize = sizeof(T);
  auto* const __restrict sums = reinterpret_cast<Acc*>(place.acc);
  const auto* const starts = reinterpret_cast<const Acc*>(place.starts);
  if (w == 1) return each_number<K, exclusive>(rows, place, turn);
  for (;;) {
    const std::int64_t n = std::min(place.remaining, rows.count);
    for (std::int64_t r = 0; r < n; ++r) {
      const auto* const input = reinterpret_cast<const T*>(rows.input);
      auto* const out = reinterpret_cast<T*>(rows.out);
      for (std::int64_t k = 0; k < w; ++k) {
        const Acc next = K::join(sums[k], static_cast<Acc>(input[k]));
        out[k] = static_cast<T>(exclusive ? sums[k] : next);
        sums[k] = next;
      }
      rows.input += rows.in_step * kSize;
      rows.out += rows.out_step * kSize;
    }
    place.remaining -= n;
    rows.count -= n;
    if (rows.count == 0) return;
    place.sequence += turn;
    place.remaining = place.length(place.sequence);
    for (std::int64_t k = 0; k < w; ++k) sums[k] = starts[k];
  }
}

template <class K>
void each_of(ScanRows rows, ScanPlace& place, std::int64_t w, std::int64_t turn, bool exclusive) noexcept {
  exclusive ? each_row<K, true>(rows, place, w, turn) : each_row<K, false>(rows, place, w, turn);
}

template <class K>
void fold_of(ScanRows rows, std::int64_t w, std::byte* acc) noexcept {
  using T = typename K::T;
  using Acc = typename K::Acc;
  constexpr int kLanes = 8;
  const auto* input = reinterpret_cast<const T*>(rows.input);
  auto* const __restrict sums = reinterpret_cast<Acc*>(acc);
  std::int64_t n = rows.count;
  if (w == 1 && rows.in_step == 1) {
    Acc lanes[kLanes];
    std::fill(lanes, lanes + kLanes, K::kIdentity);
    for (; n >= kLanes; n -= kLanes, input += kLanes) {
      for (int l = 0; l < kLanes; ++l) lanes[l] = K::join(lanes[l], static_cast<Acc>(input[l]));
    }
    for (const Acc lane : lanes) *sums = K::join(*sums, lane);
  }
  for (; n > 0; --n, input += rows.in_step) {
    for (std::int64_t k = 0; k < w; ++k) sums[k] = K::join(sums[k], static_cast<Acc>(input[k]));
  }
}

template <class K>
void join_of(std::byte* a, const std::byte* b) noexcept {
  using Acc = typename K::Acc;
  auto& to = *reinterpret_cast<Acc*>(a);
  to = K::join(to, *reinterpret_cast<const Acc*>(b));
}

template <class K>
constexpr ScanLoops loops_of() noexcept {
  using Acc = typename K::Acc;
  ScanLoops result{sizeof(typename K::T), sizeof(Acc), {}, each_of<K>, fold_of<K>, join_of<K>};
  const auto identity = std::bit_cast<std::array<std::byte, sizeof(Acc)>>(K::kIdentity);
  std::copy(identity.begin(), identity.end(), result.identity);
  return result;
}

}  // namespace

const ScanLoops& scan_loops(Scan op, Type type) noexcept {
  // Signed sums and products are those of u64 bit by bit.
  using U = std::uint64_t;
  using I = std::int64_t;
  static constexpr ScanLoops tables[4][5] = {
      {loops_of<RunningSum<float>>(), loops_of<RunningSum<float, double>>(), loops_of<RunningSum<double>>(),
       loops_of<RunningSum<U>>(), loops_of<RunningSum<U>>()},
      {loops_of<RunningProd<float>>(), loops_of<RunningProd<float, double>>(),
       loops_of<RunningProd<double>>(), loops_of<RunningProd<U>>(), loops_of<RunningProd<U>>()},
      {loops_of<RunningMax<float>>(), loops_of<RunningMax<float>>(), loops_of<RunningMax<double>>(),
       loops_of<RunningMax<I>>(), loops_of<RunningMax<U>>()},
      {loops_of<RunningMin<float>>(), loops_of<RunningMin<float>>(), loops_of<RunningMin<double>>(),
       loops_of<RunningMin<I>>(), loops_of<RunningMin<U>>()},
  };
  const int kind = type == Type::f16 || type == Type::bf16 ? 0
                   : type == Type::f32                     ? 1
                   : type == Type::f64                     ? 2
                   : scan_memory(type) == Type::i64        ? 3
                                                           : 4;
  return tables[static_cast<int>(op)][kind];
}

}  // namespace varlen
