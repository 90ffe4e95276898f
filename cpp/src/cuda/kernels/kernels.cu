#include <cstddef>
#include <cstring>

#include "support/launch.hpp"
#include "varlen/cuda/kernels.hpp"

namespace varlen::cuda {

namespace {

#if defined(__CUDACC__)

const char* text_of(Error error) noexcept {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

// The driver takes pageable memory into its own before it returns.
Error upload(Stream stream, const void* from, std::int64_t bytes, void* to) noexcept {
  if (bytes == 0) return 0;
  const OnDevice here(stream.device);
  return cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice,
                         static_cast<cudaStream_t>(stream.handle));
}

#else

const char* text_of(Error) noexcept {
  return "an error of the host";
}

Error upload(Stream, const void* from, std::int64_t bytes, void* to) noexcept {
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  return 0;
}

#endif

}  // namespace

const Kernels& kernels() noexcept {
#define VARLEN_ENTRY(name) .name = &name,
  static const Kernels table{.text_of = &text_of, .upload = &upload, VARLEN_CUDA_KERNELS(VARLEN_ENTRY)};
#undef VARLEN_ENTRY
  return table;
}

}  // namespace varlen::cuda
