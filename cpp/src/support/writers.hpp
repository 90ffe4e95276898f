// Where padding puts its bytes: runs of data and of fill, one after another, in ascending order.
// Cached: ordinary stores. A run may run over its own end inside `limit`, because what follows is written
// later. PastCaches: lines of 64 bytes are put together and stored past the caches, across rows and runs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "pattern.hpp"
#include "varlen/copy.hpp"

namespace varlen {

class CacheWriter {
 public:
  // Past this libc's own loops are as fast.
  static constexpr std::int64_t kInline = 256;

  CacheWriter(std::byte* to, std::byte* end, const Pattern& fill) noexcept
      : out(to), limit(end), pattern(fill) {}

  /// `input` points into the array [begin, end), which may be read anywhere.
  void copy(const std::byte* input, std::int64_t n, const std::byte* /*begin*/,
            const std::byte* end) noexcept {
    if (n < kInline && limit - out >= n + kWideBytes && end - input >= n + kWideBytes) {
      copy_over(out, input, n);
    } else {
      copy_bytes(out, input, n);
    }
    out += n;
  }

  void fill(std::int64_t n) noexcept {
    if (pattern.repeats_in_vector()) {
      if (n < kInline && limit - out >= n + kWideBytes) {
        fill_over(out, n, pattern.bytes);
      } else if (pattern.uniform) {
        fill_bytes(out, pattern.bytes[0], n);
      } else {
        repeat(n);
      }
    } else if (n > 0) {
      repeat(n);
    }
    out += n;
  }

  void ones(std::int64_t n) noexcept {
    if (n < kInline && limit - out >= n + kWideBytes) {
      fill_over(out, n, kOnes.data());
    } else {
      fill_bytes(out, std::byte{1}, n);
    }
    out += n;
  }

  void finish() noexcept {}

  std::byte* out;
  std::byte* limit;
  const Pattern& pattern;

 private:
  void repeat(std::int64_t n) noexcept {
    std::byte* place = out;
    const std::byte* row = pattern.wide != nullptr ? pattern.wide : pattern.bytes;
    const std::int64_t step = pattern.wide != nullptr ? pattern.period : pattern.step;
    if (pattern.wide == nullptr) {
      const Vec a = pattern.vec(0), b = pattern.vec(16), c = pattern.vec(32), d = pattern.vec(48);
      for (; n >= Pattern::kLine; n -= step, place += step) {
        store(place, a);
        store(place + 16, b);
        store(place + 32, c);
        store(place + 48, d);
      }
    }
    for (; n > 0; n -= step, place += step) {
      std::memcpy(place, row, static_cast<std::size_t>(std::min(n, step)));
    }
  }
};

class PastCaches {
 public:
  PastCaches(std::byte* to, std::byte* /*end*/, const Pattern& fill) noexcept
      : out(to), pattern(fill), first_(line_place(to)) {}
  PastCaches(const PastCaches&) = delete;
  PastCaches& operator=(const PastCaches&) = delete;

  void copy(const std::byte* input, std::int64_t n, const std::byte* begin, const std::byte* end) noexcept {
    if (const std::int64_t place = line_place(out); place > 0) {
      const std::int64_t part = std::min(n, kLine - place);
      const std::byte* from = input - place;
      if (input - begin < place || end - from < kLine) {
        std::memcpy(spare_ + place, input, static_cast<std::size_t>(part));
        from = spare_;
      }
      if (!join(place, part, line_at(from))) return;
      input += part;
      n -= part;
    }
    for (; n >= kLine; n -= kLine, input += kLine, out += kLine) stream(out, line_at(input));
    if (n > 0 && end - input >= kLine) {
      put(line_, line_at(input));
    } else if (n > 0) {
      std::memcpy(line_, input, static_cast<std::size_t>(n));
    }
    out += n;
  }

  void fill(std::int64_t n) noexcept {
    if (pattern.wide != nullptr) {
      for (; n > 0; n -= pattern.period) {
        copy(pattern.wide, std::min(n, pattern.period), pattern.wide, pattern.wide + pattern.period);
      }
    } else if (pattern.step == kLine) {
      cycle(n, pattern.bytes, pattern.period);
    } else {
      turning(n);
    }
  }

  void ones(std::int64_t n) noexcept { cycle(n, kOnes.data(), 1); }

  /// Stores what is left of the last line, and makes all of it visible to other threads.
  void finish() noexcept {
    const std::int64_t place = line_place(out);
    if (place > first_)
      std::memcpy(out - place + first_, line_ + first_, static_cast<std::size_t>(place - first_));
    fence();
  }

  /// Makes what was stored visible to other threads.
  static void fence() noexcept {
#if defined(__SSE2__)
    _mm_sfence();
#endif
  }

  /// Whole lines to where a line begins, to be followed by a fence.
  static void lines(std::byte* to, const std::byte* input, std::int64_t n) noexcept {
    for (; n > 0; n -= kLine, input += kLine, to += kLine) stream(to, line_at(input));
  }

  std::byte* out;
  const Pattern& pattern;

 private:
  static constexpr std::int64_t kLine = Pattern::kLine;

  struct Line {
    Vec a, b, c, d;
  };

  // A line of ones and one of zeros: read from the middle, it is ones up to any place in a line.
  static constexpr auto kUpTo = [] {
    std::array<std::byte, 2 * kLine> bytes{};
    for (std::size_t i = 0; i < kLine; ++i) bytes[i] = std::byte{0xFF};
    return bytes;
  }();

  [[nodiscard]] static std::int64_t line_place(const std::byte* place) noexcept {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(place) & (kLine - 1));
  }

  [[nodiscard]] static Line line_at(const std::byte* place) noexcept {
    return {load(place), load(place + 16), load(place + 32), load(place + 48)};
  }

  static void put(std::byte* to, const Line& line) noexcept {
    store(to, line.a);
    store(to + 16, line.b);
    store(to + 32, line.c);
    store(to + 48, line.d);
  }

  static void stream(std::byte* to, const Line& line) noexcept {
#if defined(__SSE2__)
    auto* place = reinterpret_cast<__m128i*>(to);
    _mm_stream_si128(place, reinterpret_cast<__m128i>(line.a));
    _mm_stream_si128(place + 1, reinterpret_cast<__m128i>(line.b));
    _mm_stream_si128(place + 2, reinterpret_cast<__m128i>(line.c));
    _mm_stream_si128(place + 3, reinterpret_cast<__m128i>(line.d));
#else
    put(to, line);
#endif
  }

  /// The current line up to `place`, and `tail` from there on: `part` bytes of it count. Stores the line
  /// where that makes it full, and says whether it did. All in registers: a line put together in memory and
  /// read back would wait for every store in front of it.
  bool join(std::int64_t place, std::int64_t part, const Line& tail) noexcept {
    const Line mask = line_at(kUpTo.data() + kLine - place);
    const Line old = line_at(line_);
    const Line full{(old.a & mask.a) | (tail.a & ~mask.a), (old.b & mask.b) | (tail.b & ~mask.b),
                    (old.c & mask.c) | (tail.c & ~mask.c), (old.d & mask.d) | (tail.d & ~mask.d)};
    out += part;
    if (place + part < kLine) {
      put(line_, full);
      return false;
    }
    if (first_ == 0) {
      stream(out - kLine, full);
      return true;
    }
    put(line_, full);  // the bytes in front belong to somebody else
    std::memcpy(out - kLine + first_, line_ + first_, static_cast<std::size_t>(kLine - first_));
    first_ = 0;
    return true;
  }

  /// A pattern whose period divides a line: every line of the run is the same.
  void cycle(std::int64_t n, const std::byte* bytes, std::int64_t period) noexcept {
    const std::int64_t place = line_place(out);
    const Line line = line_at(bytes + (-place & (period - 1)));
    if (place > 0) {
      const std::int64_t part = std::min(n, kLine - place);
      if (!join(place, part, line)) return;
      n -= part;
    }
    for (; n >= kLine; n -= kLine, out += kLine) stream(out, line);
    if (n > 0) put(line_, line);
    out += n;
  }

  /// Any other short pattern: its place moves on from line to line.
  void turning(std::int64_t n) noexcept {
    std::int64_t phase = 0;
    while (n > 0) {
      const std::int64_t place = line_place(out);
      const std::int64_t part = std::min(n, kLine - place);
      const std::int64_t turn = (phase + kLine * pattern.period - place) % pattern.period;
      if (!join(place, part, line_at(pattern.bytes + turn))) return;
      phase = (phase + part) % pattern.period;
      n -= part;
    }
  }

  alignas(64) std::byte line_[kLine]{};
  alignas(64) std::byte spare_[kLine]{};
  std::int64_t first_;  // of the line that out is in: where our bytes begin
};

}  // namespace varlen
