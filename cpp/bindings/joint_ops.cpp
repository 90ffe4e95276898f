// What makes new columns: take, concat, stack, flatten, and the changes of shape.
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

/// An array for `count` rows like those of `like`.
py::array rows_like(const py::array& like, std::int64_t count) {
  std::vector<py::ssize_t> shape(like.shape(), like.shape() + like.ndim());
  shape[0] = count;
  return empty(like.dtype(), shape);
}

}  // namespace

Joint Joint::take(py::handle index) const {
  const Ints picked = as_ints(index, "index");
  const std::int64_t n = picked.count;
  const Range outer = range(0);
  auto root = std::make_shared<Root>();
  root->counts.push_back(n);
  std::vector<std::vector<Range>> ranges(static_cast<std::size_t>(depth() + 1));
  std::vector<std::vector<std::int64_t>> ends(ranges.size());
  ranges[0].resize(static_cast<std::size_t>(n));
  ends[0].resize(static_cast<std::size_t>(n));
  raise_if(gather_index(picked.data, n, outer.size(), ranges[0].data()), "index");
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
    const int d = root_->dims[c] - shift_;
    if (d < 0) continue;
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

Joint joint_concat(const std::vector<const Joint*>& parts, bool stack) {
  if (parts.empty()) raise_value("Can't concatenate an empty list!");
  const Joint& first = *parts[0];
  const int lift = stack ? 1 : 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (parts[p]->depth() != first.depth()) {
      raise_value("parts: part " + std::to_string(p) + " has " + std::to_string(parts[p]->depth()) +
                  " levels, the first has " + std::to_string(first.depth()));
    }
    parts[p]->check();
  }
  auto root = std::make_shared<Root>();
  if (stack) {
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
    const std::string& name = first.root().names[c];
    const py::array& like = first.root().arrays[c];
    const int d = first.root().dims[c] - first.shift() + lift;
    if (d < 0) continue;
    std::int64_t total = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const Root& source = parts[p]->root();
      const int at = source.find(name);
      if (at < 0) raise_value("parts: part " + std::to_string(p) + " has no key '" + name + "'");
      const auto k = static_cast<std::size_t>(at);
      const py::array& array = source.arrays[k];
      if (source.dims[k] - parts[p]->shift() + lift != d) {
        raise_value("parts: key '" + name + "' of part " + std::to_string(p) + " lies at another dim");
      }
      if (!array.dtype().equal(like.dtype()) || source.rows[k].width != first.root().rows[c].width ||
          array.ndim() != like.ndim()) {
        raise_value("parts: key '" + name + "' of part " + std::to_string(p) +
                    " has rows of another dtype or shape");
      }
      const Range r = parts[p]->ranges()[static_cast<std::size_t>(source.dims[k])];
      blocks[p] = {source.rows[k].data + r.begin * source.rows[k].width, r.size() * source.rows[k].width};
      total += r.size();
    }
    py::array out = rows_like(like, total);
    std::byte* to = bytes(out);
    {
      const Unlocked unlocked(total * first.root().rows[c].width);
      concat(blocks.data(), static_cast<std::int64_t>(blocks.size()), to);
    }
    root->add_column(name, d, std::move(out));
  }
  return Joint::whole(std::move(root));
}

std::shared_ptr<Root> Joint::compact() const {
  auto root = std::make_shared<Root>();
  root->counts.push_back(size());
  for (int d = 1; d <= depth(); ++d) root->add_level(make_level(d));
  for (std::size_t c = 0; c < root_->names.size(); ++c) {
    const int d = root_->dims[c] - shift_;
    if (d >= 0) root->add_column(root_->names[c], d, values(static_cast<int>(c)));
  }
  return root;
}

Joint Joint::select(const std::vector<std::string>& names) const {
  auto root = std::make_shared<Root>();
  int deepest = 0;
  for (const std::string& name : names) {
    const int c = root_->find(name);
    if (c < 0) throw py::key_error(name);
    deepest = std::max(deepest, root_->dims[static_cast<std::size_t>(c)]);
  }
  const auto levels = static_cast<std::size_t>(std::max(deepest, shift_));
  root->trusted = root_->trusted;
  root->owners.assign(root_->owners.begin(), root_->owners.begin() + static_cast<std::ptrdiff_t>(levels));
  root->levels.assign(root_->levels.begin(), root_->levels.begin() + static_cast<std::ptrdiff_t>(levels));
  root->counts.assign(root_->counts.begin(), root_->counts.begin() + static_cast<std::ptrdiff_t>(levels) + 1);
  for (const std::string& name : names) {
    const auto c = static_cast<std::size_t>(root_->find(name));
    root->add_column(name, root_->dims[c], root_->arrays[c]);
  }
  return {
      std::move(root), shift_, {ranges_.begin(), ranges_.begin() + static_cast<std::ptrdiff_t>(levels) + 1}};
}

Joint Joint::unsqueeze() const {
  return joint_concat({this}, true);
}

Joint Joint::squeeze() const {
  if (size() != 1) raise_value("squeeze: dim 0 has length " + std::to_string(size()) + ", not 1");
  return row(0);
}

Joint Joint::flatten(const std::string& spread) const {
  if (depth() < 1) raise_value("flatten: needs at least two dims");
  if (spread != "first" && spread != "repeat" && spread != "nan") {
    raise_value("spread: expected 'first', 'repeat' or 'nan', got '" + spread + "'");
  }
  check();
  const int last = depth();
  auto root = std::make_shared<Root>();
  root->counts.push_back(last > 1 ? size() : range(1).size());
  for (int d = 1; d < last - 1; ++d) root->add_level(make_level(d));
  const Offsets deepest = level(last);
  const Range slots = range(last);
  if (last > 1) {
    const Range rows = range(last - 2);
    py::array offsets = empty_ints(rows.size() + 1);
    ints(offsets)[0] = 0;
    joint_merge(level(last - 1), deepest, rows, slots.begin, ints(offsets) + 1);
    root->add_level(Level::trusted(std::move(offsets)));
  }
  for (std::size_t c = 0; c < root_->names.size(); ++c) {
    const int d = root_->dims[c] - shift_;
    if (d < 0) continue;
    if (d < last - 1) {
      root->add_column(root_->names[c], d, values(static_cast<int>(c)));
    } else if (d == last) {
      root->add_column(root_->names[c], last - 1, values(static_cast<int>(c)));
    } else {
      py::array out = rows_like(root_->arrays[c], slots.size());
      if (spread == "repeat") {
        joint_repeat(&deepest, 1, range(last - 1), root_->rows[c], slots, bytes(out));
      } else {
        py::object fill = py::none();
        if (spread == "nan" && out.dtype().kind() == 'f') {
          fill = rows_like(root_->arrays[c], 1);
          fill.attr("fill")(py::float_(std::numeric_limits<double>::quiet_NaN()));
        }
        const auto* pattern =
            fill.is_none() ? nullptr : static_cast<const std::byte*>(fill.cast<py::array>().data());
        joint_spread(&deepest, 1, range(last - 1), root_->rows[c], slots, pattern, bytes(out));
      }
      root->add_column(root_->names[c], last - 1, std::move(out));
    }
  }
  return whole(std::move(root));
}

}  // namespace varlen::bindings
