// The header of a safetensors file: untrusted bytes to checked tables of entries.
// Stricter than the format: what is not understood is refused. Nothing is read outside [json, json + size).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "varlen/status.hpp"

namespace varlen {

/// Element types of whole bytes, in the order in which writers lay them out: widest first.
enum class Tag : std::uint8_t {
  u64,
  i64,
  f64,
  c64,
  f32,
  u32,
  i32,
  bf16,
  f16,
  u16,
  i16,
  f8_e5m2fnuz,
  f8_e4m3fnuz,
  f8_e8m0,
  f8_e4m3,
  f8_e5m2,
  i8,
  u8,
  boolean,
};

struct TagName {
  std::string_view name;
  std::int64_t bytes;
};

inline constexpr std::array<TagName, 19> kTags{{
    {"U64", 8},     {"I64", 8},         {"F64", 8},         {"C64", 8},     {"F32", 4},
    {"U32", 4},     {"I32", 4},         {"BF16", 2},        {"F16", 2},     {"U16", 2},
    {"I16", 2},     {"F8_E5M2FNUZ", 1}, {"F8_E4M3FNUZ", 1}, {"F8_E8M0", 1}, {"F8_E4M3", 1},
    {"F8_E5M2", 1}, {"I8", 1},          {"U8", 1},          {"BOOL", 1},
}};

/// Why a header was refused; a Status of Code::bad_header carries it in `value`, and the byte in `where`.
enum class HeaderFault : std::uint8_t {
  utf8,
  expected_object,
  expected_string,
  expected_colon,
  expected_comma,
  expected_array,
  expected_number,
  unexpected_end,
  control,
  escape,
  surrogate,
  trailing_text,
  negative,
  not_integer,
  leading_zero,
  number_range,
  unknown_field,
  duplicate_field,
  missing_field,
  unknown_dtype,
  rank,
  duplicate_name,
  duplicate_metadata,
  shape_overflow,
  backwards,
  size_mismatch,
  past_end,
  hole,
  overlap,
  trailing_data,
};

/// What is wrong, for an error's text.
[[nodiscard]] std::string_view fault_text(HeaderFault fault) noexcept;

struct HeaderEntry {
  std::string_view name;   ///< into the header, or into HeaderTables::text where it had escapes
  std::int64_t begin = 0;  ///< bytes from the start of the data
  std::int64_t end = 0;
  std::uint32_t place = 0;  ///< the byte of the header at which the name begins
  std::uint32_t dims = 0;   ///< its shape is HeaderTables::dims[dims .. dims + rank)
  std::uint8_t rank = 0;
  Tag tag = Tag::u8;
};

struct HeaderPair {
  std::string_view key;
  std::string_view value;
  std::uint32_t place = 0;
};

/// Owned by the caller. `slots` holds the power of two at or above 2 * entry_room and 2 * pair_room,
/// `scratch` as many as the larger of them, `text` as many bytes as a header with a backslash in it. Too
/// small a table gives Code::no_room: parse again with larger ones.
struct HeaderTables {
  HeaderEntry* entries = nullptr;
  std::int64_t entry_room = 0;
  HeaderPair* pairs = nullptr;
  std::int64_t pair_room = 0;
  std::int64_t* dims = nullptr;
  std::int64_t dim_room = 0;
  std::uint32_t* order = nullptr;  ///< entry_room; entries in the order of their data
  std::uint32_t* scratch = nullptr;
  std::uint32_t* slots = nullptr;
  char* text = nullptr;

  std::int64_t entry_count = 0;
  std::int64_t pair_count = 0;
  std::int64_t dim_count = 0;
};

/// Most dimensions of a tensor: NumPy's own limit.
inline constexpr int kMaxRank = 64;

/// Parses the `size` bytes of JSON, for a file whose data has data_size bytes. One pass, no allocation;
/// linear but for a sort of the entries where they are not in the order of their data. size is below 2^32.
Status parse_header(const char* json, std::int64_t size, std::int64_t data_size,
                    HeaderTables& tables) noexcept;

}  // namespace varlen
