// How many cores this process may run on.
#pragma once

namespace varlen {

/// The cores of the affinity mask and of the cgroup's quota, whichever is less; at least 1.
[[nodiscard]] int usable_cores() noexcept;

}  // namespace varlen
