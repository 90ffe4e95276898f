#include "varlen/model/memory.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#if defined(__unix__) || defined(__APPLE__)
#define VARLEN_FORKS 1
#include <pthread.h>
#include <unistd.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "varlen/model/error.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen {
namespace {

struct Allocation {
  void* data = nullptr;
  std::int64_t bytes = 0;
};

constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kHugePage = std::int64_t{2} << 20;
// From here on whole huge pages: their first touch costs a third.
constexpr std::int64_t kHuge = 2 * kHugePage;
// From here on the system may take what is kept, which costs 1 % of a write to it.
constexpr std::int64_t kLent = std::int64_t{64} << 20;

/// Sizes in steps of an eighth, so that batches of nearly the same size take each other's memory.
std::int64_t round_up(std::int64_t bytes, std::int64_t page) {
  const std::int64_t step =
      std::max(page, static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes)) / 8));
  return (bytes + step - 1) / step * step;
}

Allocation fresh(std::int64_t bytes) {
  const std::int64_t page = bytes >= kHuge ? kHugePage : kPage;
  if (bytes > INT64_MAX / 2) throw std::bad_alloc();
  const std::int64_t size = round_up(bytes, page);
  void* data = std::aligned_alloc(static_cast<std::size_t>(page), static_cast<std::size_t>(size));
  if (data == nullptr) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (page == kHugePage)
    madvise(data, static_cast<std::size_t>(size), MADV_HUGEPAGE);  // no harm where it is refused
#endif
  return {data, size};
}

/// The system may take the pages of a large block, which it does where memory runs short.
void lend([[maybe_unused]] const Allocation& block) {
#if defined(__linux__) && defined(MADV_FREE)
  if (block.bytes >= kLent) madvise(block.data, static_cast<std::size_t>(block.bytes), MADV_FREE);
#endif
}

/// Allocations that died, the youngest last.
class BlockCache {
 public:
  Allocation take(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    Allocation* best = nullptr;
    for (int k = 0; k < count_; ++k) {
      Allocation& one = blocks_[static_cast<std::size_t>(k)];
      const bool fits = one.bytes >= bytes && one.bytes / 2 <= bytes;
      if (fits && (best == nullptr || one.bytes <= best->bytes)) best = &one;
    }
    if (best == nullptr) return {};
    const Allocation result = *best;
    remove(best);
    return result;
  }

  void give(Allocation block) {
    const std::lock_guard lock(mutex_);
    if (block.bytes > kLimit) {
      std::free(block.data);
      return;
    }
    while (count_ == kCount || total_ + block.bytes > limit()) {
      if (count_ == 0) {
        std::free(block.data);
        return;
      }
      std::free(blocks_[0].data);
      remove(blocks_.data());
    }
    blocks_[static_cast<std::size_t>(count_++)] = block;
    total_ += block.bytes;
    lend(block);
  }

  std::int64_t clear() {
    const std::lock_guard lock(mutex_);
    const std::int64_t bytes_before = total_;
    while (count_ > 0) {
      std::free(blocks_[0].data);
      remove(blocks_.data());
    }
    return bytes_before;
  }

  void lock() { mutex_.lock(); }

  void unlock() { mutex_.unlock(); }

 private:
  static constexpr int kCount = 32;
  // Attention of 32 sequences of 100 to 999 rows to themselves, of 8 heads and both ways, has four arrays of
  // 411 MB at a time; the first touch of one, which each step would pay for again, is a third of a step.
  static constexpr std::int64_t kLimit = std::int64_t{2} << 30;

  static std::int64_t limit() {
    static const std::int64_t bytes = std::min(kLimit, physical_bytes() / 8);
    return bytes;
  }

  void remove(Allocation* entry) {
    total_ -= entry->bytes;
    std::copy(entry + 1, blocks_.data() + count_, entry);
    --count_;
  }

  std::mutex mutex_;
  std::array<Allocation, kCount> blocks_;
  int count_ = 0;
  std::int64_t total_ = 0;
};

BlockCache& block_cache();

// A process forks while no thread is in the midst of it: a child would wait for one that it does not have.
BlockCache* make_cache() {
#ifdef VARLEN_FORKS
  pthread_atfork([] { block_cache().lock(); }, [] { block_cache().unlock(); },
                 [] { block_cache().unlock(); });
#endif
  return new BlockCache;
}

BlockCache& block_cache() {
  static BlockCache* const all = make_cache();  // outlives every array
  return *all;
}

}  // namespace

Buffer::Buffer(std::int64_t bytes) : size_(bytes) {
  if (bytes < kLarge) {
    data_ = static_cast<std::byte*>(std::malloc(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))));
    if (data_ == nullptr) throw std::bad_alloc();
    return;
  }
  Allocation block = block_cache().take(bytes);
  if (block.data == nullptr) block = fresh(bytes);
  data_ = static_cast<std::byte*>(block.data);
  room_ = block.bytes;
}

Buffer::~Buffer() {
  if (room_ == 0) {
    std::free(data_);
  } else {
    block_cache().give({data_, room_});
  }
}

Buffer buffer_of(std::int64_t n, std::int64_t width) {
  std::int64_t bytes = 0;
  if (!checked_mul(n, width, bytes)) {
    throw Error(Fault::overflow,
                std::to_string(n) + " entries of " + std::to_string(width) + " bytes do not fit 63 bits");
  }
  return Buffer(bytes);
}

std::int64_t padded_bytes(std::string_view name, std::int64_t element_bytes, const std::int64_t* shape,
                          std::size_t axes, std::int64_t max_bytes, std::int64_t& usage) {
  const auto refuse = [&](Fault fault, const std::string& why, const char* advice) {
    std::string sizes = "the padded shape (";
    for (std::size_t a = 0; a < axes; ++a) sizes += (a > 0 ? ", " : "") + std::to_string(shape[a]);
    const std::string reason = sizes + (axes == 1 ? ",)" : ")") + why;
    throw Error(fault, Record{std::string(name), reason, {}, {}, advice, "padded_size"});
  };
  std::int64_t total = element_bytes;
  bool fits = true;
  const bool is_empty = std::find(shape, shape + axes, 0) != shape + axes;
  // NumPy has no arrays of such shapes, though there may be nothing in them.
  for (std::size_t a = 0; a < axes; ++a) {
    fits = fits && checked_mul(total, std::max<std::int64_t>(shape[a], 1), total);
  }
  if (is_empty) total = 0;
  fits = fits && checked_add(usage, total, usage);
  if (!fits) refuse(Fault::overflow, " does not fit 63 bits", "");
  if (max_bytes >= 0 && usage > max_bytes) {
    refuse(Fault::value,
           " of " + std::to_string(element_bytes) + " bytes an entry takes the result to " +
               std::to_string(usage) + " bytes, over max_bytes=" + std::to_string(max_bytes),
           "give max_len, take fewer rows, or keep them ragged");
  }
  return total;
}

std::int64_t release_memory() noexcept {
  return block_cache().clear();
}

std::int64_t physical_bytes() noexcept {
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES);
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) return pages * page;
#endif
  return std::int64_t{16} << 30;
}

}  // namespace varlen
