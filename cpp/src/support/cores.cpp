#include "cores.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace varlen {
namespace {

constexpr int kNoLimit = std::numeric_limits<int>::max();

#ifdef __linux__

int cores_of(double quota, double period) noexcept {
  if (!(quota > 0) || !(period > 0)) return kNoLimit;
  return static_cast<int>(std::clamp(quota / period + 0.5, 1.0, 1e6));
}

// The numbers at the start of a small file; how many there were (none in "max", or where there is no file).
int read(const char* path, double& first, double& second) noexcept {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  const int fields = std::fscanf(file, "%lf %lf", &first, &second);
  (void)std::fclose(file);
  return std::max(fields, 0);
}

int quota() noexcept {
  double limit = 0;
  double period = 0;
  double rest = 0;
  if (read("/sys/fs/cgroup/cpu.max", limit, period) == 2) return cores_of(limit, period);
  if (read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", limit, rest) == 1 &&
      read("/sys/fs/cgroup/cpu/cpu.cfs_period_us", period, rest) == 1) {
    return cores_of(limit, period);
  }
  return kNoLimit;
}

int affinity() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

#else

int quota() noexcept {
  return kNoLimit;
}
int affinity() noexcept {
  return static_cast<int>(std::thread::hardware_concurrency());
}

#endif

}  // namespace

int usable_cores() noexcept {
  return std::max(1, std::min(affinity(), quota()));
}

}  // namespace varlen
