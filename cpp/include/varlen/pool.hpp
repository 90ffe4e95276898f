// A small thread pool of our own: the caller always works, helpers join where there is enough to do.
// No OpenMP, because a forked child would hang; after a fork the child starts with no helpers.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace varlen {

/// Threads that one call may use, the caller among them. Default: the cores this process may
/// run on, 8 at most; VARLEN_NUM_THREADS overrides it; 1 in a forked child.
[[nodiscard]] int num_threads() noexcept;

/// n >= 1. Helpers that are running already stay, but are not woken above n.
void set_num_threads(int n) noexcept;

/// True in a process that was forked after this library was loaded, until set_num_threads is called.
[[nodiscard]] bool forked() noexcept;

namespace detail {
void run_chunks(std::int64_t chunks, int threads, void (*body)(void*, std::int64_t), void* context) noexcept;
}

/// How many chunks to cut `bytes` of work into: 1 below 1 MB, so that small calls stay on the caller.
[[nodiscard]] std::int64_t chunks_for(std::int64_t bytes) noexcept;

/// Calls body(chunk) for every chunk in [0, chunks), on the caller and on helpers. Returns when all are done.
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
