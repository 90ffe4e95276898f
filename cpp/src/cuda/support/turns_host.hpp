// The threads of a block on the host, and the barriers at which they wait for each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#include <barrier>
#include <thread>
#else
#include <ucontext.h>
#endif

namespace varlen::cuda::host {

[[noreturn]] inline void fail(const char* what, std::int64_t i, std::int64_t count) {
  (void)std::fprintf(stderr, "kernel: %s: %lld of %lld\n", what, static_cast<long long>(i),
                     static_cast<long long>(count));
  std::abort();
}

#if defined(__SANITIZE_THREAD__)

class Barrier {
 public:
  explicit Barrier(int threads) : all_(threads) {}
  void arrive_and_wait() { all_.arrive_and_wait(); }

 private:
  std::barrier<> all_;
};

/// Calls play(t) for every t below `threads`, each in a thread.
template <class Play>
void take_turns(int threads, const Play& play) {
  std::vector<std::thread> all;
  all.reserve(static_cast<std::size_t>(threads));
  for (int t = 0; t < threads; ++t) all.emplace_back([&play, t] { play(t); });
  for (std::thread& each : all) each.join();
}

#else

/// Stacks that take turns on the thread that runs them: one goes on until it waits or ends.
class Turns {
 public:
  static Turns& here() {
    static thread_local Turns turns;
    return turns;
  }

  void run(int threads, const std::function<void(int)>& play) {
    play_ = &play;
    while (stacks_.size() < static_cast<std::size_t>(threads)) stacks_.push_back(std::make_unique<Stack>());
    for (int t = 0; t < threads; ++t) prepare(t);
    int left = threads;
    while (left > 0) {
      const std::int64_t before = moved_;
      for (current_ = 0; current_ < threads; ++current_) {
        Stack& stack = *stacks_[static_cast<std::size_t>(current_)];
        if (stack.ended) continue;
        (void)swapcontext(&home_, &stack.context);
        if (stack.ended) {
          --left;
          ++moved_;
        }
      }
      if (moved_ == before) fail("threads of a block wait at different barriers", left, threads);
    }
  }

  /// The next stack goes on.
  void wait() { (void)swapcontext(&stacks_[static_cast<std::size_t>(current_)]->context, &home_); }
  /// A barrier has let its threads go.
  void moved() { ++moved_; }

 private:
  static constexpr std::size_t kBytes = std::size_t{256} << 10;  // sanitizers make frames large

  struct Stack {
    ucontext_t context{};
    bool ended = false;
    std::unique_ptr<std::byte[]> bytes = std::make_unique_for_overwrite<std::byte[]>(kBytes);
  };

  void prepare(int t) {
    Stack& stack = *stacks_[static_cast<std::size_t>(t)];
    stack.ended = false;
    (void)getcontext(&stack.context);
    stack.context.uc_stack.ss_sp = stack.bytes.get();
    stack.context.uc_stack.ss_size = kBytes;
    stack.context.uc_link = &home_;
    makecontext(&stack.context, &Turns::begin, 0);
  }

  static void begin() {
    Turns& turns = here();
    (*turns.play_)(turns.current_);
    turns.stacks_[static_cast<std::size_t>(turns.current_)]->ended = true;
  }

  std::vector<std::unique_ptr<Stack>> stacks_;
  ucontext_t home_{};
  const std::function<void(int)>* play_ = nullptr;
  int current_ = 0;
  std::int64_t moved_ = 0;
};

class Barrier {
 public:
  explicit Barrier(int threads) : threads_(threads) {}

  void arrive_and_wait() {
    if (++waiting_ == threads_) {
      waiting_ = 0;
      ++generation_;
      Turns::here().moved();
      return;
    }
    const std::int64_t mine = generation_;
    while (generation_ == mine) Turns::here().wait();
  }

 private:
  int threads_;
  int waiting_ = 0;
  std::int64_t generation_ = 0;
};

/// Calls play(t) for every t below `threads`, each on a stack of its own.
template <class Play>
void take_turns(int threads, const Play& play) {
  Turns::here().run(threads, play);
}

#endif

}  // namespace varlen::cuda::host
