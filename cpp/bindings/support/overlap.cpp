#include "overlap.hpp"

#include <algorithm>

#include "ndarray.hpp"
#include "raise.hpp"

namespace varlen::bindings {

namespace {

[[noreturn]] void raise_shared(const std::string& name) {
  raise_value(name, "shares memory with another output");
}

}  // namespace

Memory::Memory(const py::array& array) : begin(data_of(array)), end(begin + array.nbytes()) {}

Memory Memory::extent_of(const py::array& array) {
  Memory all(data_of(array), data_of(array));
  if (array.size() == 0) return all;
  all.end += array.itemsize();
  for (py::ssize_t axis = 0; axis < array.ndim(); ++axis) {
    const py::ssize_t reach = (array.shape(axis) - 1) * array.strides(axis);
    (reach < 0 ? all.begin : all.end) += reach;
  }
  return all;
}

void MemoryRead::add(const py::array& array) {
  if (array.nbytes() > 0) all_.emplace_back(array);
}

void MemoryRead::settle() {
  std::sort(all_.begin(), all_.end(), [](const Memory& a, const Memory& b) { return a.begin < b.begin; });
  std::size_t count = 0;
  for (const Memory& one : all_) {
    if (count > 0 && one.begin <= all_[count - 1].end) {
      all_[count - 1].end = std::max(all_[count - 1].end, one.end);
    } else {
      all_[count++] = one;
    }
  }
  all_.resize(count);
}

bool MemoryRead::meets(const Memory& memory) const noexcept {
  const auto next =
      std::lower_bound(all_.begin(), all_.end(), memory.end,
                       [](const Memory& one, const std::byte* address) { return one.begin < address; });
  return next != all_.begin() && (next - 1)->meets(memory);
}

void MemoryWritten::add(const std::string& name, const py::array& out, const MemoryRead& read) {
  const Memory memory(out);
  if (read.meets(memory)) raise_overlap(name);
  for (const Memory& other : all_) {
    if (other.meets(memory)) raise_shared(name);
  }
  all_.push_back(memory);
}

void refuse_overlap(std::string_view name, const py::array& out, Inputs inputs) {
  const Memory memory(out);
  for (const py::handle input : inputs) {
    if (!input || !py::isinstance<py::array>(input)) continue;
    const auto array = py::reinterpret_borrow<py::array>(input);
    if (!memory.meets(Memory::extent_of(array))) continue;
    const bool contiguous = (array.flags() & py::array::c_style) != 0;
    if (contiguous || numpy("shares_memory")(out, array).cast<bool>()) raise_overlap(name);
  }
}

void refuse_shared(std::string_view name, const py::array& out, const py::array& other) {
  if (Memory(out).meets(Memory(other))) raise_shared(std::string(name));
}

void raise_overlap(std::string_view name) {
  raise_value(name, "shares memory with an input; pass other memory");
}

}  // namespace varlen::bindings
