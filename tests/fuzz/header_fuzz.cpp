// Text as the header of a file: what is accepted tiles the data exactly, and its layout can be worked out.
// An input is the JSON, a line feed, and how many bytes of data there are.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "varlen/header.hpp"
#include "varlen/layout.hpp"

namespace {

using varlen::Code;
using varlen::HeaderTables;

void require(bool law) {
  if (!law) std::abort();
}

// Tables of exactly the room that is promised, each a block of its own, so that one entry too many is seen.
struct Room {
  std::vector<varlen::HeaderEntry> entries;
  std::vector<varlen::HeaderPair> pairs;
  std::vector<std::int64_t> dims;
  std::vector<std::uint32_t> order, scratch, slots;
  std::vector<char> text;
  HeaderTables tables;

  Room(std::int64_t entry_room, std::int64_t pair_room, std::int64_t dim_room, std::size_t size)
      : entries(static_cast<std::size_t>(entry_room)),
        pairs(static_cast<std::size_t>(pair_room)),
        dims(static_cast<std::size_t>(dim_room)),
        order(entries.size()),
        scratch(std::max(entries.size(), pairs.size())),
        slots(std::bit_ceil(2 * scratch.size())),
        text(size) {
    tables.entries = entries.data();
    tables.entry_room = entry_room;
    tables.pairs = pairs.data();
    tables.pair_room = pair_room;
    tables.dims = dims.data();
    tables.dim_room = dim_room;
    tables.order = order.data();
    tables.scratch = scratch.data();
    tables.slots = slots.data();
    tables.text = text.data();
  }
};

void tiles_law(const HeaderTables& t, std::int64_t data_size) {
  std::vector<const varlen::HeaderEntry*> entries;
  for (std::int64_t i = 0; i < t.entry_count; ++i) {
    const varlen::HeaderEntry& e = t.entries[i];
    require(0 <= e.begin && e.begin <= e.end && e.end <= data_size);
    require(e.dims + e.rank <= t.dim_count);
    __int128 bytes = varlen::kTags[static_cast<std::size_t>(e.tag)].bytes;
    for (unsigned axis = 0; axis < e.rank; ++axis) {
      require(t.dims[e.dims + axis] >= 0);
      bytes *= t.dims[e.dims + axis];
    }
    require(bytes == e.end - e.begin);
    if (e.begin < e.end) entries.push_back(&e);
  }
  std::sort(entries.begin(), entries.end(), [](auto* a, auto* b) { return a->begin < b->begin; });
  std::int64_t at = 0;
  for (const auto* e : entries) {
    require(e->begin == at);
    at = e->end;
  }
  require(at == data_size);
}

void layout_law(HeaderTables& t) {
  varlen::Layout layout;
  if (!varlen::parse_layout(t, layout).ok()) return;
  require(0 <= layout.depth && layout.depth <= varlen::kMaxDepth);
  require(0 <= layout.keys && layout.keys <= t.entry_count);
  for (int level = 1; level <= layout.depth; ++level) {
    require(layout.bounds[level] < t.entry_count && layout.lengths[level] < t.entry_count);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string all(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = all.rfind('\n');
  if (cut == std::string::npos) return 0;
  const std::vector<char> json(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(cut));
  const std::int64_t data_size = std::clamp<std::int64_t>(std::atoll(all.c_str() + cut), 0, INT64_MAX);
  const auto n = static_cast<std::int64_t>(cut);

  Room room(n / 49 + 1, n / 6 + 1, n / 2 + 1, cut);
  const varlen::Status status = varlen::parse_header(json.data(), n, data_size, room.tables);
  require(status.code != Code::no_room);
  Room little(1, 1, 1, cut);
  const varlen::Status again = varlen::parse_header(json.data(), n, data_size, little.tables);
  require(again.code == Code::no_room || (again.code == status.code && again.where == status.where));
  if (!status.ok()) return 0;
  tiles_law(room.tables, data_size);
  layout_law(room.tables);
  return 0;
}
