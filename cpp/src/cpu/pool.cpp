#include "varlen/pool.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>

namespace varlen {
namespace {

constexpr int kMaxThreads = 256;
constexpr int kDefaultMaxThreads = 8;
// Waking a helper costs 3 to 4 us; below 1 MB the copy is done sooner than that.
constexpr std::int64_t kMinBytes = std::int64_t{1} << 20;
constexpr std::int64_t kMinChunk = std::int64_t{256} << 10;
// More chunks than threads, so that a helper that is descheduled holds up only its own chunk.
constexpr std::int64_t kChunksPerThread = 4;

struct Job {
  void (*body)(void*, std::int64_t) = nullptr;
  void* context = nullptr;
  std::int64_t chunks = 0;
  std::atomic<std::int64_t> next{0};
  int seats = 0;  // helpers that may still join; guarded by the pool's mutex
  int busy = 0;   // helpers inside; guarded by the pool's mutex
  Job* after = nullptr;

  void work() noexcept {
    for (std::int64_t c = next.fetch_add(1, std::memory_order_relaxed); c < chunks;
         c = next.fetch_add(1, std::memory_order_relaxed)) {
      body(context, c);
    }
  }
};

struct Pool {
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable left;
  Job* jobs = nullptr;
  int started = 0;

  [[noreturn]] void helper() noexcept {
    std::unique_lock lock(mutex);
    for (;;) {
      Job* job = jobs;
      while (job != nullptr && job->seats == 0) job = job->after;
      if (job == nullptr) {
        wake.wait(lock);
        continue;
      }
      --job->seats;
      ++job->busy;
      lock.unlock();
      job->work();
      lock.lock();
      job->seats = 0;  // every chunk is claimed: nobody need join any more
      if (--job->busy == 0) left.notify_all();
    }
  }

  void start(int helpers) noexcept {
    while (started < helpers) {
      try {
        std::thread([this] { helper(); }).detach();
      } catch (...) {
        return;  // the caller does the work alone
      }
      ++started;
    }
  }
};

// Never destroyed, because detached helpers outlive static destructors; replaced whole in a forked child.
alignas(Pool) std::byte pool_storage[sizeof(Pool)];
Pool* pool = nullptr;
std::once_flag pool_once;
std::atomic<int> wanted{0};
std::atomic<bool> in_fork{false};

void reset_in_child() noexcept {
  pool = new (pool_storage) Pool;
  in_fork.store(true, std::memory_order_relaxed);
  wanted.store(1, std::memory_order_relaxed);
}

Pool& the_pool() noexcept {
  std::call_once(pool_once, [] {
    pool = new (pool_storage) Pool;
    pthread_atfork(nullptr, nullptr, reset_in_child);
  });
  return *pool;
}

int cgroup_cores() noexcept {
  try {
    std::ifstream file("/sys/fs/cgroup/cpu.max");
    std::string quota;
    double period = 0;
    if (file >> quota >> period && quota != "max" && period > 0) {
      return std::max(1, static_cast<int>(std::stod(quota) / period + 0.5));
    }
  } catch (...) {
  }
  return kMaxThreads;
}

int default_threads() noexcept {
  if (const char* text = std::getenv("VARLEN_NUM_THREADS")) {
    const long n = std::strtol(text, nullptr, 10);
    if (n >= 1) return static_cast<int>(std::min<long>(n, kMaxThreads));
  }
  int cores = static_cast<int>(std::thread::hardware_concurrency());
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
#endif
  return std::clamp(std::min(cores, cgroup_cores()), 1, kDefaultMaxThreads);
}

}  // namespace

int num_threads() noexcept {
  int n = wanted.load(std::memory_order_relaxed);
  if (n == 0) {
    the_pool();  // so that a fork before the first big call is noticed too
    n = default_threads();
    wanted.store(n, std::memory_order_relaxed);
  }
  return n;
}

void set_num_threads(int n) noexcept {
  the_pool();
  wanted.store(std::clamp(n, 1, kMaxThreads), std::memory_order_relaxed);
  in_fork.store(false, std::memory_order_relaxed);
}

bool forked() noexcept {
  return in_fork.load(std::memory_order_relaxed);
}

std::int64_t chunks_for(std::int64_t bytes) noexcept {
  const std::int64_t threads = num_threads();
  if (threads <= 1 || bytes < kMinBytes) return 1;
  return std::clamp<std::int64_t>(bytes / kMinChunk, 1, threads * kChunksPerThread);
}

namespace detail {

void run_chunks(std::int64_t chunks, int threads, void (*body)(void*, std::int64_t), void* context) noexcept {
  Job job;
  job.body = body;
  job.context = context;
  job.chunks = chunks;
  const int helpers = static_cast<int>(std::min<std::int64_t>(threads, chunks)) - 1;
  if (helpers <= 0) {
    job.work();
    return;
  }
  Pool& p = the_pool();
  {
    const std::lock_guard lock(p.mutex);
    p.start(helpers);
    job.seats = helpers;
    job.after = std::exchange(p.jobs, &job);
  }
  if (helpers == 1) {
    p.wake.notify_one();
  } else {
    p.wake.notify_all();
  }
  job.work();
  std::unique_lock lock(p.mutex);
  Job** link = &p.jobs;
  while (*link != &job) link = &(*link)->after;
  *link = job.after;
  p.left.wait(lock, [&job] { return job.busy == 0; });
}

}  // namespace detail
}  // namespace varlen
