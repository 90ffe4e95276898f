#include "affinity.hpp"

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace varlen {

#ifdef __linux__

void Cores::add_this() noexcept {
  const int core = sched_getcpu();
  if (core >= 0) CPU_SET(core, &set_);
}

void Affinity::note() noexcept {
  thread_ = static_cast<pid_t>(syscall(SYS_gettid));
  is_known_ = sched_getaffinity(0, sizeof cores_, &cores_) == 0;
}

void Affinity::avoid(const Cores& busy) noexcept {
  if (!is_known_) return;
  cpu_set_t overlap;
  CPU_AND(&overlap, &cores_, &busy.set_);
  cpu_set_t others;
  CPU_XOR(&others, &cores_, &overlap);
  if (CPU_COUNT(&overlap) == 0 || CPU_COUNT(&others) == 0) return;
  is_moved_ = sched_setaffinity(thread_, sizeof others, &others) == 0;
}

void Affinity::restore() noexcept {
  if (is_moved_) (void)sched_setaffinity(0, sizeof cores_, &cores_);
  is_moved_ = false;
}

#else

void Cores::add_this() noexcept {}
void Affinity::note() noexcept {}
void Affinity::avoid(const Cores& /*busy*/) noexcept {}
void Affinity::restore() noexcept {}

#endif

}  // namespace varlen
