// Blocks of bits to numbers.
#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "record.hpp"
#include "support/dispatch.hpp"
#include "varlen/bits.hpp"

#ifdef VARLEN_AVX2
#include <immintrin.h>
#endif

namespace varlen {
namespace bits {
namespace {

/// The codes of a block: bytes that may be read, and how wide a code is.
struct Codes {
  const std::byte* data = nullptr;
  std::int64_t size = 0;
  int bits = 0;
};

constexpr std::uint64_t low_bits(int bits) noexcept {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

/// 64 bits from that byte on, zero past the end.
std::uint64_t word_at(const Codes& codes, std::int64_t byte) noexcept {
  if (byte + 8 <= codes.size) return load<std::uint64_t>(codes.data + byte);
  std::uint64_t word = 0;
  if (byte < codes.size) std::memcpy(&word, codes.data + byte, static_cast<std::size_t>(codes.size - byte));
  return word;
}

std::uint64_t code_at(const Codes& codes, std::int64_t i) noexcept {
  const std::int64_t bit = i * codes.bits;
  const int shift = static_cast<int>(bit & 7);
  std::uint64_t code = word_at(codes, bit >> 3) >> shift;
  if (shift + codes.bits > 64) {
    code |= static_cast<std::uint64_t>(codes.data[(bit >> 3) + 8]) << (64 - shift);
  }
  return code & low_bits(codes.bits);
}

template <class C>
void read_codes_one_by_one(const Codes& codes, std::int64_t begin, std::int64_t n, C* out) noexcept {
  const std::uint64_t mask = low_bits(codes.bits);
  std::int64_t i = 0;
  if (codes.bits <= 56) {
    // Codes that a read of 8 bytes may start at.
    const std::int64_t last = codes.size < 8 ? 0 : (codes.size - 8) * 8 / std::max(codes.bits, 1) - begin;
    for (const std::int64_t stop = std::min(n, last); i < stop; ++i) {
      const std::int64_t bit = (begin + i) * codes.bits;
      out[i] = static_cast<C>((load<std::uint64_t>(codes.data + (bit >> 3)) >> (bit & 7)) & mask);
    }
  }
  for (; i < n; ++i) out[i] = static_cast<C>(code_at(codes, begin + i));
}

#ifdef VARLEN_AVX2
// Codes of up to 25 bits lie, whatever bit they begin at, in 4 bytes; 8 of them take `bits` bytes, so that
// each eight is shuffled and shifted like the first. Four take 14 bytes at most: one read.
constexpr int kMostShuffled = 25;

/// Gives each eight codes to put(lanes, place), which writes what they become; returns how many there were.
template <class Put>
VARLEN_AVX2 std::int64_t read_eights(const Codes& codes, std::int64_t begin, std::int64_t n,
                                     const Put& put) noexcept {
  const std::int64_t first_bit = begin * codes.bits;
  const int phase = static_cast<int>(first_bit & 7);
  alignas(32) std::int8_t shuffle[32];
  alignas(32) std::int32_t shifts[8];
  const int half = (phase + 4 * codes.bits) >> 3;
  for (int i = 0; i < 8; ++i) {
    const int bit = phase + i * codes.bits;
    const int byte = (bit >> 3) - (i < 4 ? 0 : half);
    for (int k = 0; k < 4; ++k) shuffle[4 * i + k] = static_cast<std::int8_t>(byte + k);
    shifts[i] = bit & 7;
  }
  const __m256i order = _mm256_load_si256(reinterpret_cast<const __m256i*>(shuffle));
  const __m256i shift = _mm256_load_si256(reinterpret_cast<const __m256i*>(shifts));
  const __m256i mask = _mm256_set1_epi32(static_cast<int>(low_bits(codes.bits)));
  const std::byte* from = codes.data + (first_bit >> 3);
  std::int64_t i = 0;
  for (; i + 8 <= n && codes.data + codes.size - from >= half + 16; i += 8, from += codes.bits) {
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + half));
    const __m256i pair = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    const __m256i lanes = _mm256_srlv_epi32(_mm256_shuffle_epi8(pair, order), shift);
    put(_mm256_and_si256(lanes, mask), i);
  }
  return i;
}

/// Codes as they are.
struct PutCodes {
  std::uint32_t* out;

  VARLEN_AVX2 void operator()(const __m256i& lanes, std::int64_t i) const noexcept {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), lanes);
  }
};

/// Codes and a base, as words of 4 or 8 bytes.
template <class T>
struct PutFrame {
  T base;
  T* out;

  VARLEN_AVX2 void operator()(const __m256i& lanes, std::int64_t i) const noexcept {
    auto* const to = reinterpret_cast<__m256i*>(out + i);
    if constexpr (sizeof(T) == 4) {
      _mm256_storeu_si256(to, _mm256_add_epi32(lanes, _mm256_set1_epi32(static_cast<int>(base))));
    } else {
      const __m256i bases = _mm256_set1_epi64x(static_cast<std::int64_t>(base));
      const __m256i low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(lanes));
      const __m256i high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256(lanes, 1));
      _mm256_storeu_si256(to, _mm256_add_epi64(low, bases));
      _mm256_storeu_si256(to + 1, _mm256_add_epi64(high, bases));
    }
  }
};

// The same of wider codes: each lies in 8 bytes, two of them in 16.
constexpr int kMostWide = 57;

template <class C>
VARLEN_AVX2 std::int64_t read_fours(const Codes& codes, std::int64_t begin, std::int64_t n, C* out) noexcept {
  const std::int64_t first_bit = begin * codes.bits;
  const int phase = static_cast<int>(first_bit & 7);
  alignas(32) std::int8_t shuffle[2][32];
  alignas(32) std::int64_t shifts[2][4];
  std::int64_t starts[4];  // of each two, in bytes
  for (int i = 0; i < 8; ++i) {
    const int bit = phase + i * codes.bits;
    if (i % 2 == 0) starts[i / 2] = bit >> 3;
    const int byte = static_cast<int>((bit >> 3) - starts[i / 2]);
    for (int k = 0; k < 8; ++k) {
      // A code of 8 bytes may begin in the last of 16: what is past them are bits of no code.
      shuffle[i / 4][8 * (i % 4) + k] = static_cast<std::int8_t>(byte + k < 16 ? byte + k : -1);
    }
    shifts[i / 4][i % 4] = bit & 7;
  }
  const __m256i mask = _mm256_set1_epi64x(static_cast<std::int64_t>(low_bits(codes.bits)));
  const std::byte* from = codes.data + (first_bit >> 3);
  std::int64_t i = 0;
  for (const std::int64_t past = starts[3] + 16; i + 8 <= n && codes.data + codes.size - from >= past;
       i += 8, from += codes.bits) {
    for (std::int64_t half = 0; half < 2; ++half) {
      const auto* const low = reinterpret_cast<const __m128i*>(from + starts[2 * half]);
      const auto* const high = reinterpret_cast<const __m128i*>(from + starts[2 * half + 1]);
      const __m256i pair =
          _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(low)), _mm_loadu_si128(high), 1);
      const __m256i order = _mm256_load_si256(reinterpret_cast<const __m256i*>(shuffle[half]));
      const __m256i shift = _mm256_load_si256(reinterpret_cast<const __m256i*>(shifts[half]));
      const __m256i lanes =
          _mm256_and_si256(_mm256_srlv_epi64(_mm256_shuffle_epi8(pair, order), shift), mask);
      if constexpr (sizeof(C) == 8) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i + 4 * half), lanes);
      } else {
        const __m256i evens = _mm256_permutevar8x32_epi32(lanes, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i + 4 * half), _mm256_castsi256_si128(evens));
      }
    }
  }
  return i;
}

// Fewer codes are read one by one: what is set up above takes as long as some ten of them.
constexpr std::int64_t kFewCodes = 16;
#endif

template <class C>
void read_codes(const Codes& codes, std::int64_t begin, std::int64_t n, C* out) noexcept {
  if (codes.bits == 0) {
    std::memset(out, 0, static_cast<std::size_t>(n) * sizeof *out);
    return;
  }
  std::int64_t count = 0;
#ifdef VARLEN_AVX2
  if (n >= kFewCodes && runs(Isa::avx2)) {
    if (sizeof(C) == 4 && codes.bits <= kMostShuffled) {
      count = read_eights(codes, begin, n, PutCodes{reinterpret_cast<std::uint32_t*>(out)});
    } else if (codes.bits <= kMostWide) {
      count = read_fours(codes, begin, n, out);
    }
  }
#endif
  read_codes_one_by_one(codes, begin + count, n - count, out + count);
}

template <class T, class C>
VARLEN_LOOP void add_base(const C* codes, std::int64_t n, T base, T* out) noexcept {
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(base + static_cast<T>(codes[i]));
}

/// What decimals need beside their codes. The top code, where it has one, stands for a word.
template <class F>
struct Scale {
  F base = 0;
  F power = 1;
  F word = 0;
  std::uint64_t top = 0;
  bool has_top = false;
};

template <class F, class C>
VARLEN_LOOP void scale(const C* codes, std::int64_t n, const Scale<F>& how, F* out) noexcept {
  using Integer =
      std::conditional_t<sizeof(C) == 4, std::int32_t, std::int64_t>;  // AVX2 converts signed ones
  for (std::int64_t i = 0; i < n; ++i) {
    out[i] = (how.base + static_cast<F>(static_cast<Integer>(codes[i]))) / how.power;
  }
}

template <class F, class C>
VARLEN_LOOP void place_word(const C* codes, std::int64_t n, const Scale<F>& how, F* out) noexcept {
  using Bits = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;
  const C top = static_cast<C>(how.top);
  const Bits word = std::bit_cast<Bits>(how.word);
  for (std::int64_t i = 0; i < n; ++i) {
    Bits bits;
    std::memcpy(&bits, out + i, sizeof bits);
    bits = codes[i] == top ? word : bits;
    std::memcpy(out + i, &bits, sizeof bits);
  }
}

// Codes are read into this many words on the stack: two of it stay in the first cache.
constexpr std::int64_t kPart = 512;

/// Calls body(codes, at, count) for parts of numbers [begin, end), counted from begin.
template <class C, class Body>
void each_part(const Codes& codes, Range numbers, Body body) noexcept {
  alignas(64) C part[kPart];
  for (std::int64_t at = 0; at < numbers.size(); at += kPart) {
    const std::int64_t n = std::min(kPart, numbers.size() - at);
    read_codes(codes, numbers.begin + at, n, part);
    body(part, at, n);
  }
}

template <class T, class C>
void decode_frame(const Codes& codes, const BlockRecord& record, Range numbers, T* out) noexcept {
  const auto base = static_cast<T>(record.base);
  std::int64_t count = 0;
#ifdef VARLEN_AVX2
  if constexpr (sizeof(T) >= 4) {
    // By eights codes become words without a stop.
    if (codes.bits > 0 && codes.bits <= kMostShuffled && numbers.size() >= kFewCodes && runs(Isa::avx2)) {
      count = read_eights(codes, numbers.begin, numbers.size(), PutFrame<T>{base, out});
    }
  }
#endif
  each_part<C>(codes, {numbers.begin + count, numbers.end},
               [&](const C* part, std::int64_t at, std::int64_t n) {
                 best<add_base<T, C>>(part, n, base, out + count + at);
               });
}

template <class F, class C>
void decode_decimals(const Codes& codes, const BlockRecord& record, F word, Range numbers, F* out) noexcept {
  Scale<F> how;
  how.base = static_cast<F>(static_cast<std::int64_t>(record.base));
  how.power = static_cast<F>(kPowers[record.digits]);
  how.word = word;
  how.has_top = (record.flags & kHasWord) != 0;
  how.top = low_bits(codes.bits);
  each_part<C>(codes, numbers, [&](const C* part, std::int64_t at, std::int64_t n) {
    best<scale<F, C>>(part, n, how, out + at);
    if (how.has_top) best<place_word<F, C>>(part, n, how, out + at);
  });
}

/// Each number needs those before it in the block. The first code is 0, and no step.
template <class T, class C>
void decode_steps(const Codes& codes, const BlockRecord& record, T word, Range numbers, T* out) noexcept {
  const auto base = static_cast<T>(record.base);
  T number = static_cast<T>(word - base);
  each_part<C>(codes, {0, numbers.begin}, [&](const C* part, std::int64_t, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) number = static_cast<T>(number + static_cast<T>(part[i]));
    number = static_cast<T>(number + base * static_cast<T>(n));
  });
  each_part<C>(codes, numbers, [&](const C* part, std::int64_t at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      number = static_cast<T>(number + static_cast<T>(base + static_cast<T>(part[i])));
      out[at + i] = number;
    }
  });
}

Status refusal(std::int64_t block, BlockFault fault) noexcept {
  return {Code::bad_block, block, static_cast<std::int64_t>(fault)};
}

/// A block whose record was checked: where its parts begin.
template <class T>
struct Block {
  Codes codes;
  BlockRecord record;
  T word = 0;
  const std::byte* places = nullptr;
  const std::byte* values = nullptr;
};

/// Writes the outliers among the numbers; false where one has no place in a block of `count` numbers.
template <class T>
bool place_outliers(const Block<T>& block, std::int64_t count, Range numbers, std::byte* out) noexcept {
  constexpr auto kWidth = static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t k = 0; k < block.record.outliers; ++k) {
    const std::int64_t place = load<std::uint16_t>(block.places + 2 * k);
    if (place >= count) return false;
    if (place < numbers.begin || place >= numbers.end) continue;
    std::memcpy(out + (place - numbers.begin) * kWidth, block.values + k * kWidth, sizeof(T));
  }
  return true;
}

/// The numbers of a block whose codes are at hand; `out` is aligned.
template <class T>
Status decode_codes(const Block<T>& block, std::int64_t number, Range numbers, std::byte* out) noexcept {
  const BlockRecord& record = block.record;
  T* const words = reinterpret_cast<T*>(out);
  if (record.kind == BlockKind::steps && record.bits <= 32) {
    decode_steps<T, std::uint32_t>(block.codes, record, block.word, numbers, words);
  } else if (record.kind == BlockKind::steps) {
    decode_steps<T, std::uint64_t>(block.codes, record, block.word, numbers, words);
  } else if (record.kind == BlockKind::frame && record.bits <= 32) {
    decode_frame<T, std::uint32_t>(block.codes, record, numbers, words);
  } else if (record.kind == BlockKind::frame) {
    decode_frame<T, std::uint64_t>(block.codes, record, numbers, words);
  } else if constexpr (sizeof(T) >= 4) {
    using F = std::conditional_t<sizeof(T) == 4, float, double>;
    if (record.digits > kMostDigits) return refusal(number, BlockFault::digits);
    const F word = std::bit_cast<F>(block.word);
    F* const reals = reinterpret_cast<F*>(out);
    if (record.bits <= 31) {
      decode_decimals<F, std::uint32_t>(block.codes, record, word, numbers, reals);
    } else {
      decode_decimals<F, std::uint64_t>(block.codes, record, word, numbers, reals);
    }
  } else {
    return refusal(number, BlockFault::kind);
  }
  return {};
}

/// Numbers of one block, which has `count` of them, to aligned memory.
template <class T>
Status decode_block(const BitBlocks& blocks, std::int64_t number, std::int64_t count, Range numbers,
                    std::byte* out) noexcept {
  constexpr auto kWidth = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t room = blocks.size - blocks.blocks() * kRecordBytes;  // of all blocks
  Block<T> block;
  block.record = load<BlockRecord>(blocks.data + room + number * kRecordBytes);
  const BlockRecord& record = block.record;
  if (record.kind > BlockKind::decimals) return refusal(number, BlockFault::kind);
  if (record.bits > 8 * kWidth) return refusal(number, BlockFault::bits);
  const bool is_plain = record.kind == BlockKind::plain;
  const bool has_word = !is_plain && ((record.flags & kHasWord) != 0 || record.kind == BlockKind::steps);
  if (is_plain) block.record.outliers = 0;
  const std::int64_t code_size = is_plain ? count * kWidth : code_bytes(count, record.bits);
  const std::int64_t word_size = has_word ? kWidth : 0;
  const std::int64_t outliers = record.outliers;
  if (record.place > static_cast<std::uint64_t>(room)) return refusal(number, BlockFault::past_end);
  const auto place = static_cast<std::int64_t>(record.place);
  if (code_size + word_size + outliers * (2 + kWidth) > room - place) {
    return refusal(number, BlockFault::past_end);
  }
  const std::byte* const data = blocks.data + place;
  if (is_plain) {
    std::memcpy(out, data + numbers.begin * kWidth, static_cast<std::size_t>(numbers.size() * kWidth));
    return {};
  }
  block.codes = {data, room - place, record.bits};
  if (has_word) block.word = load<T>(data + code_size);
  block.places = data + code_size + word_size;
  block.values = block.places + 2 * outliers;
  const Status status = decode_codes<T>(block, number, numbers, out);
  if (!status.ok()) return status;
  if (!place_outliers(block, count, numbers, out)) return refusal(number, BlockFault::outlier);
  return {};
}

template <class T>
Status decode(const BitBlocks& blocks, Range numbers, std::byte* out) noexcept {
  constexpr auto kWidth = static_cast<std::int64_t>(sizeof(T));
  if (blocks.size / kRecordBytes < blocks.blocks()) {
    return refusal(blocks.size / kRecordBytes, BlockFault::records);
  }
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(out) % sizeof(T) == 0;
  for (std::int64_t at = numbers.begin; at < numbers.end;) {
    const std::int64_t number = at / kBlockNumbers;
    const std::int64_t first = number * kBlockNumbers;
    const std::int64_t count = std::min(kBlockNumbers, blocks.count - first);
    const Range part{at - first, std::min(count, numbers.end - first)};
    Status status;
    if (is_aligned) {
      status = decode_block<T>(blocks, number, count, part, out);
    } else {
      alignas(T) std::byte aligned[kBlockNumbers * kWidth];
      status = decode_block<T>(blocks, number, count, part, aligned);
      if (status.ok()) std::memcpy(out, aligned, static_cast<std::size_t>(part.size() * kWidth));
    }
    if (!status.ok()) return status;
    out += part.size() * kWidth;
    at = first + part.end;
  }
  return {};
}

}  // namespace
}  // namespace bits

const char* fault_text(BlockFault fault) noexcept {
  switch (fault) {
    case BlockFault::records:
      return "has no record";
    case BlockFault::kind:
      return "is of a kind that its numbers cannot have";
    case BlockFault::bits:
      return "has codes that are wider than its numbers";
    case BlockFault::digits:
      return "has too many digits";
    case BlockFault::past_end:
      return "ends past the end of its entry";
    case BlockFault::outlier:
      return "has an outlier past its end";
  }
  return "is damaged";
}

Status decode_bits(const BitBlocks& blocks, Range numbers, std::byte* out) noexcept {
  switch (blocks.width) {
    case 1:
      return bits::decode<std::uint8_t>(blocks, numbers, out);
    case 2:
      return bits::decode<std::uint16_t>(blocks, numbers, out);
    case 4:
      return bits::decode<std::uint32_t>(blocks, numbers, out);
    default:
      return bits::decode<std::uint64_t>(blocks, numbers, out);
  }
}

}  // namespace varlen
