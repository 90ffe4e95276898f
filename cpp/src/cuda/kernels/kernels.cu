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

Error download(Stream stream, const void* from, std::int64_t bytes, void* to) noexcept {
  if (bytes == 0) return 0;
  const OnDevice here(stream.device);
  auto* const queue = static_cast<cudaStream_t>(stream.handle);
  const Error error =
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, queue);
  return error != 0 ? error : cudaStreamSynchronize(queue);
}

#else

const char* text_of(Error) noexcept {
  return "an error of the host";
}

Error upload(Stream, const void* from, std::int64_t bytes, void* to) noexcept {
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  return 0;
}

Error download(Stream stream, const void* from, std::int64_t bytes, void* to) noexcept {
  return upload(stream, from, bytes, to);
}

#endif

}  // namespace

const Kernels& kernels() noexcept {
#define VARLEN_ENTRY(name) .name = &name,
  static const Kernels table{
      .text_of = &text_of, .upload = &upload, .download = &download, VARLEN_CUDA_KERNELS(VARLEN_ENTRY)};
#undef VARLEN_ENTRY
  return table;
}

}  // namespace varlen::cuda
