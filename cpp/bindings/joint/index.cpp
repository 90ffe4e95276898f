// Views by index: an int drops a dim, a slice narrows one; what lies below is found by way of the levels.
#include <algorithm>

#include "joint.hpp"
#include "support/fastcall.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

bool is_int(PyObject* object) {
  return PyLong_CheckExact(object) || (is_integer(object) && !py::isinstance<py::array>(object));
}

bool is_plain_slice(PyObject* object, Py_ssize_t& begin, Py_ssize_t& end) {
  if (!PySlice_Check(object)) return false;
  Py_ssize_t step = 1;
  if (PySlice_Unpack(object, &begin, &end, &step) < 0) throw py::error_already_set();
  return step == 1;
}

Py_ssize_t to_int(PyObject* object) {
  return place_of(object, "index");
}

}  // namespace

void Joint::descend(int from, int to) {
  const Offsets* levels = root_->levels.data();
  if (joint_descend({levels, root_->counts.data(), to}, from, ranges_.data()).ok()) return;
  for (int d = from; d < to; ++d)  // which level it was: the first that fails alone
    raise_level(joint_descend({levels, root_->counts.data(), d + 1}, d, ranges_.data()), d + 1);
}

void Joint::drop_to(std::int64_t i, Py_ssize_t position) {
  Range& rows = ranges_[static_cast<std::size_t>(shift_)];
  const std::int64_t n = rows.size();
  const std::int64_t at = i < 0 ? i + n : i;
  if (at < 0 || at >= n) {
    raise_index("Index " + std::to_string(i) + " is out of range at dim " + std::to_string(position) +
                " (length " + std::to_string(n) + ").");
  }
  rows = {rows.begin + at, rows.begin + at + 1};
  if (shift_ < root_->depth()) descend(shift_, shift_ + 1);
  ++shift_;
}

void Joint::cut_to(std::int64_t begin, std::int64_t end) {
  Range& rows = ranges_[static_cast<std::size_t>(shift_)];
  const std::int64_t n = rows.size();
  const auto clip = [n](std::int64_t x) { return std::clamp<std::int64_t>(x < 0 ? x + n : x, 0, n); };
  begin = clip(begin);
  end = std::max(begin, clip(end));
  rows = {rows.begin + begin, rows.begin + end};
}

Joint Joint::row(std::int64_t i) const {
  if (depth() < 0) raise_index("too many indices");
  Joint out = *this;
  out.drop_to(i, 0);
  out.descend(out.shift_, root_->depth());
  return out;
}

Joint Joint::slice(std::int64_t begin, std::int64_t end) const {
  if (depth() < 0) raise_index("too many indices");
  Joint out = *this;
  out.cut_to(begin, end);
  out.descend(shift_, root_->depth());
  return out;
}

bool Joint::narrow(PyObject* index) {
  PyObject* const* items = &index;
  Py_ssize_t n = 1;
  if (PyTuple_Check(index)) {
    items = reinterpret_cast<PyTupleObject*>(index)->ob_item;
    n = PyTuple_GET_SIZE(index);
  }
  if (n > depth() + 1) return false;
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* item = items[k];
    Py_ssize_t begin = 0;
    Py_ssize_t end = 0;
    if (is_int(item)) {
      drop_to(to_int(item), k);
    } else if (k + 1 == n && is_plain_slice(item, begin, end)) {
      cut_to(begin, end);
    } else {
      return false;
    }
  }
  descend(shift_, root_->depth());
  return true;
}

}  // namespace varlen::bindings
