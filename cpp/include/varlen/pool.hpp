// A small thread pool of our own: the caller always works, helpers join where there is enough to do.
// No OpenMP, because a forked child would hang; after a fork the child starts with no helpers.
// Any thread may call, from inside a chunk too. A helper that never gets a core delays nobody.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace varlen {

/// Threads that one call may use, the caller among them. Default: the cores this process may
/// run on, 8 at most; VARLEN_NUM_THREADS overrides it, if it is a whole number of at least 1;
/// 1 in a forked child, whatever its parent had.
[[nodiscard]] int num_threads() noexcept;

/// Clamped to 1 and above. Helpers that are running already stay, but do not join above n.
void set_num_threads(int n) noexcept;

namespace detail {
void run_chunks(std::int64_t chunks, int threads, void (*body)(void*, std::int64_t), void* context) noexcept;
}

/// How many chunks to cut `bytes` of work into: 1 below 2 MB, so that small calls stay on the caller.
[[nodiscard]] std::int64_t chunks_for(std::int64_t bytes) noexcept;

/// Calls body(chunk) for every chunk in [0, chunks), on the caller and on helpers. Returns when all are
/// done, and what they wrote is seen by the caller. A body must not throw.
template <class Body>
void parallel(std::int64_t chunks, Body&& body) noexcept {
  using B = std::remove_reference_t<Body>;
  if (chunks <= 1) {
    if (chunks == 1) body(std::int64_t{0});
    return;
  }
  detail::run_chunks(
      chunks, num_threads(), [](void* context, std::int64_t chunk) { (*static_cast<B*>(context))(chunk); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

}  // namespace varlen
