// How many threads there are to be, and into how many chunks they cut.
#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "cores.hpp"
#include "varlen/pool.hpp"

namespace varlen {
namespace {

constexpr int kMaxThreads = 256;
constexpr int kDefaultMaxThreads = 8;
// A copy in cache, helpers parked, two cores: 9 us slower at 1 MB, even at 2 MB, a quarter faster at 4 MB.
constexpr std::int64_t kMinBytes = std::int64_t{2} << 20;
constexpr std::int64_t kMinChunk = std::int64_t{256} << 10;
// More chunks than threads, so that a helper that is descheduled holds up only its own chunk.
constexpr std::int64_t kChunksPerThread = 4;

std::atomic<int> request{0};  // 0: not asked yet

int default_threads() noexcept {
  if (const char* text = std::getenv("VARLEN_NUM_THREADS")) {
    char* end = nullptr;
    const long n = *text >= '0' && *text <= '9' ? std::strtol(text, &end, 10) : 0;
    if (n >= 1 && *end == '\0') return static_cast<int>(std::min<long>(n, kMaxThreads));
  }
  return std::clamp(usable_cores(), 1, kDefaultMaxThreads);
}

}  // namespace

int num_threads() noexcept {
  int n = request.load(std::memory_order_relaxed);
  if (n == 0) {
    const int count = default_threads();
    // A number that was set meanwhile stays, and comes back in n.
    if (request.compare_exchange_strong(n, count, std::memory_order_relaxed)) n = count;
  }
  return n;
}

void set_num_threads(int n) noexcept {
  request.store(std::clamp(n, 1, kMaxThreads), std::memory_order_relaxed);
}

std::int64_t chunks_for(std::int64_t bytes) noexcept {
  if (bytes < kMinBytes) return 1;
  const std::int64_t threads = num_threads();
  if (threads <= 1) return 1;
  return std::clamp<std::int64_t>(bytes / kMinChunk, 1, threads * kChunksPerThread);
}

}  // namespace varlen
