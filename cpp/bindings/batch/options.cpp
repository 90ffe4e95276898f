// What a batcher is made of: options by name, keys with their rows of fill.
#include <pybind11/stl.h>

#include "batch.hpp"
#include "joint/joint.hpp"
#include "support/arrays.hpp"
#include "support/dtypes.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace batch_options_named {

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

}  // namespace batch_options_named

BatchOptions batch_options(const py::dict& input) {
  using namespace batch_options_named;
  BatchOptions o;
  o.max_bytes = default_max_bytes();
  for (const auto& [key, value] : input) {
    const auto name = key.cast<std::string>();
    if (take(kFlags, name, value, o) || take(kNumbers, name, value, o) || take(kPerAxis, name, value, o)) {
      continue;
    }
    if (name == "fill_mode") {
      const auto text = value.cast<std::string>();
      if (text != "first" && text != "repeat" && text != "nan")
        raise_value("fill_mode", "expected 'first', 'repeat' or 'nan', got '" + text + "'");
      o.fill_mode = text == "repeat" ? FillMode::repeat : FillMode::first;
      o.fill_nan = text == "nan";
    } else if (name == "padding_side") {
      o.side = side_of(value.cast<std::string>(), "padding_side");
    } else if (name == "truncate") {
      o.cut = side_of(value.cast<std::string>(), "truncate");
    } else if (name == "draw") {
      o.draw = static_cast<Draw>(value.cast<int>());
    } else {
      raise_type("options", "'" + name + "' is not one");
    }
  }
  return o;
}

BatchKey batch_key(const std::string& name, int dim, py::handle fill, py::handle nan, py::handle filler,
                   const BatchOptions& options) {
  const py::array row = as_rows(fill, name.c_str());
  BatchKey key{name, dim, std::make_shared<ArrayValues>(row), nullptr, nullptr};
  if (!nan.is_none()) key.nan = std::make_shared<ArrayValues>(py::array(nan.attr("reshape")(-1)));
  if (!filler.is_none()) {
    const py::array hole = as_rows(filler, name.c_str());
    if (hole.nbytes() != row.nbytes()) raise_value(name, "the row between is not like that of padding");
    key.gap_row = std::make_shared<ArrayValues>(hole);
  } else if (options.fill_nan && nan.is_none()) {
    if (auto missing = missing_row(row)) key.gap_row = std::make_shared<ArrayValues>(std::move(*missing));
  } else if (options.fill_nan) {
    auto filler_row = row.attr("copy")().cast<py::array>();
    filler_row[py::ellipsis()] = nan;
    key.gap_row = std::make_shared<ArrayValues>(std::move(filler_row));
  }
  return key;
}

}  // namespace varlen::bindings
