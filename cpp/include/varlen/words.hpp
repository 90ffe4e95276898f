// Words: texts in the memory of others as ids of those that differ, numbered in the order in which they come.
#pragma once

#include <cstdint>

#include "varlen/status.hpp"

namespace varlen {

struct TextPiece {
  const char* data = nullptr;
  std::int64_t size = 0;
};

/// Where texts lie. Nothing of it is believed: each is checked as it is read.
struct Texts {
  enum class Kind : std::uint8_t { offsets32, offsets64, views };
  Kind kind = Kind::offsets64;
  const void* places = nullptr;         ///< n + 1 offsets, or n views of Arrow, of 16 bytes each
  const std::uint8_t* valid = nullptr;  ///< a bit each, the lowest first; null where all are there
  std::int64_t first = 0;               ///< where text 0 stands in both
  const TextPiece* pieces = nullptr;    ///< the bytes: one piece for offsets
  std::int64_t piece_count = 0;
};

/// Text i. Fails with beyond_total where it leaves its piece; where = i.
Status text_at(const Texts& texts, std::int64_t i, TextPiece& text) noexcept;

struct WordSlot {
  std::uint64_t key;   ///< the bytes of a word of 8 at most, the hash of a longer one
  std::uint32_t size;  ///< its bytes
  std::uint32_t id;    ///< one more than its id; 0 where the slot is free
};

/// What is known of words: a hash table, and the text in which each came first.
struct WordTable {
  WordSlot* slots = nullptr;
  std::int64_t slot_count = 0;  ///< a power of two
  std::int64_t* firsts = nullptr;
  std::int64_t word_count = 0;  ///< words, slot_count / 2 at most
};

/// ids[i] of texts [begin, end), -1 where one is missing. About 5 ns a text while the table is in the cache.
/// Fails with beyond_total as text_at, with too_long for a word of 4 GiB, and with no_room at the first text
/// that needs more room in the table.
Status number_words(const Texts& texts, std::int64_t begin, std::int64_t end, WordTable& table,
                    std::int64_t* ids) noexcept;

/// The words of one table in the slots of another, which are zero.
void move_words(const WordTable& from, WordTable& to) noexcept;

}  // namespace varlen
