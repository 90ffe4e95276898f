#include "outputs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

#include "raise.hpp"
#include "rooms.hpp"
#include "varlen/checked.hpp"

namespace varlen::bindings {

namespace {

std::int64_t physical_bytes() {
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES);
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) return pages * page;
#endif
  return std::int64_t{16} << 30;
}

struct Buffer {
  void* data = nullptr;
  std::int64_t bytes = 0;
};

constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kHugePage = std::int64_t{2} << 20;
// From here on whole huge pages: their first touch costs a third.
constexpr std::int64_t kHuge = 2 * kHugePage;

/// Sizes in steps of an eighth, so that batches of nearly the same size take each other's memory.
std::int64_t rounded(std::int64_t bytes, std::int64_t page) {
  const std::int64_t step =
      std::max(page, static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes)) / 8));
  return (bytes + step - 1) / step * step;
}

Buffer fresh(std::int64_t bytes) {
  const std::int64_t page = bytes >= kHuge ? kHugePage : kPage;
  const std::int64_t size = rounded(bytes, page);
  void* data = std::aligned_alloc(static_cast<std::size_t>(page), static_cast<std::size_t>(size));
  if (data == nullptr) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (page == kHugePage)
    madvise(data, static_cast<std::size_t>(size), MADV_HUGEPAGE);  // no harm where it is refused
#endif
  return {data, size};
}

/// Buffers of arrays that died, the youngest last.
class Kept {
 public:
  Buffer take(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    Buffer* best = nullptr;
    for (int k = 0; k < count_; ++k) {
      Buffer& one = buffers_[static_cast<std::size_t>(k)];
      const bool fits = one.bytes >= bytes && one.bytes / 2 <= bytes;
      if (fits && (best == nullptr || one.bytes <= best->bytes)) best = &one;
    }
    if (best == nullptr) return {};
    const Buffer found = *best;
    remove(best);
    return found;
  }

  void give(Buffer buffer) {
    const std::lock_guard lock(mutex_);
    if (buffer.bytes > kMost) {
      std::free(buffer.data);
      return;
    }
    while (count_ == kCount || total_ + buffer.bytes > most()) {
      if (count_ == 0) {
        std::free(buffer.data);
        return;
      }
      std::free(buffers_[0].data);
      remove(buffers_.data());
    }
    buffers_[static_cast<std::size_t>(count_++)] = buffer;
    total_ += buffer.bytes;
  }

  std::int64_t clear() {
    const std::lock_guard lock(mutex_);
    const std::int64_t freed = total_;
    while (count_ > 0) {
      std::free(buffers_[0].data);
      remove(buffers_.data());
    }
    return freed;
  }

 private:
  static constexpr int kCount = 32;
  static constexpr std::int64_t kMost = std::int64_t{512} << 20;

  static std::int64_t most() {
    static const std::int64_t bytes = std::min(kMost, physical_bytes() / 16);
    return bytes;
  }

  void remove(Buffer* at) {
    total_ -= at->bytes;
    std::copy(at + 1, buffers_.data() + count_, at);
    --count_;
  }

  std::mutex mutex_;
  std::array<Buffer, kCount> buffers_;
  int count_ = 0;
  std::int64_t total_ = 0;
};

Kept& kept() {
  static Kept* const all = new Kept;  // outlives every array
  return *all;
}

}  // namespace

std::string text_of(const Extents& shape) {
  std::string text = "(";
  for (const py::ssize_t size : shape) text += (text.size() == 1 ? "" : ", ") + std::to_string(size);
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::int64_t default_max_bytes() {
  static const std::int64_t bytes = physical_bytes() / 2;
  return bytes;
}

std::int64_t padded_bytes(const std::string& name, const py::dtype& dtype, const Extents& shape,
                          std::int64_t max_bytes, std::int64_t& used) {
  std::int64_t total = dtype.itemsize();
  bool fits = true;
  const bool nothing = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (nothing) total = 0;
  for (const py::ssize_t size : shape) fits = fits && (nothing || checked_mul(total, size, total));
  fits = fits && checked_add(used, total, used);
  if (!fits) raise_overflow(name + ": the padded shape " + text_of(shape) + " does not fit 63 bits");
  if (max_bytes >= 0 && used > max_bytes) {
    raise_value(name + ": the padded shape " + text_of(shape) + " of " + std::to_string(dtype.itemsize()) +
                " bytes an entry takes the result to " + std::to_string(used) + " bytes, over max_bytes=" +
                std::to_string(max_bytes) + "; give max_len, take fewer rows, or keep them ragged");
  }
  return total;
}

py::array checked_out(const std::string& name, py::handle given, const py::dtype& dtype, const Extents& shape,
                      const py::array* source) {
  if (!py::isinstance<py::array>(given)) {
    raise_type(name + ": expected an array, got " + type_name(given));
  }
  auto array = py::reinterpret_borrow<py::array>(given);
  const bool same = array.ndim() == static_cast<py::ssize_t>(shape.size()) &&
                    std::equal(shape.begin(), shape.end(), array.shape());
  if (!same || !array.dtype().equal(dtype)) {
    const Extents has(array.shape(), array.shape() + array.ndim());
    raise_value(name + ": needs " + std::string(py::str(dtype)) + text_of(shape) + ", got " +
                std::string(py::str(array.dtype())) + text_of(has));
  }
  if (!array.writeable()) raise_value(name + ": is read-only");
  if ((array.flags() & py::array::c_style) == 0) raise_value(name + ": is not C-contiguous");
  if (source != nullptr && array.nbytes() > 0 && source->nbytes() > 0) {
    const auto* a = static_cast<const std::byte*>(array.data());
    const auto* b = static_cast<const std::byte*>(source->data());
    if (a < b + source->nbytes() && b < a + array.nbytes()) {
      raise_value(name + ": shares memory with what is read");
    }
  }
  return array;
}

py::array large_empty(const py::dtype& dtype, const Extents& shape, std::int64_t bytes) {
  Buffer buffer = kept().take(bytes);
  if (buffer.data == nullptr) buffer = fresh(bytes);
  auto* const owned = new Buffer(buffer);
  const py::capsule owner(owned, [](void* at) {
    auto* const dead = static_cast<Buffer*>(at);
    kept().give(*dead);
    delete dead;
  });
  return py::array(dtype, shape, buffer.data, owner);
}

std::int64_t release_memory() {
  return kept().clear();
}

void bind_outputs(py::module_& m) {
  m.def("release_memory", &release_memory,
        "Gives the memory that is kept for large outputs back to the system; how many bytes that was.");
}

}  // namespace varlen::bindings
