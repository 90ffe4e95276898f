// The widest word that a thread reads or writes at once.
#pragma once

#include <cstdint>

namespace varlen::cuda {

struct alignas(16) Word16 {
  std::uint64_t low, high;
};

}  // namespace varlen::cuda
