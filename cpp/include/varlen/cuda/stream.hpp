// Where kernels of the GPU run.
#pragma once

namespace varlen::cuda {

/// Work that is put on a stream is done in its order. `handle` is the driver's, of the device.
struct Stream {
  int device = 0;
  void* handle = nullptr;
};

/// What the runtime says of a call: 0 is success.
using Error = int;

// Those that have words of their own, as the runtime numbers them.
constexpr Error kNoMemory = 2;
constexpr Error kNoInit = 3;
constexpr Error kOldDriver = 35;
constexpr Error kNoImage = 209;
constexpr Error kNoCompiler = 222;  ///< for the PTX of the module
constexpr Error kNotYet = 600;      ///< of an event
constexpr Error kStreamCapture = 900;

}  // namespace varlen::cuda
