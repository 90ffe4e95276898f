#include "varlen/layout.hpp"

#include <algorithm>
#include <iterator>

#include "varlen/support/names.hpp"

namespace varlen {
namespace {

Status refuse(LayoutFault fault, std::int64_t entry) noexcept {
  return {Code::bad_layout, entry, static_cast<std::int64_t>(fault)};
}

bool is_level(const HeaderEntry& entry) noexcept {
  return entry.rank == 1 && (entry.tag == Tag::i64 || entry.tag == Tag::i32);
}

// The entry that gave the count of rows at each depth, for errors about one that differs.
struct Rows {
  Layout& layout;
  std::int64_t from[kMaxDepth + 1];

  Status agree(int dim, std::int64_t rows, std::int64_t entry) noexcept {
    if (layout.rows[dim] < 0) {
      layout.rows[dim] = rows;
      from[dim] = entry;
    }
    layout.other = from[dim];
    return layout.rows[dim] == rows ? Status{} : refuse(LayoutFault::rows, entry);
  }
};

Status check_names(const HeaderTables& t, std::int64_t keys) noexcept {
  const auto name_of = [&t](std::int64_t i) {
    int dim = 0;
    std::string_view name;
    return split_name(t.entries[t.order[i]].name, dim, name) ? name : std::string_view{};
  };
  const auto i = find_duplicate(keys, name_of, t.slots, t.scratch);
  return i < 0 ? Status{} : refuse(LayoutFault::duplicate, t.order[i]);
}

}  // namespace

bool split_name(std::string_view full, int& dim, std::string_view& name) noexcept {
  if (full.size() < 5 || !full.starts_with("dim")) return false;
  std::size_t place = 3;
  const bool is_negative = full[place] == '-';
  place += is_negative;
  const std::size_t digits = place;
  int value = 0;
  for (; place < full.size() && full[place] >= '0' && full[place] <= '9' && place - digits < 4; ++place) {
    value = value * 10 + (full[place] - '0');
  }
  const bool canonical =
      place > digits && (full[digits] != '0' || place == digits + 1) && !(is_negative && value == 0);
  if (!canonical || place >= full.size() || full[place] != '/') return false;
  dim = is_negative ? -value : value;
  name = full.substr(place + 1);
  return true;
}

Status parse_layout(HeaderTables& t, Layout& layout) noexcept {
  layout = {};
  std::fill(std::begin(layout.bounds), std::end(layout.bounds), -1);
  std::fill(std::begin(layout.lengths), std::end(layout.lengths), -1);
  std::fill(std::begin(layout.rows), std::end(layout.rows), -1);
  Rows rows{layout, {}};
  bool one_dim = true;
  int first_dim = 0;
  for (std::int64_t i = 0; i < t.entry_count; ++i) {
    const HeaderEntry& entry = t.entries[i];
    int dim = 0;
    std::string_view name;
    if (!split_name(entry.name, dim, name)) return refuse(LayoutFault::name, i);
    if (dim > kMaxDepth || dim < -kMaxDepth) return refuse(LayoutFault::depth, i);
    if (entry.rank == 0) return refuse(LayoutFault::scalar, i);
    layout.depth = std::max(layout.depth, dim);
    const std::int64_t count = t.dims[entry.dims];
    if (name == "bounds") {
      if (dim < 1) return refuse(LayoutFault::bounds_dim, i);
      if (!is_level(entry)) return refuse(LayoutFault::bounds_dtype, i);
      layout.bounds[dim] = i;
      if (const Status s = rows.agree(dim - 1, count, i); !s.ok()) return s;
      continue;
    }
    if (name == "lengths" && dim > 0 && is_level(entry)) {
      layout.lengths[dim] = i;
      continue;
    }
    if (layout.keys == 0) first_dim = dim;
    one_dim = one_dim && dim == first_dim;
    t.order[layout.keys++] = static_cast<std::uint32_t>(i);
    if (dim < 0) continue;
    if (const Status s = rows.agree(dim, count, i); !s.ok()) return s;
  }
  for (int level = 1; level <= layout.depth; ++level) {
    if (layout.bounds[level] >= 0) continue;
    layout.other = level;
    if (layout.lengths[level] < 0) return refuse(LayoutFault::missing, -1);
    const std::int64_t count = t.dims[t.entries[layout.lengths[level]].dims];
    if (const Status s = rows.agree(level - 1, count, layout.lengths[level]); !s.ok()) return s;
  }
  return one_dim ? Status{} : check_names(t, layout.keys);
}

std::string_view fault_text(LayoutFault fault) noexcept {
  constexpr std::string_view kTexts[] = {
      "the name is not dimK/name",
      "nested too deep",
      "a tensor without dimensions has no rows",
      "bounds must be one-dimensional integers",
      "bounds of a level below 1",
      "has another number of rows than",
      "there are no bounds for level",
      "the same name is there at another depth",
  };
  return kTexts[static_cast<std::size_t>(fault)];
}

}  // namespace varlen
