// A kernel whose barrier can be left away: ThreadSanitizer has to tell the two apart, or its silence about
// the kernels says nothing. Give `barrier` or `none`.
#include <cstdint>
#include <cstring>
#include <vector>

#include "support/launch.hpp"
#include "support/thread.hpp"
#include "support/view.hpp"

namespace {

namespace cuda = varlen::cuda;

/// Each thread reads what its neighbour in the next warp has written.
struct Neighbours {
  static constexpr bool kNoBarrier = false;

  cuda::View<std::int64_t> out;
  bool has_barrier;

  template <class Thread>
  void operator()(Thread& thread) const {
    auto* const memory = thread.template memory<std::int64_t>();
    memory[thread.index()] = thread.index();
    if (has_barrier) thread.sync();
    out[thread.index()] = memory[(thread.index() + cuda::kWarp) % thread.threads()];
  }
};

}  // namespace

int main(int count, char** arguments) {
  constexpr int kThreads = 4 * cuda::kWarp;
  const bool has_barrier = count < 2 || std::strcmp(arguments[1], "none") != 0;
  std::vector<std::int64_t> out(kThreads);
  const cuda::Grid grid{1, kThreads, kThreads * sizeof(std::int64_t)};
  return cuda::launch({}, grid, Neighbours{{out.data(), kThreads}, has_barrier});
}
