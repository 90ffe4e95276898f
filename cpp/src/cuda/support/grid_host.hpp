// Whole grids on the host, for tests: every thread of a block has a stack of its own, barriers wait for all
// of them, shuffles go through memory. What a device tolerates and should not, or does not tolerate, ends the
// process here: accesses outside of a view, those that are not aligned, barriers that some threads do not
// reach. ThreadSanitizer sees every pair of accesses that no barrier orders, whoever comes first.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "thread.hpp"
#include "turns_host.hpp"

namespace varlen::cuda::host {

inline void check_access(const void* data, std::size_t alignment, std::int64_t i, std::int64_t count) {
  if (i < 0 || i >= count) fail("an access outside of its view", i, count);
  if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0) fail("a view that is not aligned", i, count);
}

/// What the threads of a block have in common. A warp whose last lanes are missing is not modelled: blocks
/// are whole warps.
class Block {
 public:
  Block(int threads, std::size_t shared_bytes)
      : threads_(threads), all_(threads), memory_(shared_bytes / sizeof(std::max_align_t) + 1) {
    for (int w = 0; w < threads / kWarp; ++w) warps_.push_back(std::make_unique<Warp>());
  }

  struct Warp {
    Barrier lanes{kWarp};
    std::array<std::uint64_t, kWarp> values{};
  };

  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] std::byte* memory() { return reinterpret_cast<std::byte*>(memory_.data()); }
  [[nodiscard]] Warp& warp(int thread) { return *warps_[static_cast<std::size_t>(thread / kWarp)]; }
  void sync() { all_.arrive_and_wait(); }
  /// Nothing of what another block left can be relied on.
  void poison() { std::memset(memory_.data(), 0xa5, memory_.size() * sizeof(std::max_align_t)); }

 private:
  int threads_;
  Barrier all_;
  std::vector<std::max_align_t> memory_;
  std::vector<std::unique_ptr<Warp>> warps_;
};

class HostThread {
 public:
  HostThread(Block* common, std::int64_t block, std::int64_t blocks, int index, int threads)
      : common_(common), block_(block), blocks_(blocks), index_(index), threads_(threads) {}

  [[nodiscard]] std::int64_t block() const { return block_; }
  [[nodiscard]] std::int64_t blocks() const { return blocks_; }
  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] int lane() const { return index_ % kWarp; }

  template <class T>
  [[nodiscard]] T* memory() const {
    return reinterpret_cast<T*>(common_->memory());
  }
  void sync() const { common_->sync(); }
  void sync_warp() const { common_->warp(index_).lanes.arrive_and_wait(); }

  template <class T>
  [[nodiscard]] T shuffle_xor(T value, int mask) const {
    return exchange(value, lane() ^ mask);
  }
  template <class T>
  [[nodiscard]] T shuffle_up(T value, int delta) const {
    return exchange(value, lane() >= delta ? lane() - delta : lane());
  }
  template <class T>
  [[nodiscard]] T shuffle(T value, int lane_of) const {
    return exchange(value, lane_of);
  }
  [[nodiscard]] std::uint32_t ballot(bool says) const {
    Block::Warp& warp = common_->warp(index_);
    warp.values[static_cast<std::size_t>(lane())] = says ? 1 : 0;
    warp.lanes.arrive_and_wait();
    std::uint32_t all = 0;
    for (std::size_t k = 0; k < kWarp; ++k) all |= static_cast<std::uint32_t>(warp.values[k]) << k;
    warp.lanes.arrive_and_wait();
    return all;
  }
  void raise(std::int64_t& number, std::int64_t minimum) const {
    std::atomic_ref<std::int64_t> memory(number);
    std::int64_t previous = memory.load(std::memory_order_relaxed);
    while (previous < minimum &&
           !memory.compare_exchange_weak(previous, minimum, std::memory_order_relaxed)) {
    }
  }

 private:
  template <class T>
  T exchange(T value, int from) const {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    Block::Warp& warp = common_->warp(index_);
    std::memcpy(&warp.values[static_cast<std::size_t>(lane())], &value, sizeof value);
    warp.lanes.arrive_and_wait();
    T result;
    std::memcpy(&result, &warp.values[static_cast<std::size_t>(from)], sizeof result);
    warp.lanes.arrive_and_wait();
    return result;
  }

  Block* common_;
  std::int64_t block_;
  std::int64_t blocks_;
  int index_;
  int threads_;
};

/// Runs a grid to its end.
template <class Body>
void run(const Body& body, std::int64_t blocks, int threads, std::size_t shared_bytes) {
  if constexpr (Body::kNoBarrier) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      for (int t = 0; t < threads; ++t) {
        HostThread thread(nullptr, b, blocks, t, threads);
        body(thread);
      }
    }
  } else {
    Block common(threads, shared_bytes);
    for (std::int64_t b = 0; b < blocks; ++b) {
      common.poison();
      take_turns(threads, [&](int t) {
        HostThread thread(&common, b, blocks, t, threads);
        body(thread);
      });
    }
  }
}

}  // namespace varlen::cuda::host
