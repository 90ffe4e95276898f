// Numbers in blocks of 1,024, each number in as few bits as its block needs; any range of them is decoded by
// itself. docs/reference/compressed_files.md has the layout, byte by byte.
//
// An entry is its blocks, end to end, and behind them one record for each: base, place, kind, bits, digits,
// flags and the number of outliers. A block is codes of `bits` bits, the lowest first; a word where the
// record says so; and outliers: their places, uint16, and their values. Words are 1, 2, 4 or 8 bytes, little
// endian, and sums wrap. Nothing is trusted: each record is copied and checked by the read that uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "varlen/status.hpp"
#include "varlen/views.hpp"

namespace varlen {

inline constexpr std::int64_t kBlockNumbers = 1024;
inline constexpr std::int64_t kRecordBytes = 24;

/// What the metadata of a file of such entries says as its format.
inline constexpr std::string_view kBitsFormat = "varlen.bits";

/// How the codes of a block become numbers.
enum class BlockKind : std::uint8_t {
  plain,     ///< no codes: the words as they are
  frame,     ///< base + code
  steps,     ///< the word, then the number before + base + code
  decimals,  ///< (base + code) / 10**digits, in float32 or float64
};

/// What the words of an entry are.
enum class WordKind : std::uint8_t { number, signed_number, real };

/// What is wrong with a block: `value` of a Status with Code::bad_block, whose `where` is the block.
enum class BlockFault : std::uint8_t { records, kind, bits, digits, past_end, outlier };

/// What is wrong, for an error's text.
[[nodiscard]] const char* fault_text(BlockFault fault) noexcept;

/// An entry, as it lies in a file.
struct BitBlocks {
  const std::byte* data = nullptr;
  std::int64_t size = 0;
  std::int64_t count = 0;  ///< of the numbers
  std::int64_t width = 1;  ///< bytes of a word: 1, 2, 4 or 8

  [[nodiscard]] constexpr std::int64_t blocks() const noexcept {
    return count / kBlockNumbers + (count % kBlockNumbers != 0 ? 1 : 0);
  }
};

/// Numbers [begin, end) to out, `width` bytes each. The range lies in the entry. Fails with bad_block; what
/// was written to out before is then without meaning.
Status decode_bits(const BitBlocks& blocks, Range numbers, std::byte* out) noexcept;

/// The blocks of numbers of `width` bytes, which need not be aligned, to `data`, which has count * width
/// bytes, and their records, 24 bytes each. The first block lies at `place` of the entry. Returns the bytes
/// of the blocks. Threaded by blocks.
std::int64_t encode_bits(const std::byte* numbers, std::int64_t count, std::int64_t width, WordKind kind,
                         std::int64_t place, std::byte* data, std::byte* records) noexcept;

}  // namespace varlen
