// What the keys and masks of a batch are filled with: the jobs, which run with the GIL released.
#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "batch.hpp"
#include "out.hpp"
#include "support/arrays.hpp"
#include "support/raise.hpp"
#include "varlen/offsets.hpp"

namespace varlen::bindings {

std::byte* BatchOutputs::scratch(std::int64_t bytes) {
  constexpr std::int64_t kKept = std::int64_t{64} << 20;
  thread_local std::unique_ptr<std::byte[]> memory;
  thread_local std::int64_t have = 0;
  if (bytes > have || have > kKept) {
    memory.reset();
    have = 0;
    memory.reset(new std::byte[static_cast<std::size_t>(bytes)]);
    have = bytes;
  }
  return memory.get();
}

std::vector<Segment> BatchOutputs::segments(const BatchKey* key, int axes) const {
  const std::size_t inner = w_.own_ends.size() - 2;  // where there are some
  std::vector<Segment> all(static_cast<std::size_t>(w_.count));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t s = w_.from(i);
    all[i].levels = b_.sources_[s].nest.levels + 1;
    if (key != nullptr) {
      all[i].values = key->feeds[s].rows;
      all[i].values.width = key->feeds[key->one].rows.width;  // a source without rows has none of its own
    }
    all[i].rows = w_.ranges[1][i];
    if (own_levels_.empty() || axes < 2) continue;
    // Levels of our own are counted from the first row of their run, and so are its values.
    const Range rows = w_.ranges[static_cast<std::size_t>(axes)][i];
    all[i].levels = own_levels_.data() + i * inner;
    all[i].rows = {0, all[i].rows.size()};
    if (key == nullptr || rows.size() == 0) continue;
    all[i].values.data += rows.begin * all[i].values.width;
    all[i].values.count = rows.size();
  }
  return all;
}

void BatchOutputs::level_ends(int axis, std::int64_t* out) const {
  const auto a = static_cast<std::size_t>(axis);
  const Range* const above = w_.ranges[a - 1].data();
  const Range* const below = w_.ranges[a].data();
  if (own_levels_.empty()) {
    batch_level(runs_, axis - 1, above, below, out);
  } else {
    batch_own_level(w_.count, above, below, w_.own_ends[a].data(), out);
  }
}

void BatchOutputs::end_to_end(const std::vector<Feed>& feeds, const BatchKey& key, std::int64_t width,
                              const std::byte* between, std::byte* into) const {
  const auto axis = static_cast<std::size_t>(key.axes);
  const std::int64_t* ends = w_.run_ends[axis].data();
  if (is_spread(key)) {
    batch_spread(feeds.data(), runs_, w_.ranges[1].data(), w_.up_view.data(), ends, b_.options_.spread,
                 between, width, into);
  } else {
    batch_rows(feeds.data(), runs_, w_.ranges[axis].data(), ends, width, into);
  }
}

void BatchOutputs::pad_rows(const std::byte* rows, int axes, std::int64_t width, const std::byte* pattern,
                            std::byte* to) {
  std::vector<Offsets> levels{{w_.row_ends, w_.n}};
  for (int axis = 2; axis <= axes; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    auto& ends = w_.levels[a];
    if (ends.empty()) {
      ends.resize(static_cast<std::size_t>(w_.total(axis - 1)));
      level_ends(axis, ends.data());
    }
    levels.push_back({ends.data(), static_cast<std::int64_t>(ends.size())});
  }
  pad(levels.data(), axes, {0, w_.n}, {rows, w_.total(axes), width}, w_.sizes.data(), how(pattern), to);
}

void BatchOutputs::values(const BatchKey& key) {
  std::byte* to = make(key.text, key.fill.dtype(), shape_of(key.axes, key.fill));
  if (key.axes == 0) {
    jobs_.emplace_back([this, &key, to] { outer(key.feeds, key.width, to); });
  } else if (b_.options_.ragged) {
    jobs_.emplace_back([this, &key, to] { end_to_end(key.feeds, key, key.width, key.between, to); });
  } else if (is_spread(key) || !key.alike) {
    jobs_.emplace_back([this, &key, to] {
      std::byte* rows = scratch(w_.total(key.axes) * key.width);
      end_to_end(key.feeds, key, key.width, key.between, rows);
      pad_rows(rows, key.axes, key.width, key.pattern, to);
    });
  } else {
    jobs_.emplace_back([this, &key, to] {
      const auto all = segments(&key, key.axes);
      pad_segments(all.data(), w_.per_row, w_.n, key.axes, w_.sizes.data(),
                   how(key.pattern, key.feeds[key.one].convert), to);
    });
  }
  if (!key.nan.is_none()) not_nan(key);
}

void BatchOutputs::not_nan(const BatchKey& key) {
  const std::int64_t width = key.width / key.fill.itemsize();
  std::byte* to = make(py::str(key.name + "/mask"), py::dtype::of<bool>(), shape_of(key.axes, key.fill));
  jobs_.emplace_back([this, &key, width, to] {
    const bool direct = key.axes == 0 || b_.options_.ragged;
    const std::int64_t count = (key.axes == 0 ? w_.n : w_.total(key.axes)) * width;
    std::byte* rows = direct ? to : scratch(count);
    if (key.axes == 0) {
      outer(key.nan_feeds, width, rows);
    } else {
      const std::vector<std::byte> ones(static_cast<std::size_t>(width), std::byte{1});
      const std::byte* between = b_.options_.spread_nan ? ones.data() : nullptr;
      end_to_end(key.nan_feeds, key, width, between, rows);
    }
    for (std::int64_t i = 0; i < count; ++i) rows[i] ^= std::byte{1};
    if (!direct) pad_rows(rows, key.axes, width, nullptr, to);
  });
}

void BatchOutputs::outer(const std::vector<Feed>& feeds, std::int64_t width, std::byte* to) const {
  std::vector<std::int64_t> ends(static_cast<std::size_t>(w_.n));
  std::iota(ends.begin(), ends.end(), 1);
  if (w_.per_row == 1) {
    batch_rows(feeds.data(), runs_, w_.records.data(), ends.data(), width, to);
    return;
  }
  const auto per_row = static_cast<std::size_t>(w_.per_row);
  const std::size_t window = b_.prefix_ >= 0 ? 1 : 0;
  std::vector<std::int32_t> of(ends.size());
  std::vector<Range> records(ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    of[i] = w_.of[i * per_row + window];
    records[i] = w_.records[i * per_row + window];
  }
  batch_rows(feeds.data(), {b_.sources_.data(), of.data(), w_.n}, records.data(), ends.data(), width, to);
}

void BatchOutputs::mask(int axes) {
  const py::array none;
  std::byte* to =
      make(py::str("dim" + std::to_string(axes) + "/mask"), py::dtype::of<bool>(), shape_of(axes, none));
  jobs_.emplace_back([this, axes, to] {
    const auto all = segments(nullptr, axes);
    pad_segments_mask(all.data(), w_.per_row, w_.n, axes, w_.sizes.data(), how(nullptr), to);
  });
}

}  // namespace varlen::bindings
