// Elements from one dtype to another while they are moved: one function a pair, which converts a run.
//
// What fits is decided before anything is written, by cast_check, or, where fresh memory is written, in the
// same pass, by a conversion that reports what did not fit; the runs themselves check nothing.
//   bool, integer -> integer   in range, else not_representable
//   anything -> bool           0 or 1, else not_representable
//   float -> integer           finite, whole and in range, else not_representable
//   integer -> float           rounded to nearest, ties to even; what would become infinite:
//   not_representable float -> float             the same; infinities and NaN stay what they are
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "varlen/status.hpp"

namespace varlen {

enum class Type : std::uint8_t { b1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64 };

[[nodiscard]] std::int64_t size_of(Type type) noexcept;
[[nodiscard]] bool is_float(Type type) noexcept;

/// Converts count elements. Neither side need be aligned. Where nan is given, it is one element of the output
/// that is written in the place of NaN.
using CastRun = void (*)(const std::byte* input, std::int64_t count, const std::byte* nan,
                         std::byte* out) noexcept;

/// The same, and whether every finite number stayed finite.
using CheckedRun = bool (*)(const std::byte* input, std::int64_t count, const std::byte* nan,
                            std::byte* out) noexcept;

/// How elements change on their way; no run: bytes go through as they are.
struct Convert {
  CastRun run = nullptr;
  std::int64_t from = 1;              ///< bytes of an element that is read
  std::int64_t to = 1;                ///< bytes of an element that is written
  const std::byte* nan = nullptr;     ///< what NaN becomes, `to` bytes; null keeps it
  CheckedRun checked_run = nullptr;   ///< in the place of run, where `loss` is there
  std::atomic<bool>* loss = nullptr;  ///< set where a finite number became infinite

  /// Converts count elements.
  void apply(const std::byte* input, std::int64_t count, std::byte* out) const noexcept {
    if (loss == nullptr) {
      run(input, count, nan, out);
    } else if (!checked_run(input, count, nan, out)) {
      loss->store(true, std::memory_order_relaxed);
    }
  }

  /// Bytes that `bytes` of input become.
  [[nodiscard]] std::int64_t out_bytes(std::int64_t bytes) const noexcept {
    return run == nullptr ? bytes : bytes / from * to;
  }
};

/// The conversion of a pair; without a run where from is to and there is no NaN to replace.
[[nodiscard]] Convert cast_of(Type from, Type to, const std::byte* nan = nullptr) noexcept;

/// Whether finite numbers of a type may become infinite in another.
[[nodiscard]] bool may_overflow(Type from, Type to) noexcept;

/// The conversion of such a pair that looks at every number while it converts it, and says in `loss` what it
/// saw.
[[nodiscard]] Convert checked_cast_of(Type from, Type to, const std::byte* nan,
                                      std::atomic<bool>* loss) noexcept;

/// Whether all bools are bytes of 0 or 1. Other bytes are True, and have to be made 1 before they are
/// numbers.
[[nodiscard]] bool are_plain_bools(const std::byte* input, std::int64_t count) noexcept;

/// Elements of a float type to one byte each: 1 where they are NaN.
[[nodiscard]] Convert nan_mask_of(Type from) noexcept;

/// The first element that does not fit `to`: not_representable, where = element. With skip_nan, NaN fits.
Status cast_check(Type from, Type to, bool skip_nan, const std::byte* input, std::int64_t count) noexcept;

/// Converts count elements, threaded by bytes.
void cast(const Convert& how, const std::byte* input, std::int64_t count, std::byte* out) noexcept;

}  // namespace varlen
