#include <cuda_runtime.h>

#include <cstdio>

#include "device.hpp"

namespace varlen::cuda {
namespace {

// Never launched: asked only whether the module holds an image of it for this device.
__global__ void nothing() {}

cudaError_t look(Found& found) noexcept {
  (void)cudaDriverGetVersion(&found.driver);
  (void)cudaRuntimeGetVersion(&found.runtime);
  if (const cudaError_t error = cudaGetDeviceCount(&found.count); error != cudaSuccess) {
    found.count = 0;
    return error;
  }
  if (found.count == 0) return cudaErrorNoDevice;
  cudaDeviceProp properties;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, 0); error != cudaSuccess) return error;
  (void)std::snprintf(found.name, sizeof found.name, "%s", properties.name);
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, nothing);
}

}  // namespace

Found probe() noexcept {
  Found found;
  const cudaError_t error = look(found);
  (void)cudaGetLastError();  // or the next call of anybody would report it
  found.code = static_cast<int>(error);
  (void)std::snprintf(found.text, sizeof found.text, "%s", cudaGetErrorString(error));
  return found;
}

}  // namespace varlen::cuda
