// Elements from one dtype to another while they are moved: one function a pair, which converts a run.
//
// What fits is decided before anything is written, by cast_check; the runs themselves check nothing.
//   bool, integer -> integer   in range, else not_representable
//   anything -> bool           0 or 1, else not_representable
//   float -> integer           finite, whole and in range, else not_representable
//   integer -> float           rounded to nearest, ties to even; beyond the range of a half, infinity
//   float -> float             the same; NaN stays NaN, and too large becomes infinity
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/status.hpp"

namespace varlen {

enum class Type : std::uint8_t { b1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64 };

[[nodiscard]] std::int64_t size_of(Type type) noexcept;
[[nodiscard]] bool is_float(Type type) noexcept;

/// Converts count elements. Neither side need be aligned. Where nan is given, it is one element of the output
/// that is written in the place of NaN.
using CastRun = void (*)(const std::byte* in, std::int64_t count, const std::byte* nan,
                         std::byte* out) noexcept;

/// How elements change on their way; no run: bytes go through as they are.
struct Convert {
  CastRun run = nullptr;
  std::int64_t from = 1;           ///< bytes of an element that is read
  std::int64_t to = 1;             ///< bytes of an element that is written
  const std::byte* nan = nullptr;  ///< what NaN becomes, `to` bytes; null keeps it

  /// Bytes that `bytes` of input become.
  [[nodiscard]] std::int64_t out_bytes(std::int64_t bytes) const noexcept {
    return run == nullptr ? bytes : bytes / from * to;
  }
};

/// The conversion of a pair; without a run where from is to and there is no NaN to replace.
[[nodiscard]] Convert cast_of(Type from, Type to, const std::byte* nan = nullptr) noexcept;

/// Elements of a float type to one byte each: 1 where they are NaN.
[[nodiscard]] Convert nan_mask_of(Type from) noexcept;

/// The first element that does not fit `to`: not_representable, where = element. With skip_nan, NaN fits.
Status cast_check(Type from, Type to, bool skip_nan, const std::byte* in, std::int64_t count) noexcept;

/// Converts count elements, threaded by bytes.
void cast(const Convert& how, const std::byte* in, std::int64_t count, std::byte* out) noexcept;

}  // namespace varlen
