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
  Job* after = nullptr;

  void work() noexcept {
    for (std::int64_t c = next.fetch_add(1, std::memory_order_relaxed); c < chunks;
         c = next.fetch_add(1, std::memory_order_relaxed)) {
      body(context, c);
    }
  }
};

// A helper takes no signals: handlers run on the threads that the program itself started.
class SignalsBlocked {
#ifdef VARLEN_FORKS
 public:
  SignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
#endif
};

// Until `done` or for kSpin; whether it is done.
template <class Done>
bool spin(Done done) noexcept {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 16; ++i) {
      if (done()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

// One helper, parked. Guarded by the pool's mutex.
struct ParkedWorker {
  std::condition_variable called;
  bool is_called = false;
  Affinity affinity;
  ParkedWorker* next = nullptr;
};

struct Pool {
  std::mutex mutex;
  std::condition_variable left;
  std::atomic<unsigned> posted{0};  // jobs so far; changed under the mutex only
  Job* jobs = nullptr;              // newest first; each lives on its caller's stack
  ParkedWorker* parked = nullptr;   // last to sleep first; each lives on its helper's stack
  int started = 0;

  [[noreturn]] void helper() noexcept {
    ParkedWorker self;
    std::unique_lock lock(mutex);
    for (;;) {
      Job* job = jobs;
      while (job != nullptr && job->seats == 0) job = job->after;
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
    const unsigned seen = posted.load(std::memory_order_relaxed);
    lock.unlock();
    const auto is_posted = [&] { return posted.load(std::memory_order_relaxed) != seen; };
    const bool near = spin(is_posted);
    if (!near) self.affinity.note();
    lock.lock();
    if (near || is_posted()) return;
    self.is_called = false;
    self.next = std::exchange(parked, &self);
    self.called.wait(lock, [&] { return self.is_called; });
    lock.unlock();
    self.affinity.restore();
    lock.lock();
  }

  // Under the mutex, which the one that is called waits for.
  void wake_for(Job& job) noexcept {
    if (parked == nullptr) return;
    ParkedWorker& one = *std::exchange(parked, parked->next);
    one.is_called = true;
    job.cores.add_this();
    one.affinity.avoid(job.cores);
    one.called.notify_one();
  }

  void start(int helpers) noexcept {
    if (started >= helpers) return;
    const SignalsBlocked blocked;
    while (started < helpers) {
      try {
        std::thread([this] { helper(); }).detach();
      } catch (...) {
        return;  // no thread to be had: the caller does the work alone
      }
      ++started;
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
    job.after = std::exchange(p.jobs, &job);
    p.posted.fetch_add(1, std::memory_order_relaxed);
    p.wake_for(job);
  }
  job.work();
  const auto alone = [&job] { return job.busy.load(std::memory_order_acquire) == 0; };
  std::unique_lock lock(p.mutex);
  Job** link = &p.jobs;
  while (*link != &job) link = &(*link)->after;
  *link = job.after;
  if (alone()) return;
  lock.unlock();
  if (spin(alone)) return;
  lock.lock();
  p.left.wait(lock, alone);
}

}  // namespace detail
}  // namespace varlen
