// A batch on its way to a device: one block of memory of the host, with the rows of all keys end to end, and
// how the arrays of the batch are made of it there. Plain numbers, so that another process can have them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "varlen/cast.hpp"
#include "varlen/pad.hpp"

namespace varlen {

/// A ragged axis of the batch. Places are in bytes, from the start of the block.
struct StagedAxis {
  std::int64_t ends = 0;   ///< place
  std::int64_t count = 0;  ///< of sequences
  std::int64_t slots = 0;
  std::int64_t keep = 0;  ///< most rows of one
};

enum class StagedKind : std::uint8_t { bytes, cast, not_nan, mask };

/// A fill of at most so many bytes, which repeats in them, is at hand; others lie in the block.
inline constexpr std::int64_t kFillAtHand = 16;

/// An array of the batch: (n, slots of the first `depth` axes, a row), or of depth 0 as many rows as there
/// are.
struct StagedArray {
  std::int64_t output = 0;  ///< which one
  std::int64_t rows = 0;    ///< place
  std::int64_t count = 0;
  std::int64_t width = 0;       ///< bytes of a row
  std::int64_t fill_row = -1;   ///< place; below 0: the fill is at hand
  std::int64_t fill_bytes = 0;  ///< 0: zeros
  std::int64_t nan = 0;         ///< the bytes of what takes the place of NaN
  std::array<std::byte, kFillAtHand> fill{};
  std::int32_t depth = 0;
  StagedKind kind = StagedKind::bytes;
  Type from = Type::b1;
  Type to = Type::b1;
  bool replaces_nan = false;
};
static_assert(std::is_trivially_copyable_v<StagedAxis> && std::is_trivially_copyable_v<StagedArray>);

struct BatchStage {
  std::int64_t bytes = 0;  ///< of the block
  std::int64_t n = 0;
  Side side = Side::right;
  Side cut = Side::right;
  std::vector<StagedAxis> axes;
  std::vector<StagedArray> arrays;
  std::vector<std::int64_t> places;  ///< [output]: of one that lies in the block as it is; else -1
};

}  // namespace varlen
