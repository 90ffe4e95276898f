// Parts put together, one after another or each as one row of a new outer dim.
#include "varlen/concat.hpp"

#include <algorithm>

#include "joint.hpp"
#include "support/arrays.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

/// Where a part keeps the column `name`: where the first part does, as a rule.
int find_column(const Root& root, std::size_t guess, const std::string& name) {
  if (guess < root.names.size() && root.names[guess] == name) return static_cast<int>(guess);
  return root.find(name);
}

bool same_rows(const Root& a, std::size_t i, const Root& b, std::size_t k) {
  const py::array& x = a.arrays[i];
  const py::array& y = b.arrays[k];
  const auto* left = py::detail::array_proxy(x.ptr())->descr;
  const auto* right = py::detail::array_proxy(y.ptr())->descr;
  return (left == right || x.dtype().equal(y.dtype())) && x.ndim() == y.ndim() &&
         std::equal(x.shape() + 1, x.shape() + x.ndim(), y.shape() + 1);
}

/// Every part has the column of the first at the same dim, in rows of one kind. A column that is to be
/// dropped where a part lacks it gives false; any other a ValueError.
bool gather_blocks(const std::vector<const Joint*>& parts, std::size_t c, bool may_drop,
                   std::vector<Block>& blocks, std::int64_t& total) {
  const Joint& first = *parts[0];
  const std::string& name = first.root().names[c];
  const int d = first.dim(c);
  total = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const Joint& part = *parts[p];
    const Root& source = part.root();
    auto k = c;
    if (&source != &first.root()) {
      const int at = find_column(source, c, name);
      const bool there = at >= 0 && part.dim(static_cast<std::size_t>(at)) == d;
      if (!there && may_drop) return false;
      if (at < 0) raise_value("parts: part " + std::to_string(p) + " has no key '" + name + "'");
      if (!there)
        raise_value("parts: key '" + name + "' of part " + std::to_string(p) + " lies at another dim");
      k = static_cast<std::size_t>(at);
      if (!same_rows(first.root(), c, source, k)) {
        if (may_drop) return false;
        raise_value("parts: key '" + name + "' of part " + std::to_string(p) +
                    " has rows of another dtype or shape");
      }
    } else if (part.dim(k) != d) {
      raise_value("parts: key '" + name + "' of part " + std::to_string(p) + " lies at another dim");
    }
    const Range r = part.column_range(k);
    if (may_drop && r.size() != 1) return false;
    const std::int64_t width = source.rows[k].width;
    blocks[p] = {source.rows[k].data + r.begin * width, r.size() * width};
    total += r.size();
  }
  return true;
}

std::size_t live_columns(const Joint& joint) {
  std::size_t n = 0;
  for (std::size_t c = 0; c < joint.root().names.size(); ++c) n += joint.dim(c) >= 0 ? 1 : 0;
  return n;
}

void check_parts(const std::vector<const Joint*>& parts) {
  if (parts.empty()) raise_value("Can't concatenate an empty list!");
  const Joint& first = *parts[0];
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const Joint& part = *parts[p];
    if (part.depth() != first.depth()) {
      raise_value("parts: part " + std::to_string(p) + " has " + std::to_string(part.depth()) +
                  " levels, the first has " + std::to_string(first.depth()));
    }
    if (&part.root() == &first.root()) continue;
    if (live_columns(part) != live_columns(first)) {
      raise_value("parts: part " + std::to_string(p) + " has " + std::to_string(live_columns(part)) +
                  " keys, the first has " + std::to_string(live_columns(first)));
    }
    if (!part.root().meta.is(first.root().meta) && !part.root().meta.equal(first.root().meta)) {
      raise_value("parts: part " + std::to_string(p) +
                  " has other vocabularies, units or row ids than the first; make them one before");
    }
  }
}

}  // namespace

Joint joint_concat(const std::vector<const Joint*>& given, bool stack) {
  check_parts(given);
  std::vector<Joint> settled;
  settled.reserve(given.size());
  std::vector<const Joint*> parts;
  for (const Joint* part : given) parts.push_back(&settled.emplace_back(part->settled()));
  const Joint& first = *parts[0];
  const int lift = stack ? 1 : 0;
  auto root = std::make_shared<Root>();
  root->meta = first.root().meta;
  if (first.depth() < 0) {
    if (!stack) raise_value("parts: every dim was indexed away, stack them instead");
    root->counts.push_back(static_cast<std::int64_t>(parts.size()));
  } else if (stack) {
    py::array offsets = empty_ints(static_cast<std::int64_t>(parts.size()) + 1);
    std::int64_t* out = ints(offsets);
    out[0] = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) out[p + 1] = out[p] + parts[p]->range(0).size();
    root->add_level(Level::trusted(std::move(offsets)));
  } else {
    std::int64_t n = 0;
    for (const Joint* part : parts) n += part->range(0).size();
    root->counts.push_back(n);
  }
  for (int d = 1; d <= first.depth(); ++d) {
    py::array offsets = empty_ints(root->counts.back() + 1);
    std::int64_t* out = ints(offsets);
    *out++ = 0;
    std::int64_t total = 0;
    for (const Joint* part : parts) {
      const Range above = part->range(d - 1);
      raise_level(joint_ends(part->level(d), above, part->range(d).begin - total, out), d);
      out += above.size();
      total += part->range(d).size();
    }
    root->add_level(Level::trusted(std::move(offsets)));
  }
  std::vector<Block> blocks(parts.size());
  for (std::size_t c = 0; c < first.root().names.size(); ++c) {
    const int d = first.dim(c) + lift;
    if (stack && d < 0) continue;  // left behind twice
    std::int64_t total = 0;
    if (!gather_blocks(parts, c, stack && d == 0, blocks, total)) continue;
    py::array out = rows_like(first.root().arrays[c], total);
    std::byte* to = bytes(out);
    {
      const Unlocked unlocked(total * first.root().rows[c].width);
      concat(blocks.data(), static_cast<std::int64_t>(blocks.size()), to);
    }
    root->add_column(first.root().names[c], d, std::move(out));
  }
  return Joint::whole(std::move(root));
}

}  // namespace varlen::bindings
