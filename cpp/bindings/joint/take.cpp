// Rows picked anew: every column and level of them in one call.
#include "joint.hpp"
#include "support/arrays.hpp"
#include "support/raise.hpp"
#include "varlen/gather.hpp"

namespace varlen::bindings {

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
    LevelRef made = Level::trusted(std::move(offsets));
    if (const std::int64_t want = n > 0 ? ends[above + 1].back() : 0; made->total() != want) {
      raise_level({Code::total_mismatch, -1, made->total()}, d + shift_);  // written to meanwhile
    }
    root->add_level(std::move(made));
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

}  // namespace varlen::bindings
