// How large the caches of this machine are.
#pragma once

#include <cstdint>

namespace varlen {

/// Bytes of the last cache, which cores may share; 0 where the system does not say. Looked up once.
[[nodiscard]] std::int64_t last_cache_bytes() noexcept;

}  // namespace varlen
