// The threads of a block on the host, and the barriers at which they wait for each other: stacks that take
// turns on the thread that runs them. To ThreadSanitizer each is a thread of its own, ordered by barriers
// alone.
#pragma once

#include <ucontext.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#define VARLEN_UNWATCHED __attribute__((noinline, no_sanitize_thread))
// Not a function: what begins on one stack may not end on another.
#define VARLEN_ENTER(fiber) __tsan_switch_to_fiber(fiber, __tsan_switch_to_fiber_no_sync)
#else
#define VARLEN_UNWATCHED
#define VARLEN_ENTER(fiber) (void)(fiber)
#endif

namespace varlen::cuda::host {

[[noreturn]] inline void fail(const char* what, std::int64_t i, std::int64_t count) {
  (void)std::fprintf(stderr, "kernel: %s: %lld of %lld\n", what, static_cast<long long>(i),
                     static_cast<long long>(count));
  std::abort();
}

/// What the sanitizer knows of a stack, and of who comes after whom.
class Fiber {
 public:
#if defined(__SANITIZE_THREAD__)
  Fiber() : fiber_(__tsan_create_fiber(0)) {}
  ~Fiber() {
    __tsan_destroy_fiber(fiber_);
  }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  [[nodiscard]] static void* current() {
    return __tsan_get_current_fiber();
  }
  [[nodiscard]] void* get() const {
    return fiber_;
  }
  static void release(void* address) {
    __tsan_release(address);
  }
  static void acquire(void* address) {
    __tsan_acquire(address);
  }

 private:
  void* fiber_;
#else
  [[nodiscard]] static void* current() {
    return nullptr;
  }
  [[nodiscard]] void* get() const {
    return nullptr;
  }
  static void release(void*) {}
  static void acquire(void*) {}
#endif
};

/// What stacks read and write of the runner is no race of theirs, and orders nothing.
template <class T>
class Quiet {
 public:
  Quiet(T x) : x_(x) {}
  operator T() const { return x_.load(std::memory_order_relaxed); }
  void operator=(T x) { x_.store(x, std::memory_order_relaxed); }
  T operator++() { return x_.fetch_add(1, std::memory_order_relaxed) + 1; }

 private:
  std::atomic<T> x_;
};

/// One goes on until it waits or ends.
class Turns {
 public:
  static Turns& instance() {
    static thread_local Turns turns;
    return turns;
  }

  void run(int threads, const std::function<void(int)>& play) {
    play_ = &play;
    home_fiber_ = Fiber::current();
    while (stacks_.size() < static_cast<std::size_t>(threads)) stacks_.push_back(std::make_unique<Stack>());
    for (int t = 0; t < threads; ++t) prepare(t);
    Fiber::release(this);
    int left = threads;
    while (left > 0) {
      const std::int64_t old_progress = progress_;
      for (int t = 0; t < threads; ++t) {
        Stack& stack = *stacks_[static_cast<std::size_t>(t)];
        if (stack.is_done) continue;
        current_ = t;
        VARLEN_ENTER(stack.fiber.get());
        (void)swapcontext(&home_, &stack.context);
        if (stack.is_done) {
          --left;
          ++progress_;
        }
      }
      if (progress_ == old_progress) fail("threads of a block wait at different barriers", left, threads);
    }
    Fiber::acquire(&home_);
  }

  /// The next stack goes on.
  void wait() {
    Stack& stack = *stacks_[static_cast<std::size_t>(static_cast<int>(current_))];
    VARLEN_ENTER(home_fiber_);
    (void)swapcontext(&stack.context, &home_);
  }
  /// A barrier has let its threads go.
  void note_progress() { ++progress_; }

 private:
  static constexpr std::size_t kBytes = std::size_t{256} << 10;  // sanitizers make frames large

  struct Stack {
    ucontext_t context{};
    Quiet<bool> is_done = false;
    Fiber fiber;
    std::unique_ptr<std::byte[]> bytes = std::make_unique_for_overwrite<std::byte[]>(kBytes);
  };

  void prepare(int t) {
    Stack& stack = *stacks_[static_cast<std::size_t>(t)];
    stack.is_done = false;
    (void)getcontext(&stack.context);
    stack.context.uc_stack.ss_sp = stack.bytes.get();
    stack.context.uc_stack.ss_size = kBytes;
    stack.context.uc_link = &home_;
    makecontext(&stack.context, &Turns::begin, 0);
  }

  /// Ends on another stack than the sanitizer would believe, were it told of its beginning.
  VARLEN_UNWATCHED static void begin() {
    Turns& turns = instance();
    turns.play();
    VARLEN_ENTER(turns.home_fiber_);
  }
  void play() {
    Fiber::acquire(this);
    const int t = current_;
    (*play_)(t);
    stacks_[static_cast<std::size_t>(t)]->is_done = true;
    Fiber::release(&home_);
  }

  std::vector<std::unique_ptr<Stack>> stacks_;
  ucontext_t home_{};
  void* home_fiber_ = nullptr;
  const std::function<void(int)>* play_ = nullptr;
  Quiet<int> current_ = 0;
  Quiet<std::int64_t> progress_ = 0;
};

class Barrier {
 public:
  explicit Barrier(int threads) : threads_(threads) {}

  void arrive_and_wait() {
    Fiber::release(this);
    if (++waiters_ == threads_) {
      waiters_ = 0;
      ++generation_;
      Turns::instance().note_progress();
    } else {
      const std::int64_t mine = generation_;
      while (generation_ == mine) Turns::instance().wait();
    }
    Fiber::acquire(this);
  }

 private:
  int threads_;
  Quiet<int> waiters_ = 0;
  Quiet<std::int64_t> generation_ = 0;
};

/// Calls play(t) for every t below `threads`, each on a stack of its own.
template <class Play>
void take_turns(int threads, const Play& play) {
  Turns::instance().run(threads, play);
}

}  // namespace varlen::cuda::host
