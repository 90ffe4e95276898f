// What gathers columns anew: take, concat and stack.
#include <pybind11/stl.h>

#include <algorithm>

#include "arrays.hpp"
#include "joint.hpp"
#include "raise.hpp"
#include "varlen/concat.hpp"
#include "varlen/gather.hpp"

namespace varlen::bindings {

namespace {

std::int64_t* ints(py::array& array) {
  return static_cast<std::int64_t*>(array.mutable_data());
}
std::byte* bytes(py::array& array) {
  return static_cast<std::byte*>(array.mutable_data());
}

}  // namespace

Joint Joint::take(py::handle index) const {
  const Ints picked = as_ints(index, "index");
  const std::int64_t n = picked.count;
  if (depth() < 0) raise_index("too many indices");
  auto root = std::make_shared<Root>();
  root->meta = root_->meta;
  root->counts.push_back(n);
  const Range outer = range(0);
  std::vector<std::vector<Range>> ranges(static_cast<std::size_t>(depth() + 1));
  std::vector<std::vector<std::int64_t>> ends(ranges.size());
  ranges[0].resize(static_cast<std::size_t>(n));
  ends[0].resize(static_cast<std::size_t>(n));
  if (const Status status = gather_index(picked.data, n, outer.size(), ranges[0].data()); !status.ok()) {
    raise_index("Index " + std::to_string(status.value) + " is out of range at dim 0 (length " +
                std::to_string(outer.size()) + ").");
  }
  for (std::int64_t k = 0; k < n; ++k) {
    Range& r = ranges[0][static_cast<std::size_t>(k)];
    r = {r.begin + outer.begin, r.end + outer.begin};
    ends[0][static_cast<std::size_t>(k)] = k + 1;
  }
  for (int d = 1; d <= depth(); ++d) {
    const auto above = static_cast<std::size_t>(d - 1);
    auto& below = ranges[above + 1];
    below.resize(static_cast<std::size_t>(n));
    ends[above + 1].resize(static_cast<std::size_t>(n));
    raise_level(
        gather_descend(level(d), ranges[above].data(), n, root_->counts[static_cast<std::size_t>(d + shift_)],
                       below.data(), ends[above + 1].data()),
        d + shift_);
    py::array offsets = empty_ints((n > 0 ? ends[above].back() : 0) + 1);
    ints(offsets)[0] = 0;
    raise_level(gather_ends(level(d), ranges[above].data(), below.data(), ends[above + 1].data(), n,
                            ints(offsets) + 1),
                d + shift_);
    root->add_level(Level::trusted(std::move(offsets)));
  }
  for (std::size_t c = 0; c < root_->names.size(); ++c) {
    const int d = dim(c);
    if (d < 0) {
      root->add_column(root_->names[c], d, values(c));
      continue;
    }
    const auto at = static_cast<std::size_t>(d);
    const std::int64_t total = n > 0 ? ends[at].back() : 0;
    py::array out = rows_like(root_->arrays[c], total);
    std::byte* to = bytes(out);
    {
      const Unlocked unlocked(total * root_->rows[c].width);
      gather_rows(root_->rows[c], ranges[at].data(), ends[at].data(), n, to);
    }
    root->add_column(root_->names[c], d, std::move(out));
  }
  return whole(std::move(root));
}

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
    part.check();
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

Joint joint_concat(const std::vector<const Joint*>& parts, bool stack) {
  check_parts(parts);
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
