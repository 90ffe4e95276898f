// Is this text well-formed UTF-8? ASCII goes by at 32 bytes a step.
#pragma once

#include <cstdint>
#include <cstring>

namespace varlen::json {

inline constexpr std::uint64_t kOnes = 0x0101010101010101u;
inline constexpr std::uint64_t kHighs = 0x8080808080808080u;

inline std::uint64_t load8(const char* p) noexcept {
  std::uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

inline bool continues(const unsigned char* p, const unsigned char* end, int n) noexcept {
  if (end - p < n) return false;
  for (int i = 0; i < n; ++i) {
    if ((p[i] & 0xC0) != 0x80) return false;
  }
  return true;
}

// The first byte that is not well-formed UTF-8, or `end`: no overlong form, no surrogate, nothing past
// U+10FFFF.
inline const char* first_bad_utf8(const char* begin, const char* end) noexcept {
  const char* cursor = begin;
  while (cursor < end) {
    while (end - cursor >= 32 &&
           ((load8(cursor) | load8(cursor + 8) | load8(cursor + 16) | load8(cursor + 24)) & kHighs) == 0)
      cursor += 32;
    if (cursor == end) break;
    const auto* p = reinterpret_cast<const unsigned char*>(cursor);
    const auto* stop = reinterpret_cast<const unsigned char*>(end);
    const unsigned lead = *p;
    if (lead < 0x80) {
      ++cursor;
      continue;
    }
    const int tail = lead >= 0xC2 && lead <= 0xDF   ? 1
                     : (lead & 0xF0) == 0xE0        ? 2
                     : lead >= 0xF0 && lead <= 0xF4 ? 3
                                                    : 0;
    if (tail == 0 || !continues(p + 1, stop, tail)) return cursor;
    const unsigned next = p[1];
    if ((lead == 0xE0 && next < 0xA0) || (lead == 0xED && next > 0x9F) || (lead == 0xF0 && next < 0x90) ||
        (lead == 0xF4 && next > 0x8F)) {
      return cursor;
    }
    cursor += tail + 1;
  }
  return end;
}

}  // namespace varlen::json
