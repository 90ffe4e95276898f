// Memory of large arrays that died lately, kept for the next ones.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <string>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "ndarray.hpp"
#include "outputs.hpp"
#include "raise.hpp"

namespace varlen::bindings {

namespace {

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
  if (data == nullptr) raise_memory("an array of " + std::to_string(bytes) + " bytes has no room in memory");
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

py::array large_empty(const py::dtype& dtype, const Extents& shape, std::int64_t bytes) {
  Buffer buffer = kept().take(bytes);
  if (buffer.data == nullptr) buffer = fresh(bytes);
  auto* const owned = new Buffer(buffer);
  const py::capsule owner(owned, [](void* at) {
    auto* const dead = static_cast<Buffer*>(at);
    kept().give(*dead);
    delete dead;
  });
  return make_array(dtype.ptr(), static_cast<int>(shape.size()), shape.data(), nullptr, buffer.data,
                    owner.ptr());
}

std::int64_t release_memory() {
  return kept().clear();
}

}  // namespace varlen::bindings
