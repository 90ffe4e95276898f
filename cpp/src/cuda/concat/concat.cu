#include <algorithm>

#include "support/move.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/concat.hpp"

namespace varlen::cuda {

namespace {

/// A table that goes with the launch, or lies on the device.
template <class Input>
struct Table {
  Input few[kFewInputs];
  View<const Input> mirror;
  std::int64_t count;

  Table(const Input* inputs, const Input* on_device, std::int64_t n) noexcept : few{}, mirror{}, count(n) {
    if (n <= kFewInputs) {
      std::copy(inputs, inputs + n, few);
    } else {
      mirror = {on_device, n};
    }
  }
  [[nodiscard]] VARLEN_DEVICE const Input& operator[](std::int64_t i) const {
    return mirror.data != nullptr ? mirror[i] : few[i];
  }
};

/// Where each word of the output comes from: rows are words.
struct EndToEnd {
  Table<ConcatBlock> blocks;
  std::int64_t word;

  [[nodiscard]] VARLEN_DEVICE std::int64_t holding(std::int64_t byte, std::int64_t low,
                                                   std::int64_t high) const {
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (blocks[middle].end <= byte) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  [[nodiscard]] VARLEN_DEVICE Candidates scope(std::int64_t first, std::int64_t last) const {
    const std::int64_t begin = holding(first * word, 0, blocks.count - 1);
    return {begin, holding(last * word, begin, blocks.count - 1)};
  }
  [[nodiscard]] VARLEN_DEVICE const std::byte* source(const Candidates& candidates, std::int64_t row) const {
    const std::int64_t i = holding(row * word, candidates.first, candidates.last);
    return blocks[i].data + (row * word - (i > 0 ? blocks[i - 1].end : 0));
  }
};

/// Sequence i of every part, then sequence i + 1.
struct InterleaveMap : InSequences {
  Table<Part> parts;
  std::int64_t width;

  [[nodiscard]] VARLEN_DEVICE const std::byte* source(const Candidates& candidates, std::int64_t row) const {
    const std::int64_t i = sequence(candidates, row);
    std::int64_t place = row - level.start(i);
    for (std::int64_t p = 0; p < parts.count; ++p) {
      const Ends part{{parts[p].ends, level.count()}};
      const std::int64_t start = part.start(i);
      const std::int64_t length = part.end(i) - start;
      if (place < length) return parts[p].data + (start + place) * width;
      place -= length;
    }
    return nullptr;
  }
};

}  // namespace

Error concat(Stream stream, const ConcatBlock* blocks, const ConcatBlock* mirror, std::int64_t n,
             std::byte* out) noexcept {
  const std::int64_t bytes = n > 0 ? blocks[n - 1].end : 0;
  if (bytes == 0) return 0;
  std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(out) | 16;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t start = i > 0 ? blocks[i - 1].end : 0;
    if (blocks[i].end == start) continue;  // wherever it lies, nothing is read
    bits |= reinterpret_cast<std::uintptr_t>(blocks[i].data) | static_cast<std::uintptr_t>(blocks[i].end);
  }
  const std::int64_t word = word_of(16, {reinterpret_cast<const void*>(bits)});
  const EndToEnd map{{blocks, mirror, n}, word};
  return collect_rows(stream, map, word, bits, bytes / word, out);
}

Error interleave(Stream stream, const Part* parts, const Part* mirror, std::int64_t n, std::int64_t width,
                 Offsets result, std::int64_t total, std::byte* out) noexcept {
  std::uintptr_t bits = 0;
  for (std::int64_t p = 0; p < n; ++p) bits |= reinterpret_cast<std::uintptr_t>(parts[p].data);
  const InterleaveMap map{{ends_of(result)}, {parts, mirror, n}, width};
  return collect_rows(stream, map, width, bits, total, out);
}

}  // namespace varlen::cuda
