#include "varlen/words.hpp"

#include <cstring>
#include <limits>
#include <type_traits>

namespace varlen {
namespace {

using Kind = Texts::Kind;

constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15U;
constexpr std::int64_t kShort = 8;

template <class T>
T load(const void* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

/// A view of Arrow: its size, then the bytes themselves where they are 12 at most, else the first 4 of them,
/// the piece and the place in it.
struct TextView {
  std::int32_t size;
  std::int32_t start;
  std::int32_t piece;
  std::int32_t offset;
};
constexpr std::int64_t kInline = 12;

/// Text i, and how many bytes may be read from where it begins.
template <Kind kind>
bool read_text(const Texts& texts, std::int64_t i, TextPiece& text, std::int64_t& room) noexcept {
  const std::int64_t place = texts.first + i;
  if constexpr (kind == Kind::views) {
    const char* const at = static_cast<const char*>(texts.places) + place * std::int64_t{sizeof(TextView)};
    const auto view = load<TextView>(at);
    text.size = view.size;
    if (view.size <= kInline) {
      text.data = at + 4;
      room = kInline;
      return view.size >= 0;
    }
    if (view.piece < 0 || view.piece >= texts.piece_count || view.offset < 0) return false;
    const TextPiece& piece = texts.pieces[view.piece];
    room = piece.size - view.offset;
    if (view.size > room) return false;
    text.data = piece.data + view.offset;
    return true;
  } else {
    using T = std::conditional_t<kind == Kind::offsets32, std::int32_t, std::int64_t>;
    const T* const offsets = static_cast<const T*>(texts.places) + place;
    const std::int64_t begin = load<T>(offsets);
    const std::int64_t end = load<T>(offsets + 1);
    const TextPiece& piece = texts.pieces[0];
    if (begin < 0 || end < begin || end > piece.size) return false;
    text = {piece.data + begin, end - begin};
    room = piece.size - begin;
    return true;
  }
}

bool is_there(const Texts& texts, std::int64_t i) noexcept {
  const std::int64_t bit = texts.first + i;
  return texts.valid == nullptr || ((texts.valid[bit >> 3] >> (bit & 7)) & 1) != 0;
}

std::uint64_t stir(std::uint64_t key) noexcept {
  key = (key ^ (key >> 32)) * kMix;
  return key ^ (key >> 29);
}

std::uint64_t key_of(const TextPiece& text, std::int64_t room) noexcept {
  if (text.size <= kShort) {
    if (text.size == 0) return 0;
    if (room >= kShort) return load<std::uint64_t>(text.data) & (~std::uint64_t{0} >> (64 - 8 * text.size));
    std::uint64_t key = 0;
    std::memcpy(&key, text.data, static_cast<std::size_t>(text.size));
    return key;
  }
  std::uint64_t key = 0;
  std::int64_t at = 0;
  for (; at + kShort < text.size; at += kShort) key = stir(key ^ load<std::uint64_t>(text.data + at));
  return stir(key ^ load<std::uint64_t>(text.data + text.size - kShort));
}

std::uint64_t start_of(std::uint64_t key, std::uint64_t size) noexcept {
  return stir(key + size * kMix);
}

template <Kind kind>
bool is_word(const Texts& texts, std::int64_t first, const TextPiece& text) noexcept {
  TextPiece word;
  std::int64_t room = 0;
  return read_text<kind>(texts, first, word, room) && word.size == text.size &&
         std::memcmp(word.data, text.data, static_cast<std::size_t>(text.size)) == 0;
}

template <Kind kind>
Status number(const Texts& texts, std::int64_t begin, std::int64_t end, WordTable& table,
              std::int64_t* ids) noexcept {
  const auto mask = static_cast<std::uint64_t>(table.slot_count - 1);
  for (std::int64_t i = begin; i < end; ++i) {
    if (!is_there(texts, i)) {
      ids[i] = -1;
      continue;
    }
    TextPiece text;
    std::int64_t room = 0;
    if (!read_text<kind>(texts, i, text, room)) return {Code::beyond_total, i, 0};
    if (text.size > std::numeric_limits<std::uint32_t>::max()) return {Code::too_long, i, text.size};
    const auto size = static_cast<std::uint32_t>(text.size);
    const std::uint64_t key = key_of(text, room);
    for (std::uint64_t at = start_of(key, size);; ++at) {
      WordSlot& slot = table.slots[at & mask];
      if (slot.id == 0) {
        if (table.word_count == table.slot_count / 2) return {Code::no_room, i, 0};
        table.firsts[table.word_count++] = i;
        slot = {key, size, static_cast<std::uint32_t>(table.word_count)};
      } else if (slot.key != key || slot.size != size ||
                 (text.size > kShort && !is_word<kind>(texts, table.firsts[slot.id - 1], text))) {
        continue;
      }
      ids[i] = std::int64_t{slot.id} - 1;
      break;
    }
  }
  return {};
}

}  // namespace

Status text_at(const Texts& texts, std::int64_t i, TextPiece& text) noexcept {
  std::int64_t room = 0;
  const bool fits = texts.kind == Kind::views       ? read_text<Kind::views>(texts, i, text, room)
                    : texts.kind == Kind::offsets32 ? read_text<Kind::offsets32>(texts, i, text, room)
                                                    : read_text<Kind::offsets64>(texts, i, text, room);
  return fits ? Status{} : Status{Code::beyond_total, i, 0};
}

Status number_words(const Texts& texts, std::int64_t begin, std::int64_t end, WordTable& table,
                    std::int64_t* ids) noexcept {
  switch (texts.kind) {
    case Kind::views:
      return number<Kind::views>(texts, begin, end, table, ids);
    case Kind::offsets32:
      return number<Kind::offsets32>(texts, begin, end, table, ids);
    default:
      return number<Kind::offsets64>(texts, begin, end, table, ids);
  }
}

void move_words(const WordTable& from, WordTable& to) noexcept {
  const auto mask = static_cast<std::uint64_t>(to.slot_count - 1);
  for (std::int64_t i = 0; i < from.slot_count; ++i) {
    const WordSlot& word = from.slots[i];
    if (word.id == 0) continue;
    std::uint64_t at = start_of(word.key, word.size);
    while (to.slots[at & mask].id != 0) ++at;
    to.slots[at & mask] = word;
  }
  for (std::int64_t i = 0; i < from.word_count; ++i) to.firsts[i] = from.firsts[i];
  to.word_count = from.word_count;
}

}  // namespace varlen
