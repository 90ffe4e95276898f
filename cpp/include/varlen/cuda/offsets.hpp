// `offsets.hpp` on the device: what people ask of a level, the stream first. Levels and outputs lie there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/stream.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

/// level.count of them.
[[nodiscard]] Error lengths_of(Stream stream, Offsets level, std::int64_t* lengths) noexcept;
/// level.count + 1 of them: only where no number is beyond int32.
[[nodiscard]] Error offsets_of(Stream stream, Offsets level, std::int32_t* offsets) noexcept;
/// `total` of them.
[[nodiscard]] Error row_ids_of(Stream stream, Offsets level, std::int64_t total,
                               std::int64_t* row_ids) noexcept;
[[nodiscard]] Error positions_of(Stream stream, Offsets level, std::int64_t total,
                                 std::int64_t* positions) noexcept;

/// What lies in front of the offsets that `offsets_from` writes: a varlen::Code, where and what it found, or
/// the sum. The offsets begin one word before a line of the cache, and the ends with it.
enum class Fact : std::uint8_t { fault, where, value };
constexpr std::int64_t kFacts = 7;

struct OffsetsJob {
  const std::byte* numbers = nullptr;  ///< n lengths, or n + 1 offsets: of 64 bits, or of 32
  bool is_wide = true;
  std::int64_t n = 0;
  bool are_offsets = false;
  std::int64_t total = -1;          ///< what they have to add up to; below 0: anything
  std::int64_t max_len = -1;        ///< what no length exceeds, with room for `total`; below 0: anything
  std::int64_t* out = nullptr;      ///< kFacts + n + 1 words
  std::int64_t* verdict = nullptr;  ///< gets `stamp` where the numbers lie; memory that the host can read
  std::int64_t stamp = 0;
};

/// Bytes of scratch for so many sequences.
[[nodiscard]] std::int64_t offsets_from_scratch(std::int64_t n) noexcept;

/// Facts and offsets, which are good ones whatever the numbers are: those of numbers that lie cut `total`
/// rows evenly, or none. One launch up to 8192 sequences, two beyond.
[[nodiscard]] Error offsets_from(Stream stream, const OffsetsJob& job, std::byte* scratch) noexcept;

}  // namespace varlen::cuda
