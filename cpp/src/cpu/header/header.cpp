#include "varlen/header.hpp"

#include <algorithm>
#include <bit>

#include "json.hpp"
#include "varlen/support/names.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are little-endian and are not swapped here");

using json::Fault;

// The grammar of a header: an object of entries and at most one object of metadata.
class Parser {
 public:
  Parser(const char* text, std::int64_t size, HeaderTables& tables) noexcept
      : json_(text, size, tables.text), tables_(tables) {}

  Status run() noexcept {
    return json_.utf8() && header() && json_.finish() ? Status{} : full_ ? no_room() : json_.status();
  }

 private:
  static constexpr unsigned kDtype = 1;
  static constexpr unsigned kShape = 2;
  static constexpr unsigned kOffsets = 4;

  static Status no_room() noexcept { return {Code::no_room, -1, 0}; }

  bool header() noexcept {
    json_.space();
    if (!json_.open('{', Fault::expected_object)) return false;
    if (json_.close('}')) return true;
    bool has_metadata = false;
    do {
      json_.space();
      const char* place = json_.cursor();
      std::string_view name;
      if (!json_.string(name) || !json_.colon()) return false;
      if (name == "__metadata__") {
        if (has_metadata) return json_.fail(Fault::duplicate_name, place);
        has_metadata = true;
        if (!metadata()) return false;
      } else if (!entry(name, place)) {
        return false;
      }
    } while (json_.comma());
    return json_.list_end('}');
  }

  bool metadata() noexcept {
    if (!json_.open('{', Fault::expected_object)) return false;
    if (json_.close('}')) return true;
    do {
      if (tables_.pair_count == tables_.pair_room) return !(full_ = true);
      HeaderPair& pair = tables_.pairs[tables_.pair_count++];
      json_.space();
      pair.place = static_cast<std::uint32_t>(json_.position(json_.cursor()));
      if (!json_.string(pair.key) || !json_.colon() || !json_.string(pair.value)) return false;
    } while (json_.comma());
    return json_.list_end('}');
  }

  bool entry(std::string_view name, const char* place) noexcept {
    if (tables_.entry_count == tables_.entry_room) return !(full_ = true);
    HeaderEntry& out = tables_.entries[tables_.entry_count++];
    out = {.name = name, .place = static_cast<std::uint32_t>(json_.position(place))};
    if (!json_.open('{', Fault::expected_object)) return false;
    unsigned fields = 0;
    if (!json_.close('}')) {
      do {
        json_.space();
        const char* key = json_.cursor();
        unsigned field = 0;
        if (!field_name(field)) return false;
        if ((fields & field) != 0) return json_.fail(Fault::duplicate_field, key);
        fields |= field;
        if (!(field == kDtype ? dtype(out.tag) : field == kShape ? shape(out) : offsets(out))) return false;
      } while (json_.comma());
      if (!json_.list_end('}')) return false;
    }
    return fields == (kDtype | kShape | kOffsets) ? sizes(out, place)
                                                  : json_.fail(Fault::missing_field, place);
  }

  bool field_name(unsigned& field) noexcept {
    field = json_.literal("\"dtype\":")          ? kDtype
            : json_.literal("\"shape\":")        ? kShape
            : json_.literal("\"data_offsets\":") ? kOffsets
                                                 : 0;
    if (field != 0) {
      json_.space();
      return true;
    }
    const char* place = json_.cursor();
    std::string_view name;
    if (!json_.string(name)) return false;
    field = name == "dtype" ? kDtype : name == "shape" ? kShape : name == "data_offsets" ? kOffsets : 0;
    return field != 0 ? json_.colon() : json_.fail(Fault::unknown_field, place);
  }

  bool dtype(Tag& tag) noexcept {
    const char* place = json_.cursor();
    std::string_view name;
    if (!json_.string(name)) return false;
    for (std::size_t i = 0; i < kTags.size(); ++i) {
      const std::string_view tag_name = kTags[i].name;
      if (tag_name.size() == name.size() && tag_name[0] == name[0] && tag_name[1] == name[1] &&
          tag_name == name) {
        tag = static_cast<Tag>(i);
        return true;
      }
    }
    return json_.fail(Fault::unknown_dtype, place);
  }

  bool shape(HeaderEntry& out) noexcept {
    const char* place = json_.cursor();
    if (!json_.open('[', Fault::expected_array)) return false;
    out.dims = static_cast<std::uint32_t>(tables_.dim_count);
    if (json_.close(']')) return true;
    do {
      if (tables_.dim_count == tables_.dim_room) return !(full_ = true);
      if (out.rank == kMaxRank) return json_.fail(Fault::rank, place);
      json_.space();
      if (!json_.number(tables_.dims[tables_.dim_count])) return false;
      ++tables_.dim_count;
      ++out.rank;
    } while (json_.comma());
    return json_.list_end(']');
  }

  bool offsets(HeaderEntry& out) noexcept {
    if (!json_.open('[', Fault::expected_array)) return false;
    json_.space();
    if (!json_.number(out.begin)) return false;
    if (!json_.comma()) return json_.list_fault();
    json_.space();
    return json_.number(out.end) && json_.list_end(']');
  }

  bool sizes(const HeaderEntry& entry, const char* place) noexcept {
    std::int64_t bits = 8 * kTags[static_cast<std::size_t>(entry.tag)].bytes;
    std::int64_t count = 1;
    for (unsigned axis = 0; axis < entry.rank; ++axis) {
      if (!checked_mul(count, tables_.dims[entry.dims + axis], count))
        return json_.fail(Fault::shape_overflow, place);
    }
    if (!checked_mul(bits, count, bits)) return json_.fail(Fault::shape_overflow, place);
    if (entry.end < entry.begin) return json_.fail(Fault::backwards, place);
    return entry.end - entry.begin == bits / 8 || json_.fail(Fault::size_mismatch, place);
  }

  json::Scanner json_;
  HeaderTables& tables_;
  bool full_ = false;
};

Status refuse(HeaderFault fault, std::int64_t place) noexcept {
  return {Code::bad_header, place, static_cast<std::int64_t>(fault)};
}

// The entries cover the data from its first byte to its last, each byte once.
Status check_cover(HeaderTables& t, std::int64_t data_size) noexcept {
  const auto in_front = [&t](std::uint32_t a, std::uint32_t b) {
    const HeaderEntry& x = t.entries[a];
    const HeaderEntry& y = t.entries[b];
    return x.begin != y.begin ? x.begin < y.begin : x.end < y.end;
  };
  std::uint32_t* const last = t.order + t.entry_count;
  for (std::int64_t i = 0; i < t.entry_count; ++i) t.order[i] = static_cast<std::uint32_t>(i);
  if (!std::is_sorted(t.order, last, in_front)) std::sort(t.order, last, in_front);
  std::int64_t data_end = 0;
  for (std::int64_t i = 0; i < t.entry_count; ++i) {
    const HeaderEntry& entry = t.entries[t.order[i]];
    if (entry.end > data_size) return refuse(Fault::past_end, entry.place);
    if (entry.begin != data_end)
      return refuse(entry.begin > data_end ? Fault::hole : Fault::overlap, entry.place);
    data_end = entry.end;
  }
  return data_end == data_size ? Status{} : refuse(Fault::trailing_data, -1);
}

Status check_names(HeaderTables& t) noexcept {
  const auto name = [&t](std::int64_t i) { return t.entries[i].name; };
  if (const auto i = find_duplicate(t.entry_count, name, t.slots, t.scratch); i >= 0) {
    return refuse(Fault::duplicate_name, t.entries[i].place);
  }
  const auto key = [&t](std::int64_t i) { return t.pairs[i].key; };
  if (const auto i = find_duplicate(t.pair_count, key, t.slots, t.scratch); i >= 0) {
    return refuse(Fault::duplicate_metadata, t.pairs[i].place);
  }
  return {};
}

}  // namespace

Status parse_header(const char* text, std::int64_t size, std::int64_t data_size,
                    HeaderTables& tables) noexcept {
  tables.entry_count = tables.pair_count = tables.dim_count = 0;
  if (const Status outcome = Parser(text, size, tables).run(); !outcome.ok()) return outcome;
  if (const Status names = check_names(tables); !names.ok()) return names;
  return check_cover(tables, data_size);
}

std::string_view fault_text(HeaderFault fault) noexcept {
  constexpr std::string_view kTexts[] = {
      "the text is not UTF-8",
      "expected an object",
      "expected a string",
      "expected a colon",
      "expected a comma or the end of the list",
      "expected a list",
      "expected a number",
      "the text ends too early",
      "a control character inside a string",
      "an escape that JSON does not have",
      "half of a surrogate pair",
      "text after the end of the header",
      "a size is negative",
      "a size is not a whole number",
      "a size has a leading zero",
      "a size does not fit 63 bits",
      "a field that is not dtype, shape or data_offsets",
      "a field is there twice",
      "one of dtype, shape and data_offsets is missing",
      "the dtype is not known",
      "more than 64 dimensions",
      "the name is there twice",
      "the metadata key is there twice",
      "the shape is too large",
      "the data ends before it begins",
      "the data has another size than shape and dtype say",
      "the data lies past the end of the file",
      "there is a hole in front of the data",
      "the data overlaps another tensor's",
      "there are bytes after the last tensor's data",
  };
  static_assert(std::size(kTexts) == static_cast<std::size_t>(HeaderFault::trailing_data) + 1);
  return kTexts[static_cast<std::size_t>(fault)];
}

}  // namespace varlen
