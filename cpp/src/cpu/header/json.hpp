// A strict scanner of JSON text: what headers are written in. Every method that gives a bool gives false at
// the first fault, which status() then tells; positions are bytes from the start of the text.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "support/utf8.hpp"
#include "varlen/header.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen::json {

using Fault = HeaderFault;

/// Strings without escapes are views of the text; the others are decoded into `scratch`, which holds size
/// bytes.
class Scanner {
 public:
  Scanner(const char* text, std::int64_t size, char* scratch) noexcept
      : base_(text), p_(text), end_(text + size), scratch_(scratch) {}

  [[nodiscard]] Status status() const noexcept { return status_; }
  [[nodiscard]] const char* cursor() const noexcept { return p_; }
  [[nodiscard]] std::int64_t position(const char* place) const noexcept { return place - base_; }

  bool utf8() noexcept {
    const char* bad = first_bad_utf8(p_, end_);
    return bad == end_ || fail(Fault::utf8, bad);
  }

  bool finish() noexcept {
    space();
    return p_ == end_ || fail(Fault::trailing_text, p_);
  }

  bool fail(Fault fault, const char* place) noexcept {
    if (status_.ok()) status_ = {Code::bad_header, place - base_, static_cast<std::int64_t>(fault)};
    return false;
  }

  void space() noexcept {
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\t' || *p_ == '\r')) ++p_;
  }

  bool open(char c, Fault fault) noexcept {
    if (p_ == end_) return fail(Fault::unexpected_end, p_);
    if (*p_ != c) return fail(fault, p_);
    ++p_;
    return true;
  }

  bool close(char c) noexcept {
    space();
    const bool matches = p_ < end_ && *p_ == c;
    p_ += matches;
    return matches;
  }

  bool comma() noexcept { return close(','); }

  /// Steps over exactly this text where it is next: the short way through what writers write.
  template <std::size_t N>
  bool literal(const char (&expected)[N]) noexcept {
    const bool matches =
        end_ - p_ >= static_cast<std::ptrdiff_t>(N - 1) && std::memcmp(p_, expected, N - 1) == 0;
    p_ += matches ? N - 1 : 0;
    return matches;
  }

  bool list_fault() noexcept { return fail(p_ == end_ ? Fault::unexpected_end : Fault::expected_comma, p_); }

  bool list_end(char c) noexcept { return close(c) || list_fault(); }

  bool colon() noexcept {
    space();
    if (!open(':', Fault::expected_colon)) return false;
    space();
    return true;
  }

  // A view of the text where there is no escape, else of what was decoded into `scratch`.
  bool string(std::string_view& out) noexcept {
    if (!open('"', Fault::expected_string)) return false;
    const char* begin = p_;
    skip_plain();
    if (p_ < end_ && *p_ == '"') {
      out = {begin, static_cast<std::size_t>(p_++ - begin)};
      return true;
    }
    char* start = scratch_;
    for (;;) {
      if (p_ == end_) return fail(Fault::unexpected_end, p_);
      if (*p_ != '"' && *p_ != '\\') return fail(Fault::control, p_);
      std::memcpy(scratch_, begin, static_cast<std::size_t>(p_ - begin));
      scratch_ += p_ - begin;
      if (*p_ == '"') break;
      if (!escape()) return false;
      begin = p_;
      skip_plain();
    }
    ++p_;
    out = {start, static_cast<std::size_t>(scratch_ - start)};
    return true;
  }

  bool number(std::int64_t& out) noexcept {
    const char* place = p_;
    std::int64_t value = 0;
    while (p_ < end_ && *p_ >= '0' && *p_ <= '9') {
      if (!checked_mul(value, 10, value) || !checked_add(value, *p_ - '0', value))
        return fail(Fault::number_range, place);
      ++p_;
    }
    if (p_ == place) {
      if (p_ == end_) return fail(Fault::unexpected_end, p_);
      return fail(*p_ == '-' ? Fault::negative : Fault::expected_number, place);
    }
    if (*place == '0' && p_ - place > 1) return fail(Fault::leading_zero, place);
    if (p_ < end_ && (*p_ == '.' || *p_ == 'e' || *p_ == 'E')) return fail(Fault::not_integer, place);
    out = value;
    return true;
  }

 private:
  // To the next quote, backslash or control character.
  void skip_plain() noexcept {
    while (end_ - p_ >= 8) {
      const std::uint64_t word = load8(p_);
      const std::uint64_t quote = word ^ kOnes * '"';
      const std::uint64_t slash = word ^ kOnes * '\\';
      const std::uint64_t hit =
          (((quote - kOnes) & ~quote) | ((slash - kOnes) & ~slash) | ((word - kOnes * 0x20) & ~word)) &
          kHighs;
      if (hit != 0) {
        p_ += std::countr_zero(hit) / 8;
        return;
      }
      p_ += 8;
    }
    while (p_ < end_ && *p_ != '"' && *p_ != '\\' && static_cast<unsigned char>(*p_) >= 0x20) ++p_;
  }

  bool escape() noexcept {
    const char* place = p_++;
    if (p_ == end_) return fail(Fault::unexpected_end, p_);
    constexpr std::string_view kFrom = "\"\\/bfnrt";
    constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
    const char c = *p_++;
    if (const auto i = kFrom.find(c); i != kFrom.npos) {
      *scratch_++ = kTo[i];
      return true;
    }
    std::uint32_t code = 0;
    if (c != 'u' || !hex4(code)) return fail(Fault::escape, place);
    if (code >= 0xDC00 && code <= 0xDFFF) return fail(Fault::surrogate, place);
    if (code >= 0xD800 && code <= 0xDBFF) {
      std::uint32_t low = 0;
      if (end_ - p_ < 2 || p_[0] != '\\' || p_[1] != 'u') return fail(Fault::surrogate, place);
      p_ += 2;
      if (!hex4(low)) return fail(Fault::escape, place);
      if (low < 0xDC00 || low > 0xDFFF) return fail(Fault::surrogate, place);
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    put_utf8(code);
    return true;
  }

  bool hex4(std::uint32_t& code) noexcept {
    if (end_ - p_ < 4) return false;
    for (int i = 0; i < 4; ++i) {
      const char c = *p_++;
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return false;
      code = code << 4 | static_cast<std::uint32_t>(digit);
    }
    return true;
  }

  void put_utf8(std::uint32_t code) noexcept {
    const auto put = [this](std::uint32_t byte) { *scratch_++ = static_cast<char>(byte); };
    if (code < 0x80) {
      put(code);
      return;
    }
    if (code < 0x800) {
      put(0xC0 | code >> 6);
    } else {
      if (code < 0x10000) {
        put(0xE0 | code >> 12);
      } else {
        put(0xF0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3F));
      }
      put(0x80 | (code >> 6 & 0x3F));
    }
    put(0x80 | (code & 0x3F));
  }

  const char* base_;
  const char* p_;
  const char* end_;
  char* scratch_;
  Status status_;
};

}  // namespace varlen::json
