#include "varlen/pool.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include "check.hpp"

#ifdef __unix__
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace {

// Every chunk writes its own slot without a lock: the sum is right, and TSan is quiet, only if
// each chunk runs once and the caller sees all of them.
std::int64_t run_once(std::int64_t chunks) {
  std::vector<std::int64_t> slots(static_cast<std::size_t>(chunks), 0);
  varlen::parallel(chunks, [&](std::int64_t c) { slots[static_cast<std::size_t>(c)] += c + 1; });
  return std::accumulate(slots.begin(), slots.end(), std::int64_t{0});
}

constexpr std::int64_t sum_to(std::int64_t n) {
  return n * (n + 1) / 2;
}

// Until a flag is set, or for so long. Relaxed, so that nothing but the pool orders what threads write.
void wait_for(const std::atomic<bool>& flag, std::chrono::microseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!flag.load(std::memory_order_relaxed) && std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace

TEST(pool, runs_every_chunk_once) {
  varlen::set_num_threads(4);
  for (std::int64_t chunks = 0; chunks < 200; ++chunks) CHECK_EQ(run_once(chunks), sum_to(chunks));
}

TEST(pool, serves_many_callers_at_once) {
  varlen::set_num_threads(4);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 8; ++t) {
    callers.emplace_back([&wrong, t] {
      for (int i = 0; i < 300; ++i) {
        const std::int64_t chunks = 1 + (i * 7 + t) % 33;
        if (run_once(chunks) != sum_to(chunks)) ++wrong;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK_EQ(wrong.load(), 0);
}

TEST(pool, shows_a_caller_that_spins_what_its_helper_wrote) {
  using std::chrono::microseconds;
  varlen::set_num_threads(2);
  const auto caller = std::this_thread::get_id();
  for (int i = 0; i < 1000; ++i) {
    std::atomic<bool> has_joined{false};
    std::atomic<bool> is_over{false};
    int slot = -1;
    varlen::parallel(2, [&](std::int64_t) {
      if (std::this_thread::get_id() == caller) {
        wait_for(has_joined, microseconds(200));
        is_over.store(true, std::memory_order_relaxed);
        return;
      }
      has_joined.store(true, std::memory_order_relaxed);
      wait_for(is_over, microseconds(200));
      wait_for(std::atomic<bool>{false}, microseconds(5));  // the caller is about to wait by then
      slot = i;
    });
    if (has_joined.load(std::memory_order_relaxed)) CHECK_EQ(slot, i);
  }
}

TEST(pool, may_be_called_from_a_chunk) {
  varlen::set_num_threads(3);
  std::atomic<std::int64_t> sum{0};
  varlen::parallel(16, [&](std::int64_t) { sum += run_once(9); });
  CHECK_EQ(sum.load(), 16 * sum_to(9));
}

TEST(pool, takes_a_new_number_of_threads_between_calls) {
  std::atomic<bool> stop{false};
  std::thread changer([&stop] {
    for (int n = 1; !stop.load(); n = n % 6 + 1) varlen::set_num_threads(n);
  });
  for (int i = 0; i < 500; ++i) CHECK_EQ(run_once(17), sum_to(17));
  stop = true;
  changer.join();
  varlen::set_num_threads(0);
  CHECK_EQ(varlen::num_threads(), 1);
  varlen::set_num_threads(5);
  CHECK_EQ(varlen::num_threads(), 5);
}

TEST(pool, keeps_small_work_on_the_caller) {
  varlen::set_num_threads(4);
  CHECK_EQ(varlen::chunks_for(0), 1);
  CHECK_EQ(varlen::chunks_for(1000), 1);
  CHECK(varlen::chunks_for(std::int64_t{1} << 30) > 4);
  varlen::set_num_threads(1);
  CHECK_EQ(varlen::chunks_for(std::int64_t{1} << 30), 1);
  const auto caller = std::this_thread::get_id();
  varlen::parallel(64, [&](std::int64_t) { CHECK(std::this_thread::get_id() == caller); });
}

// TSan does not follow threads that start after a fork.
#if defined(__unix__) && !defined(__SANITIZE_THREAD__)

namespace {

// 0 where the child came to its end; a child that hangs is ended by its alarm.
template <class Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return status;
}

}  // namespace

TEST(pool, starts_anew_in_a_forked_child) {
  varlen::set_num_threads(4);
  CHECK_EQ(run_once(64), sum_to(64));
  CHECK_EQ(in_child([] { return varlen::num_threads() == 1 && run_once(64) == sum_to(64); }), 0);
  CHECK_EQ(in_child([] {
             varlen::set_num_threads(4);
             return run_once(64) == sum_to(64);
           }),
           0);
  CHECK_EQ(varlen::num_threads(), 4);
}

TEST(pool, survives_a_fork_amid_the_jobs_of_others) {
  varlen::set_num_threads(4);
  std::atomic<bool> stop{false};
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t) {
    callers.emplace_back([&stop] {
      while (!stop.load()) (void)run_once(50);
    });
  }
  for (int i = 0; i < 30; ++i) {
    CHECK_EQ(in_child([] {
               varlen::set_num_threads(3);
               std::int64_t sum = 0;
               varlen::parallel(1, [&](std::int64_t) { sum = 1; });
               std::atomic<std::int64_t> total{0};
               varlen::parallel(32, [&](std::int64_t c) { total += c; });
               return sum == 1 && total == 31 * 16;
             }),
             0);
  }
  stop = true;
  for (auto& caller : callers) caller.join();
}

#endif
