// Bytes of the host that a graph holds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "thread.hpp"
#include "view.hpp"

namespace varlen::cuda {

/// Bytes of the host, as arguments of a kernel: a graph that captures it holds them.
struct EmbedBytes {
  static constexpr bool kNoBarrier = true;
  static constexpr int kWords = 1016;  // what an argument may be is 4 kB in all

  std::uint32_t words[kWords];
  View<std::uint32_t> out;
  View<std::byte> rest;  ///< behind whole words

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    VARLEN_ROLLED for (int i = thread.index(); i < out.count; i += thread.threads()) out[i] = words[i];
    if (thread.index() < rest.count) {
      rest[thread.index()] = static_cast<std::byte>(words[out.count] >> (8 * thread.index()));
    }
  }
};

}  // namespace varlen::cuda
