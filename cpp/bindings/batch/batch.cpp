#include "batch.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <limits>

#include "support/arrays.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

template <class T>
struct Option {
  const char* name;
  T BatchOptions::*field;
};

constexpr Option<bool> kFlags[] = {
    {"flatten", &BatchOptions::flatten},       {"lift", &BatchOptions::lift},
    {"ragged", &BatchOptions::ragged},         {"masks", &BatchOptions::masks},
    {"lengths", &BatchOptions::lengths},       {"positions", &BatchOptions::positions},
    {"parts", &BatchOptions::parts},           {"windows", &BatchOptions::windows},
    {"cu_seqlens", &BatchOptions::cu_seqlens},
};
constexpr Option<std::int64_t> kNumbers[] = {
    {"max_len", &BatchOptions::max_len},
    {"max_bytes", &BatchOptions::max_bytes},
};
constexpr Option<std::vector<std::int64_t>> kPerAxis[] = {
    {"inner_max", &BatchOptions::inner_max},
    {"pad_to", &BatchOptions::pad_to},
    {"multiple", &BatchOptions::multiple},
};

/// Takes the value where one of the options has that name.
template <class T, std::size_t n>
bool take(const Option<T> (&options)[n], const std::string& name, py::handle value, BatchOptions& o) {
  for (const Option<T>& option : options) {
    if (name != option.name) continue;
    o.*option.field = value.cast<T>();
    return true;
  }
  return false;
}

BatchOptions read_options(const py::dict& given) {
  BatchOptions o;
  for (const auto& [key, value] : given) {
    const auto name = key.cast<std::string>();
    if (take(kFlags, name, value, o) || take(kNumbers, name, value, o) || take(kPerAxis, name, value, o)) {
      continue;
    }
    if (name == "spread") {
      const auto text = value.cast<std::string>();
      if (text != "first" && text != "repeat" && text != "nan")
        raise_value("spread: expected 'first', 'repeat' or 'nan', got '" + text + "'");
      o.spread = text == "repeat" ? Spread::repeat : Spread::first;
      o.spread_nan = text == "nan";
    } else if (name == "padding_side") {
      o.side = side_of(value.cast<std::string>(), "padding_side");
    } else if (name == "truncate") {
      o.cut = side_of(value.cast<std::string>(), "truncate");
    } else if (name == "draw") {
      o.draw = static_cast<Draw>(value.cast<int>());
    } else {
      raise_type("options: '" + name + "' is not one");
    }
  }
  return o;
}

const Joint& joint_at(py::handle object, const char* argument) {
  const Joint* joint = joint_of(object.ptr());
  if (joint == nullptr) raise_type(std::string(argument) + ": expected a Joint, got " + type_name(object));
  return *joint;
}

}  // namespace

Batcher::Batcher(const py::list& shards, std::vector<std::string> labels, const py::object& prefix,
                 const py::object& suffix, const std::vector<std::string>& names,
                 const std::vector<int>& dims, const py::list& fills, const py::list& nans,
                 const py::dict& options)
    : labels_(std::move(labels)), options_(read_options(options)) {
  for (std::size_t k = 0; k < names.size(); ++k) depth_ = std::max(depth_, dims[k]);
  if (depth_ > kMaxBatchDepth) raise_value("keys: nested deeper than " + std::to_string(kMaxBatchDepth));
  axes_ = options_.flatten ? std::min(depth_, 1) : depth_;
  for (std::size_t k = 0; k < names.size(); ++k) {
    keys_.push_back(make_key(names[k], dims[k], fills[k], nans[k], options_));
    keys_.back().axes = std::min(dims[k], axes_);
    has_outer_ = has_outer_ || keys_.back().axes == 0;
  }
  labels_.resize(shards.size());
  // Views point into these.
  const std::size_t most = shards.size() + 2;
  joints_.reserve(most);
  levels_.reserve(most);
  counts_.reserve(most);
  lifts_.reserve(most);
  starts_.push_back(0);
  for (std::size_t s = 0; s < shards.size(); ++s) {
    add_source(joint_at(shards[s], "shards"), labels_[s], false);
    starts_.push_back(starts_.back() + sources_.back().records.size());
  }
  add_edge(prefix, "prefix", prefix_);
  add_edge(suffix, "suffix", suffix_);
  for (const Joint& joint : joints_) joint.root().add_memory(read_);
  read_.settle();
}

void Batcher::add_edge(const py::object& joint, const char* name, std::int32_t& at) {
  if (joint.is_none()) return;
  if (axes_ < 1)
    raise_value(std::string(name) + ": the keys of this batch have no ragged axis to join it on");
  at = static_cast<std::int32_t>(sources_.size());
  labels_.emplace_back(name);
  add_source(joint_at(joint, name), name, true);
}

void Batcher::add_source(const Joint& joint, const std::string& label, bool edge) {
  const std::string where = label.empty() ? "" : label + ": ";
  joints_.push_back(joint);
  const Joint& j = joints_.back();
  if (j.depth() < 0) raise_value(where + "a value that is fully indexed has no rows");
  const int lift = options_.lift && !edge ? 1 : 0;
  const int want = edge && options_.flatten ? 1 : depth_;
  const int have = std::min(want - lift, j.depth());
  auto& levels = levels_.emplace_back();
  auto& counts = counts_.emplace_back();
  Source source;
  source.records = j.range(0);
  source.trusted = j.root().trusted;
  if (lift == 1) {  // its rows are one record: the second of a level whose first has what lies before them
    auto& ends = lifts_.emplace_back(std::array{source.records.begin, source.records.end});
    levels.push_back({ends.data(), 2});
    counts.push_back(2);
    source.records = {1, 2};
  }
  for (int d = 0; d <= have; ++d) {
    counts.push_back(j.root().counts[static_cast<std::size_t>(d + j.shift())]);
    if (d < have) levels.push_back(j.levels()[d]);
  }
  if (static_cast<int>(levels.size()) < want && counts.back() > 0) {
    raise_value(where + "has " + std::to_string(j.depth()) + " levels, the batch needs " +
                std::to_string(want - lift));
  }
  while (static_cast<int>(levels.size()) < want) {  // nothing lies below nothing, however deep
    levels.push_back({nullptr, 0});
    counts.push_back(0);
  }
  source.nest = {levels.data(), counts.data(), want};
  trusted_ = trusted_ && source.trusted;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    const int dim = edge && options_.flatten ? std::min(keys_[k].dim, 1) : keys_[k].dim;
    const bool needed = counts[static_cast<std::size_t>(dim)] > 0 && !(edge && dim == 0);
    add_feed(keys_[k], j, dim, dim - lift, needed, where);
  }
  sources_.push_back(source);
}

void Batcher::raise(const BatchWork& work, const BatchFault& fault) const {
  std::string text = fault.argument;
  const bool value = fault.status.code == Code::not_representable;
  if (fault.place.run >= 0) {
    const std::size_t s = work.from(static_cast<std::size_t>(fault.place.run));
    text = labels_[s].empty() ? "" : labels_[s] + ": ";
    if (value) {
      raise_value(text + "'" + fault.argument + "' row " + std::to_string(fault.status.where) +
                  " holds a value that the dtype of the batch does not; give dtype={'" + fault.argument +
                  "': ...}");
    }
    text += "dim" + std::to_string(fault.place.level + joints_[s].shift()) + "/bounds";
  }
  raise_if(fault.status, text.c_str());
  raise_value(text);
}

}  // namespace varlen::bindings
