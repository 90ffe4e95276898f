#include <cuda_runtime.h>

#include <cstdio>

#include "device.hpp"

namespace varlen::cuda {
namespace {

// Never launched: asked only whether the module holds an image of it for this device.
__global__ void empty_kernel() {}

cudaError_t look(DeviceReport& report) noexcept {
  (void)cudaDriverGetVersion(&report.driver);
  (void)cudaRuntimeGetVersion(&report.runtime);
  if (const cudaError_t error = cudaGetDeviceCount(&report.count); error != cudaSuccess) {
    report.count = 0;
    return error;
  }
  if (report.count == 0) return cudaErrorNoDevice;
  cudaDeviceProp properties;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, 0); error != cudaSuccess) return error;
  (void)std::snprintf(report.name, sizeof report.name, "%s", properties.name);
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, empty_kernel);
}

}  // namespace

DeviceReport probe() noexcept {
  DeviceReport report;
  const cudaError_t error = look(report);
  (void)cudaGetLastError();  // or the next call of anybody would report it
  report.code = static_cast<int>(error);
  (void)std::snprintf(report.text, sizeof report.text, "%s", cudaGetErrorString(error));
  return report;
}

}  // namespace varlen::cuda
