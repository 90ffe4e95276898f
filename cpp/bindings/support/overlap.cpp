#include "overlap.hpp"

#include <algorithm>

#include "raise.hpp"

namespace varlen::bindings {

Memory::Memory(const py::array& array)
    : begin(static_cast<const std::byte*>(array.data())), end(begin + array.nbytes()) {}

void MemoryRead::add(const py::array& array) {
  if (array.nbytes() > 0) all_.emplace_back(array);
}

void MemoryRead::settle() {
  std::sort(all_.begin(), all_.end(), [](const Memory& a, const Memory& b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const Memory& one : all_) {
    if (kept > 0 && one.begin <= all_[kept - 1].end) {
      all_[kept - 1].end = std::max(all_[kept - 1].end, one.end);
    } else {
      all_[kept++] = one;
    }
  }
  all_.resize(kept);
}

bool MemoryRead::meets(const Memory& memory) const noexcept {
  const auto next = std::lower_bound(all_.begin(), all_.end(), memory.end,
                                     [](const Memory& one, const std::byte* at) { return one.begin < at; });
  return next != all_.begin() && (next - 1)->meets(memory);
}

void MemoryWritten::add(const std::string& name, const py::array& out, const MemoryRead& read) {
  const Memory memory(out);
  if (read.meets(memory)) raise_overlap(name);
  for (const Memory& other : all_) {
    if (other.meets(memory)) raise_value(name + ": shares memory with another output");
  }
  all_.push_back(memory);
}

void raise_overlap(std::string_view name) {
  raise_value(std::string(name) + ": shares memory with what is read");
}

}  // namespace varlen::bindings
