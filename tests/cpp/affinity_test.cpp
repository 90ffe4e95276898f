// A sleeping thread is kept off cores that are busy, and gets all its own back.
#ifdef __linux__

#include "support/affinity.hpp"

#include <sched.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "check.hpp"

namespace {

cpu_set_t mine() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CHECK_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

// What another thread may use while it is kept off `busy`, and after; and what it might before.
struct CoreSets {
  cpu_set_t at_start, during, at_end;
};

CoreSets kept_off(const varlen::Cores& busy) {
  CoreSets sets{};
  varlen::Affinity affinity;
  std::mutex mutex;
  std::condition_variable turn;
  int step = 0;
  std::thread sleeper([&] {
    std::unique_lock lock(mutex);
    sets.at_start = mine();
    affinity.note();
    step = 1;
    turn.notify_all();
    turn.wait(lock, [&] { return step == 2; });
    sets.during = mine();
    affinity.restore();
    sets.at_end = mine();
  });
  {
    std::unique_lock lock(mutex);
    turn.wait(lock, [&] { return step == 1; });
    affinity.avoid(busy);
    step = 2;
    turn.notify_all();
  }
  sleeper.join();
  return sets;
}

}  // namespace

TEST(affinity, keeps_a_sleeper_off_busy_cores_for_a_while) {
  const cpu_set_t all = mine();
  cpu_set_t current;
  CPU_ZERO(&current);
  CPU_SET(sched_getcpu(), &current);
  CHECK_EQ(sched_setaffinity(0, sizeof current, &current), 0);  // so that the core does not change meanwhile
  varlen::Cores busy;
  busy.add_this();
  CHECK_EQ(sched_setaffinity(0, sizeof all, &all), 0);

  const CoreSets sets = kept_off(busy);
  CHECK(CPU_EQUAL(&sets.at_start, &all));
  CHECK(CPU_EQUAL(&sets.at_end, &all));
  cpu_set_t others;
  CPU_XOR(&others, &all, &current);
  CHECK(CPU_EQUAL(&sets.during, CPU_COUNT(&others) > 0 ? &others : &all));
}

TEST(affinity, leaves_a_sleeper_its_only_core) {
  const cpu_set_t all = mine();
  cpu_set_t current;
  CPU_ZERO(&current);
  CPU_SET(sched_getcpu(), &current);
  CHECK_EQ(sched_setaffinity(0, sizeof current, &current), 0);
  varlen::Cores busy;
  busy.add_this();
  const CoreSets sets = kept_off(busy);  // a thread that is born here has this core alone
  CHECK_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  CHECK(CPU_EQUAL(&sets.during, &current));
  CHECK(CPU_EQUAL(&sets.at_end, &current));
}

TEST(affinity, moves_nobody_where_no_core_is_busy) {
  const CoreSets sets = kept_off(varlen::Cores());
  CHECK(CPU_EQUAL(&sets.during, &sets.at_start));
}

#endif
