// The columns of a batch: what each source has of a key, and how it becomes the output's dtype.
#include <algorithm>
#include <cstring>
#include <limits>

#include "batch.hpp"
#include "out.hpp"
#include "support/arrays.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

const std::byte* bytes_of(const py::array& array) {
  return static_cast<const std::byte*>(array.data());
}

bool all_zero(const py::array& array) {
  const std::byte* bytes = bytes_of(array);
  return std::all_of(bytes, bytes + array.nbytes(), [](std::byte b) { return b == std::byte{0}; });
}

void none_is_nan(const std::byte* /*in*/, std::int64_t count, const std::byte* /*nan*/,
                 std::byte* out) noexcept {
  std::memset(out, 0, static_cast<std::size_t>(count));
}

bool same_convert(const Feed& a, const Feed& b) {
  return a.convert.run == b.convert.run && a.convert.nan == b.convert.nan && a.rows.width == b.rows.width;
}

}  // namespace

BatchKey make_key(const std::string& name, int dim, const py::handle& fill, const py::handle& nan,
                  const BatchOptions& options) {
  BatchKey key;
  key.name = name;
  key.text = py::str(name);
  key.dim = dim;
  key.fill = as_rows(fill, name.c_str());
  key.width = row_bytes(key.fill);
  if (!all_zero(key.fill)) key.pattern = bytes_of(key.fill);
  key.type = type_of(key.fill.dtype());
  key.nan = py::reinterpret_borrow<py::object>(nan);
  if (options.spread_nan && (key.fill.dtype().kind() == 'f' || !key.nan.is_none())) {
    key.spread = key.fill.attr("copy")().cast<py::array>();
    if (key.nan.is_none()) {
      key.spread.attr("fill")(py::float_(std::numeric_limits<double>::quiet_NaN()));
    } else {
      key.spread[py::ellipsis()] = key.nan;
    }
    if (!all_zero(key.spread)) key.between = bytes_of(key.spread);
  }
  return key;
}

void Batcher::add_feed(BatchKey& key, const Joint& j, int dim, int place, bool needed,
                       const std::string& where) const {
  Feed feed{{nullptr, 0, key.width}, dim, {}};
  if (!needed) {
    key.feeds.push_back(feed);
    key.nan_feeds.push_back(feed);
    key.from.push_back(key.type.value_or(Type::b1));
    return;
  }
  const int c = j.root().find(key.name);
  if (c < 0) raise_value(where + "has no key '" + key.name + "'");
  const auto at = static_cast<std::size_t>(c);
  if (j.dim(at) != place) {
    raise_value(where + "key '" + key.name + "' lies at dim " + std::to_string(j.dim(at)) + ", not " +
                std::to_string(place));
  }
  const py::array& array = j.root().arrays[at];
  const bool same_row = array.ndim() == key.fill.ndim() &&
                        std::equal(array.shape() + 1, array.shape() + array.ndim(), key.fill.shape() + 1);
  if (!same_row) raise_value(where + "rows of '" + key.name + "' have another shape");
  const std::optional<Type> from = type_of(array.dtype());
  feed.rows = j.root().rows[at];
  if (place < 0) feed.rows.data += (j.column_range(at).begin - 1) * feed.rows.width;  // of record 1
  Feed mask = feed;
  if (!array.dtype().equal(key.fill.dtype()) || !key.nan.is_none()) {
    if (!from || !key.type) {
      raise_type(where + "'" + key.name + "' is " + py::str(array.dtype()).cast<std::string>() +
                 ", which does not become " + py::str(key.fill.dtype()).cast<std::string>());
    }
    const bool replaces = !key.nan.is_none() && is_float(*from);
    feed.convert = cast_of(*from, *key.type, replaces ? bytes_of(key.nan.cast<py::array>()) : nullptr);
    mask.convert = is_float(*from) ? nan_mask_of(*from) : Convert{none_is_nan, array.itemsize(), 1, nullptr};
  }
  const bool first =
      std::none_of(key.feeds.begin(), key.feeds.end(), [](const Feed& f) { return f.rows.data != nullptr; });
  if (!first) key.alike = key.alike && same_convert(key.feeds[key.one], feed);
  if (first) key.one = key.feeds.size();
  key.feeds.push_back(feed);
  key.nan_feeds.push_back(mask);
  key.from.push_back(from.value_or(Type::b1));
}

void Batcher::check_values(const BatchWork& work) const {
  for (const BatchKey& key : keys_) {
    const bool any = std::any_of(key.feeds.begin(), key.feeds.end(),
                                 [](const Feed& feed) { return feed.convert.run != nullptr; });
    if (!any || !key.type) continue;
    const bool spread = options_.flatten && key.dim < depth_ && key.dim > 0;
    const auto axis = static_cast<std::size_t>(spread ? key.dim : key.axes);
    const Range* ranges = key.axes == 0 ? work.records.data()
                          : spread      ? work.up[axis].data()
                                        : work.ranges[axis].data();
    check_runs(work, key, key.feeds, ranges);
    if (!spread) continue;
    std::vector<Feed> edges = key.feeds;  // those lie at the slots already
    for (std::size_t s = 0; s + 1 < starts_.size(); ++s) edges[s].convert = {};
    check_runs(work, key, edges, work.ranges[1].data());
  }
}

void Batcher::check_runs(const BatchWork& work, const BatchKey& key, const std::vector<Feed>& feeds,
                         const Range* ranges) const {
  Place place;
  const Status status = batch_fits(feeds.data(), key.from.data(), *key.type, !key.nan.is_none(),
                                   work.runs(sources_.data()), ranges, place);
  if (!status.ok()) throw BatchFault{status, place, key.name};
}

}  // namespace varlen::bindings
