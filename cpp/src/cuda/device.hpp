// What the CUDA runtime finds on this machine.
#pragma once

namespace varlen::cuda {

/// `code` is the runtime's error, 0 where a kernel of ours can run on device 0.
struct DeviceReport {
  int code = 0;
  int count = 0;
  int driver =
      0;  ///< the CUDA version that the driver knows, 1000 * major + 10 * minor; 0 where there is none
  int runtime = 0;  ///< the CUDA version of the runtime inside the module
  char name[256] = {};
  char text[256] = {};
};

/// Starts the driver, so it is never called at import. Leaves no error behind.
[[nodiscard]] DeviceReport probe() noexcept;

}  // namespace varlen::cuda
