#include "shape.hpp"

#include <algorithm>

#include "support/arrays.hpp"
#include "support/ndarray.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

/// Depth at the first leaf or array, or -1 - the deepest list where there is none.
int probe(PyObject* list, int level, const char* name) {
  if (level > kMaxDepth) raise_deep(name);
  const Api& api = Api::get();
  const Items items = items_of(list);
  int deepest = level;
  for (Py_ssize_t i = 0; i < items.size; ++i) {
    PyObject* child = items.data[i];
    if (is_list(child)) {
      const int child_depth = probe(child, level + 1, name);
      if (child_depth >= 0) return child_depth;
      deepest = std::max(deepest, -1 - child_depth);
    } else if (is_array(child, api)) {
      if (fields_of(child)->nd == 0) return level;
      if (holds_objects(fields_of(child)->descr)) throw NeedsPython{};
      return level + 1;
    } else if (is_number(child) || never_a_number(child)) {
      return level;
    } else {
      throw NeedsPython{};
    }
  }
  return -1 - deepest;
}

/// Writes the ends of one level: the lengths of the nodes that lie `level` + 1 steps below the root.
class LevelWalk {
 public:
  LevelWalk(Shape& shape, int level, bool last, std::int64_t* offsets, const char* name)
      : shape_(shape), level_(level), last_(last), offsets_(offsets), name_(name) {}

  void walk(PyObject* list, int steps) {
    const Items items = items_of(list);
    if (steps > 0) {
      for (Py_ssize_t i = 0; i < items.size; ++i) walk(items.data[i], steps - 1);
      return;
    }
    constexpr Py_ssize_t kPrefetch = 16;
    std::int64_t* ends = offsets_ + index_ + 1;
    for (Py_ssize_t i = 0; i < items.size; ++i) {
      PyObject* child = items.data[i];
      if (i + kPrefetch < items.size) ask_for(items.data[i + kPrefetch]);
      if (PyList_CheckExact(child)) [[likely]] {
        const Py_ssize_t size = PyList_GET_SIZE(child);
        size_bits_ |= size;
        total_ += size;
      } else {
        total_ += length(child, index_ + i);
      }
      ends[i] = total_;
    }
    index_ += items.size;
  }

  void finish() {
    if (!last_) return;
    shape_.any_list = size_bits_ != 0;
    shape_.total = total_;
  }

 private:
  std::int64_t length(PyObject* child, std::int64_t place) {
    if (is_list(child)) {
      const Py_ssize_t size = items_of(child).size;
      size_bits_ |= size;
      return size;
    }
    const Api& api = Api::get();
    if (is_array(child, api) && fields_of(child)->nd > 0) {
      const auto* array = fields_of(child);
      if (holds_objects(array->descr)) throw NeedsPython{};
      if (!last_) {
        raise_value(path(place), "an array is a row, but rows lie " +
                                     std::to_string(shape_.depth() - 1 - level_) + " deeper elsewhere");
      }
      shape_.any_array = true;
      shape_.any_block = shape_.any_block || array->nd > 1;
      return array->dimensions[0];
    }
    if (never_a_number(child))
      raise_type(path(place), "expected a list or an array, got " + type_name(child));
    if (!is_number(child) && !is_array(child, api)) throw NeedsPython{};
    raise_value(
        Record{path(place),
               "expected a list or an array, got " + type_name(child) + ": not nested as deep as the rest",
               {},
               {},
               {},
               "nesting"});
  }

  std::string path(std::int64_t place) const { return path_of(shape_, level_, place, name_); }

  Shape& shape_;
  int level_;
  bool last_;
  std::int64_t* offsets_;
  const char* name_;
  std::int64_t index_ = 0;
  std::int64_t total_ = 0;
  std::int64_t size_bits_ = 0;
};

}  // namespace

void raise_deep(const char* name) {
  raise_value(name,
              "nested deeper than " + std::to_string(kMaxDepth) + " levels, or a list that contains itself");
}

int depth_of(PyObject* root, const char* name) {
  if (!is_list(root)) return 0;
  const int depth = probe(root, 0, name);
  return depth >= 0 ? depth : -1 - depth;
}

Shape shape_of(PyObject* root, int depth, const char* name) {
  Shape shape;
  const bool list = is_list(root);
  shape.total = list ? items_of(root).size : fields_of(root)->dimensions[0];
  if (!list) {
    if (depth > 0) {
      raise_value(name, "an array is one row, it has no levels; give depth=0, or a list of arrays");
    }
    shape.any_array = true;
    shape.any_block = fields_of(root)->nd > 1;
    return shape;
  }
  shape.any_list = shape.total > 0;
  for (int level = 0; level < depth; ++level) {
    std::int64_t* const to = shape.levels.emplace_back(shape.total).offsets();
    shape.any_list = false;
    LevelWalk walk(shape, level, level == depth - 1, to, name);
    walk.walk(root, level);
    walk.finish();
    shape.total = shape.levels.back().view().total();
  }
  return shape;
}

std::string path_of(const Shape& shape, int levels, std::int64_t place, const char* name) {
  std::vector<std::int64_t> steps{place};
  for (int level = levels - 1; level >= 0; --level) {
    const Offsets rows = shape.levels[static_cast<std::size_t>(level)].view();
    const std::int64_t row = std::upper_bound(rows.ends, rows.ends + rows.count, steps.back()) - rows.ends;
    steps.back() -= rows.start(row);
    steps.push_back(row);
  }
  std::string path = name;
  std::reverse(steps.begin(), steps.end());
  for (const auto step : steps) path.append("[").append(std::to_string(step)).append("]");
  return path;
}

}  // namespace varlen::bindings
