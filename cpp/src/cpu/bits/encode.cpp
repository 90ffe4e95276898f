// Numbers to blocks of bits: each block takes the kind that needs the fewest bytes.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "record.hpp"
#include "varlen/bits.hpp"
#include "varlen/pool.hpp"

namespace varlen {
namespace bits {
namespace {

// A kind has to save this much against the one before it, which is read faster: a sixteenth.
constexpr std::int64_t kWorth = 16;

// A block's numbers are tried with so many digits by a few of them, before all are.
constexpr std::int64_t kSample = 32;

template <class T>
using Words = std::array<T, kBlockNumbers>;
using Places = std::array<std::uint16_t, kBlockNumbers>;

/// A way to write a block, and what it costs.
struct Draft {
  BlockRecord record;
  std::int64_t bytes = 0;
};

/// How many codes there are of each width, and how many numbers have none.
struct Widths {
  std::array<std::int64_t, 65> counts{};
  std::int64_t outliers = 0;

  /// The bits, and the bytes that codes and outliers take then.
  [[nodiscard]] std::int64_t cheapest(std::int64_t n, std::int64_t width, std::uint8_t& bits) const noexcept {
    std::int64_t minimum = INT64_MAX;
    std::int64_t count = outliers;
    for (int b = 64; b >= 0; --b) {
      if (b <= 8 * width) {
        const std::int64_t cost = code_bytes(n, b) + count * (2 + width);
        if (cost <= minimum) {
          minimum = cost;
          bits = static_cast<std::uint8_t>(b);
        }
      }
      count += counts[static_cast<std::size_t>(b)];
    }
    return minimum;
  }
};

/// Codes, the lowest bit first, to bytes.
class CodeWriter {
 public:
  CodeWriter(std::byte* out, int bits) noexcept : out_(out), bits_(bits) {}

  void put(std::uint64_t code) noexcept {
    word_ |= code << fill_;
    if (fill_ + bits_ >= 64) {
      store(out_, word_);
      out_ += 8;
      const int rest = fill_ + bits_ - 64;
      word_ = rest == 0 ? 0 : code >> (bits_ - rest);
      fill_ = rest;
    } else {
      fill_ += bits_;
    }
  }
  std::byte* finish() noexcept {
    const int size = (fill_ + 7) / 8;
    std::memcpy(out_, &word_, static_cast<std::size_t>(size));
    return out_ + size;
  }

 private:
  std::byte* out_;
  int bits_;
  int fill_ = 0;
  std::uint64_t word_ = 0;
};

/// Numbers less `base` that wrap in their own width.
template <class T>
std::uint64_t offset_of(T number, std::uint64_t base) noexcept {
  return static_cast<T>(number - static_cast<T>(base));
}

template <class T>
Draft draft_frame(const T* numbers, std::int64_t n, bool is_signed) noexcept {
  using SignedWord = std::make_signed_t<T>;
  T minimum = numbers[0];
  for (std::int64_t i = 1; i < n; ++i) {
    const bool is_less = is_signed ? static_cast<SignedWord>(numbers[i]) < static_cast<SignedWord>(minimum)
                                   : numbers[i] < minimum;
    minimum = is_less ? numbers[i] : minimum;
  }
  Draft draft;
  draft.record.kind = BlockKind::frame;
  draft.record.base = minimum;
  Widths widths;
  for (std::int64_t i = 0; i < n; ++i) {
    ++widths.counts[static_cast<std::size_t>(std::bit_width(offset_of(numbers[i], minimum)))];
  }
  draft.bytes = widths.cheapest(n, sizeof(T), draft.record.bits);
  return draft;
}

template <class T>
Draft draft_steps(const T* numbers, std::int64_t n) noexcept {
  using SignedWord = std::make_signed_t<T>;
  Draft draft;
  draft.record.kind = BlockKind::steps;
  draft.record.flags = kHasWord;
  SignedWord minimum = 0;
  SignedWord maximum = 0;
  for (std::int64_t i = 1; i < n; ++i) {
    const auto step = static_cast<SignedWord>(static_cast<T>(numbers[i] - numbers[i - 1]));
    minimum = i == 1 ? step : std::min(minimum, step);
    maximum = i == 1 ? step : std::max(maximum, step);
  }
  draft.record.base = static_cast<T>(minimum);
  const T range = static_cast<T>(static_cast<T>(maximum) - static_cast<T>(minimum));
  draft.record.bits = static_cast<std::uint8_t>(std::bit_width(std::uint64_t{range}));
  draft.bytes = code_bytes(n, draft.record.bits) + static_cast<std::int64_t>(sizeof(T));
  return draft;
}

/// Real numbers as whole ones over 10**digits, where that is what they are, bit by bit.
template <class F>
class Decimals {
 public:
  using T = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;

  Decimals(const T* numbers, std::int64_t n) noexcept : numbers_(numbers), n_(n) {}

  Draft draft() noexcept {
    Draft draft;
    draft.bytes = INT64_MAX;
    if (!find_digits()) return draft;
    count_rest();
    std::int64_t minimum = INT64_MAX;
    for (std::int64_t i = 0; i < n_; ++i) {
      if (is_integer(i)) minimum = std::min(minimum, integers_[at(i)]);
    }
    minimum = minimum == INT64_MAX ? 0 : minimum;
    BlockRecord& record = draft.record;
    record.kind = BlockKind::decimals;
    record.digits = digits_;
    record.base = static_cast<std::uint64_t>(minimum);
    record.flags = has_word_ ? kHasWord : 0;
    Widths widths;
    for (std::int64_t i = 0; i < n_; ++i) {
      if (is_integer(i)) {
        // The top code is that of the word.
        const auto code = static_cast<std::uint64_t>(integers_[at(i)] - minimum);
        ++widths.counts[static_cast<std::size_t>(std::bit_width(code + (has_word_ ? 1 : 0)))];
      } else if (!is_word(i)) {
        ++widths.outliers;
      }
    }
    draft.bytes =
        widths.cheapest(n_, sizeof(T), record.bits) + (has_word_ ? static_cast<std::int64_t>(sizeof(T)) : 0);
    return draft;
  }

  [[nodiscard]] T word() const noexcept { return word_; }

  /// The code of a number; false for an outlier.
  bool code(std::int64_t i, const BlockRecord& record, std::uint64_t& code) const noexcept {
    const std::uint64_t top = record.bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - record.bits);
    if (has_word_ && is_word(i)) {
      code = top;
      return true;
    }
    code = 0;
    if (!is_integer(i)) return false;
    const auto offset = static_cast<std::uint64_t>(integers_[at(i)]) - record.base;
    if (has_word_ ? offset >= top : offset > top) return false;
    code = offset;
    return true;
  }

 private:
  // Below it whole numbers, and what lies between two of them, are those of F.
  static constexpr double kMostInteger = sizeof(F) == 4 ? 8388608.0 : 2251799813685248.0;
  // 1.5 times 2**52: a sum with it rounds to a whole number, ties to even, as the machine does.
  static constexpr double kRounder = 6755399441055744.0;
  static constexpr std::uint8_t kMostTrials = sizeof(F) == 4 ? 7 : 12;
  static constexpr std::int64_t kNoInteger = INT64_MAX;

  [[nodiscard]] static std::size_t at(std::int64_t i) noexcept { return static_cast<std::size_t>(i); }
  [[nodiscard]] bool is_integer(std::int64_t i) const noexcept { return integers_[at(i)] != kNoInteger; }
  [[nodiscard]] bool is_word(std::int64_t i) const noexcept { return has_word_ && numbers_[i] == word_; }

  /// The whole number, kNoInteger where there is none.
  [[nodiscard]] static std::int64_t integer_of(T bits, std::uint8_t digits) noexcept {
    const F number = std::bit_cast<F>(bits);
    const double product = static_cast<double>(number) * kPowers[digits];
    if (!(std::fabs(product) < kMostInteger)) return kNoInteger;
    const double integer = (product + kRounder) - kRounder;
    const F back = (static_cast<F>(integer) + F{0}) / static_cast<F>(kPowers[digits]);
    return std::bit_cast<T>(back) == bits ? static_cast<std::int64_t>(integer) : kNoInteger;
  }

  bool find_digits() noexcept {
    const std::int64_t step = std::max<std::int64_t>(1, n_ / kSample);
    std::int64_t maximum = -1;
    std::int64_t trials = 0;
    for (std::uint8_t digits = 0; digits <= kMostTrials; ++digits) {
      std::int64_t fits = 0;
      trials = 0;
      for (std::int64_t i = 0; i < n_; i += step) {
        const F number = std::bit_cast<F>(numbers_[i]);
        if (std::isnan(number)) continue;
        ++trials;
        fits += integer_of(numbers_[i], digits) != kNoInteger ? 1 : 0;
      }
      if (fits > maximum) {
        maximum = fits;
        digits_ = digits;
      }
      if (fits == trials) break;
    }
    return 2 * maximum >= trials;
  }

  /// The whole numbers, and the word: what most of those without one are.
  void count_rest() noexcept {
    std::int64_t lead = 0;
    for (std::int64_t i = 0; i < n_; ++i) {
      integers_[at(i)] = integer_of(numbers_[i], digits_);
      if (is_integer(i)) continue;
      if (lead == 0) word_ = numbers_[i];
      lead += numbers_[i] == word_ ? 1 : -1;
    }
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < n_; ++i) count += !is_integer(i) && numbers_[i] == word_ ? 1 : 0;
    has_word_ = count > 2;
  }

  const T* numbers_;
  std::int64_t n_;
  std::array<std::int64_t, kBlockNumbers> integers_;
  std::uint8_t digits_ = 0;
  bool has_word_ = false;
  T word_ = 0;
};

/// Outliers while codes are written.
template <class T>
struct Outliers {
  Places places;
  Words<T> values;
  std::size_t count = 0;

  void add(std::int64_t place, T value) noexcept {
    places[count] = static_cast<std::uint16_t>(place);
    values[count++] = value;
  }
  std::byte* write(std::byte* to) const noexcept {
    std::memcpy(to, places.data(), 2 * count);
    std::memcpy(to + 2 * count, values.data(), sizeof(T) * count);
    return to + (2 + sizeof(T)) * count;
  }
};

template <class T>
std::byte* write_frame(const T* numbers, std::int64_t n, BlockRecord& record, std::byte* out) noexcept {
  Outliers<T> outliers;
  CodeWriter writer(out, record.bits);
  const std::uint64_t top = record.bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - record.bits);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t code = offset_of(numbers[i], record.base);
    if (code > top) outliers.add(i, numbers[i]);
    writer.put(code > top ? 0 : code);
  }
  record.outliers = static_cast<std::uint16_t>(outliers.count);
  return outliers.write(writer.finish());
}

template <class T>
std::byte* write_steps(const T* numbers, std::int64_t n, const BlockRecord& record, std::byte* out) noexcept {
  CodeWriter writer(out, record.bits);
  writer.put(0);
  for (std::int64_t i = 1; i < n; ++i) {
    writer.put(offset_of(static_cast<T>(numbers[i] - numbers[i - 1]), record.base));
  }
  std::byte* const end = writer.finish();
  store(end, numbers[0]);
  return end + sizeof(T);
}

template <class F>
std::byte* write_decimals(const Decimals<F>& decimals, const typename Decimals<F>::T* numbers, std::int64_t n,
                          BlockRecord& record, std::byte* out) noexcept {
  using T = typename Decimals<F>::T;
  Outliers<T> outliers;
  CodeWriter writer(out, record.bits);
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint64_t code = 0;
    if (!decimals.code(i, record, code)) outliers.add(i, numbers[i]);
    writer.put(code);
  }
  std::byte* end = writer.finish();
  if ((record.flags & kHasWord) != 0) {
    store(end, decimals.word());
    end += sizeof(T);
  }
  record.outliers = static_cast<std::uint16_t>(outliers.count);
  return outliers.write(end);
}

[[nodiscard]] bool is_worth(std::int64_t bytes, std::int64_t than) noexcept {
  return bytes < than - than / kWorth;
}

template <class T>
std::int64_t encode_block(const std::byte* input, std::int64_t n, WordKind kind, std::byte* block,
                          BlockRecord& record) noexcept {
  const std::int64_t plain = n * static_cast<std::int64_t>(sizeof(T));
  Words<T> words;
  const T* const numbers = words.data();
  std::memcpy(words.data(), input, static_cast<std::size_t>(plain));
  record = {};
  std::byte* end = nullptr;
  Draft draft = draft_frame(numbers, n, kind == WordKind::signed_number);
  if (kind == WordKind::real) {
    if constexpr (sizeof(T) >= 4) {
      using F = std::conditional_t<sizeof(T) == 4, float, double>;
      Decimals<F> decimals(numbers, n);
      Draft rival = decimals.draft();
      if (is_worth(rival.bytes, std::min(draft.bytes, plain))) {
        record = rival.record;
        end = write_decimals(decimals, numbers, n, record, block);
      }
    }
  } else if (const Draft rival = draft_steps(numbers, n); is_worth(rival.bytes, draft.bytes)) {
    draft = rival;
  }
  if (end == nullptr && is_worth(draft.bytes, plain)) {
    record = draft.record;
    end = record.kind == BlockKind::steps ? write_steps(numbers, n, record, block)
                                          : write_frame(numbers, n, record, block);
  }
  if (end == nullptr) {
    std::memcpy(block, input, static_cast<std::size_t>(plain));
    end = block + plain;
  }
  return end - block;
}

// Blocks of a chunk: the work on one takes 10 to 100 us.
constexpr std::int64_t kChunkBlocks = 16;

template <class T>
std::int64_t encode(const std::byte* numbers, std::int64_t count, WordKind kind, std::int64_t place,
                    std::byte* data, std::byte* records) noexcept {
  constexpr auto kWidth = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t blocks = BitBlocks{nullptr, 0, count, kWidth}.blocks();
  // Each block where it has room in any case, its bytes in the place of its record; then one behind another.
  parallel((blocks + kChunkBlocks - 1) / kChunkBlocks, [&](std::int64_t chunk) {
    const std::int64_t last = std::min(blocks, (chunk + 1) * kChunkBlocks);
    for (std::int64_t b = chunk * kChunkBlocks; b < last; ++b) {
      const std::int64_t first = b * kBlockNumbers;
      BlockRecord record;
      const std::int64_t bytes =
          encode_block<T>(numbers + first * kWidth, std::min(kBlockNumbers, count - first), kind,
                          data + first * kWidth, record);
      record.place = static_cast<std::uint64_t>(bytes);
      store(records + b * kRecordBytes, record);
    }
  });
  std::int64_t end = 0;
  for (std::int64_t b = 0; b < blocks; ++b) {
    auto record = load<BlockRecord>(records + b * kRecordBytes);
    const auto bytes = static_cast<std::int64_t>(record.place);
    std::memmove(data + end, data + b * kBlockNumbers * kWidth, static_cast<std::size_t>(bytes));
    record.place = static_cast<std::uint64_t>(place + end);
    store(records + b * kRecordBytes, record);
    end += bytes;
  }
  return end;
}

}  // namespace
}  // namespace bits

std::int64_t encode_bits(const std::byte* numbers, std::int64_t count, std::int64_t width, WordKind kind,
                         std::int64_t place, std::byte* data, std::byte* records) noexcept {
  switch (width) {
    case 1:
      return bits::encode<std::uint8_t>(numbers, count, kind, place, data, records);
    case 2:
      return bits::encode<std::uint16_t>(numbers, count, kind, place, data, records);
    case 4:
      return bits::encode<std::uint32_t>(numbers, count, kind, place, data, records);
    default:
      return bits::encode<std::uint64_t>(numbers, count, kind, place, data, records);
  }
}

}  // namespace varlen
