#include "varlen/pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "affinity.hpp"

#if defined(__unix__) || defined(__APPLE__)
#define VARLEN_FORKS 1
#include <pthread.h>
#include <signal.h>
#endif

namespace varlen {
namespace {

// What is saved by not sleeping: calls of 1 MB in a row take 24 us instead of 40 on two cores.
constexpr std::chrono::microseconds kSpin{50};

inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
  asm volatile("yield");
#endif
}

struct Job {
  void (*body)(void*, std::int64_t) = nullptr;
  void* context = nullptr;
  std::int64_t chunks = 0;
  std::atomic<std::int64_t> next{0};
  std::atomic<int> busy{0};  // helpers inside; changed under the pool's mutex only
  int seats = 0;             // helpers that may still join; guarded by the pool's mutex
  Cores cores;               // of those at work; guarded too
  Job* next_job = nullptr;

  void work() noexcept {
    for (std::int64_t c = next.fetch_add(1, std::memory_order_relaxed); c < chunks;
         c = next.fetch_add(1, std::memory_order_relaxed)) {
      body(context, c);
    }
  }
};

// A helper takes no signals: handlers run on the threads that the program itself started.
class SignalBlock {
#ifdef VARLEN_FORKS
 public:
  SignalBlock() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old_mask_);
  }
  ~SignalBlock() {
    pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
  }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

 private:
  sigset_t old_mask_;
#endif
};

// Until `condition` or for kSpin; whether it is done.
template <class Condition>
bool spin(Condition condition) noexcept {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 16; ++i) {
      if (condition()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return condition();
}

// One helper, parked. Guarded by the pool's mutex.
struct ParkedWorker {
  std::condition_variable wakeup;
  bool is_called = false;
  Affinity affinity;
  ParkedWorker* next = nullptr;
};

struct Pool {
  std::mutex mutex;
  std::condition_variable left;
  std::atomic<unsigned> post_count{0};  // jobs so far; changed under the mutex only
  Job* jobs = nullptr;                  // newest first; each lives on its caller's stack
  ParkedWorker* sleepers = nullptr;     // last to sleep first; each lives on its helper's stack
  int worker_count = 0;

  [[noreturn]] void helper() noexcept {
    ParkedWorker self;
    std::unique_lock lock(mutex);
    for (;;) {
      Job* job = jobs;
      while (job != nullptr && job->seats == 0) job = job->next_job;
      if (job == nullptr) {
        rest(self, lock);
        continue;
      }
      --job->seats;
      job->busy.fetch_add(1, std::memory_order_relaxed);
      if (job->seats > 0) wake_for(*job);  // each helper wakes the next, so that the caller pays for one
      lock.unlock();
      job->work();
      lock.lock();
      job->seats = 0;  // every chunk is claimed: nobody need join any more
      if (job->busy.fetch_sub(1, std::memory_order_release) == 1) left.notify_all();
    }
  }

  // Awake for a little, in case the next job is near, then parked until there is one.
  void rest(ParkedWorker& self, std::unique_lock<std::mutex>& lock) noexcept {
    const unsigned last_post = post_count.load(std::memory_order_relaxed);
    lock.unlock();
    const auto is_posted = [&] { return post_count.load(std::memory_order_relaxed) != last_post; };
    const bool has_post = spin(is_posted);
    if (!has_post) self.affinity.note();
    lock.lock();
    if (has_post || is_posted()) return;
    self.is_called = false;
    self.next = std::exchange(sleepers, &self);
    self.wakeup.wait(lock, [&] { return self.is_called; });
    lock.unlock();
    self.affinity.restore();
    lock.lock();
  }

  // Under the mutex, which the one that is called waits for.
  void wake_for(Job& job) noexcept {
    if (sleepers == nullptr) return;
    ParkedWorker& one = *std::exchange(sleepers, sleepers->next);
    one.is_called = true;
    job.cores.add_this();
    one.affinity.avoid(job.cores);
    one.wakeup.notify_one();
  }

  void start(int helpers) noexcept {
    if (worker_count >= helpers) return;
    const SignalBlock block;
    while (worker_count < helpers) {
      try {
        std::thread([this] { helper(); }).detach();
      } catch (...) {
        return;  // no thread to be had: the caller does the work alone
      }
      ++worker_count;
    }
  }
};

// Made when the library is loaded and never destroyed, because detached helpers outlive static
// destructors. In a forked child a new one takes its place: the old one's locks may be held by
// threads that the child does not have, and its jobs belong to them.
alignas(Pool) std::byte storage[sizeof(Pool)];

Pool* result() noexcept {
  auto* pool = new (storage) Pool;
#ifdef VARLEN_FORKS
  pthread_atfork(nullptr, nullptr, [] {
    new (storage) Pool;
    set_num_threads(1);
  });
#endif
  return pool;
}

Pool* const pool = result();

}  // namespace

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
  Pool& p = *pool;
  {
    const std::lock_guard lock(p.mutex);
    p.start(helpers);
    job.seats = helpers;
    job.next_job = std::exchange(p.jobs, &job);
    p.post_count.fetch_add(1, std::memory_order_relaxed);
    p.wake_for(job);
  }
  job.work();
  const auto is_alone = [&job] { return job.busy.load(std::memory_order_acquire) == 0; };
  std::unique_lock lock(p.mutex);
  Job** link = &p.jobs;
  while (*link != &job) link = &(*link)->next_job;
  *link = job.next_job;
  if (is_alone()) return;
  lock.unlock();
  if (spin(is_alone)) return;
  lock.lock();
  p.left.wait(lock, is_alone);
}

}  // namespace detail
}  // namespace varlen
