// Bytes as texts of Arrow: each is refused at the first that leaves its memory, or numbered as a plain map
// does.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "varlen/words.hpp"

namespace {

using varlen::TextPiece;
using varlen::Texts;

void require(bool law) {
  if (!law) std::abort();
}

/// The bytes in a block of their own, so that one too many is seen.
template <class T>
std::vector<T> block(const std::uint8_t* data, std::size_t size) {
  std::vector<T> out(size / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), data, out.size() * sizeof(T));
  return out;
}

void numbers_law(const Texts& texts, std::int64_t count) {
  std::vector<varlen::WordSlot> slots(1024);
  std::vector<std::int64_t> firsts(slots.size() / 2);
  varlen::WordTable table{slots.data(), static_cast<std::int64_t>(slots.size()), firsts.data(), 0};
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
  const varlen::Status status = varlen::number_words(texts, 0, count, table, ids.data());
  const std::int64_t end = status.ok() ? count : status.where;
  std::unordered_map<std::string, std::int64_t> words;
  for (std::int64_t i = 0; i < end; ++i) {
    const std::int64_t bit = texts.first + i;
    if (texts.valid != nullptr && ((texts.valid[bit / 8] >> (bit % 8)) & 1) == 0) {
      require(ids[static_cast<std::size_t>(i)] == -1);
      continue;
    }
    TextPiece text;
    require(varlen::text_at(texts, i, text).ok());
    const auto next_id = static_cast<std::int64_t>(words.size());
    const auto word =
        words.emplace(std::string(text.data, static_cast<std::size_t>(text.size)), next_id).first;
    require(ids[static_cast<std::size_t>(i)] == word->second);
  }
  require(status.code != varlen::Code::no_room || words.size() == firsts.size());
  if (status.code != varlen::Code::beyond_total) return;
  TextPiece text;
  require(!varlen::text_at(texts, status.where, text).ok());
}

}  // namespace

// Two bytes choose the kind and how much is text; the rest is text, then places.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const auto kind = static_cast<Texts::Kind>(data[0] % 3);
  const bool has_nulls = (data[0] & 64) != 0;
  const std::size_t text_size = std::min<std::size_t>(data[1], size - 2);
  const std::vector<char> raw = block<char>(data + 2, text_size);
  const std::size_t half = raw.size() / 2;
  const std::vector<char> front(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(half));
  const TextPiece pieces[] = {{raw.data(), static_cast<std::int64_t>(raw.size())},
                              {front.data(), static_cast<std::int64_t>(half)}};
  const std::vector<std::uint8_t> places = block<std::uint8_t>(data + 2 + text_size, size - 2 - text_size);
  const std::size_t width = kind == Texts::Kind::views ? 16 : kind == Texts::Kind::offsets32 ? 4 : 8;
  const std::size_t all = places.size() / width;
  const std::size_t count = kind == Texts::Kind::views ? all : all > 0 ? all - 1 : 0;
  if (count == 0) return 0;
  const std::vector<std::uint8_t> valid(count / 8 + 1, data[0]);
  Texts texts{kind, places.data(), has_nulls ? valid.data() : nullptr, 0, pieces, 2};
  texts.piece_count = kind == Texts::Kind::views ? 2 : 1;
  const std::int64_t first = data[0] / 128;
  texts.first = first;
  numbers_law(texts, static_cast<std::int64_t>(count) - first);
  return 0;
}
