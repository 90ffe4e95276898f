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

}  // namespace varlen::cuda
