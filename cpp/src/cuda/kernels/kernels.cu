#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "support/launch.hpp"
#include "support/start.hpp"
#include "varlen/cuda/kernels.hpp"

namespace varlen::cuda {

namespace {

#if defined(__CUDACC__)

static_assert(kNoMemory == cudaErrorMemoryAllocation && kNotInitialized == cudaErrorInitializationError &&
              kOldDriver == cudaErrorInsufficientDriver && kNoImage == cudaErrorNoKernelImageForDevice &&
              kNoCompiler == cudaErrorUnsupportedPtxVersion &&
              kCaptured == cudaErrorStreamCaptureUnsupported);

cudaStream_t queue_of(Stream stream) noexcept {
  return static_cast<cudaStream_t>(stream.handle);
}

const char* text_of(Error error) noexcept {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

// The default stream of old is never captured, and asking it while another one is would end that capture.
Error capture_of(Stream stream, std::uint64_t* id) noexcept {
  *id = 0;
  if (stream.handle == nullptr || stream.handle == cudaStreamLegacy) return 0;
  const OnDevice here(stream.device);
  auto status = cudaStreamCaptureStatusNone;
  unsigned long long number = 0;
  const Error error = told(cudaStreamGetCaptureInfo(queue_of(stream), &status, &number));
  if (error == 0 && status != cudaStreamCaptureStatusNone) *id = number;
  return error;
}

// The driver takes pageable memory into its own before it returns, but not where a graph is captured: that
// would read it at each replay.
Error upload(Stream stream, const void* from, std::int64_t bytes, void* to) noexcept {
  if (bytes == 0) return 0;
  std::uint64_t capture = 0;
  if (const Error error = capture_of(stream, &capture); error != 0) return error;
  if (capture != 0) {
    return embed(stream, static_cast<const std::byte*>(from), bytes, static_cast<std::byte*>(to));
  }
  const OnDevice here(stream.device);
  return told(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, queue_of(stream)));
}

// To wait for a stream that is captured would end the capture.
Error download(Stream stream, const void* from, std::int64_t bytes, void* to) noexcept {
  if (bytes == 0) return 0;
  std::uint64_t capture = 0;
  if (const Error error = capture_of(stream, &capture); error != 0) return error;
  if (capture != 0) return kCaptured;
  const OnDevice here(stream.device);
  const Error error = told(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, queue_of(stream)));
  return error != 0 ? error : told(cudaStreamSynchronize(queue_of(stream)));
}

Error follow(Stream earlier, Stream later) noexcept {
  if (earlier.handle == later.handle) return 0;
  const OnDevice here(later.device);
  cudaEvent_t event = nullptr;
  if (const Error error = told(cudaEventCreateWithFlags(&event, cudaEventDisableTiming)); error != 0) {
    return error;
  }
  Error error = told(cudaEventRecord(event, queue_of(earlier)));
  if (error == 0) error = told(cudaStreamWaitEvent(queue_of(later), event, 0));
  (void)told(cudaEventDestroy(event));  // once it has come about
  return error;
}

std::int64_t* common_words(std::int64_t count) noexcept {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;  // where another stream is captured meanwhile
  if (told(cudaThreadExchangeStreamCaptureMode(&mode)) != 0) return nullptr;
  void* words = nullptr;
  const std::size_t size = static_cast<std::size_t>(count) * sizeof(std::int64_t);
  if (told(cudaHostAlloc(&words, size, cudaHostAllocPortable | cudaHostAllocMapped)) != 0) words = nullptr;
  (void)told(cudaThreadExchangeStreamCaptureMode(&mode));
  if (words != nullptr) std::memset(words, 0, size);
  return static_cast<std::int64_t*>(words);
}

#else

const char* text_of(Error) noexcept {
  return "an error of the host";
}

Error capture_of(Stream, std::uint64_t* id) noexcept {
  *id = host::graph().capture();
  return 0;
}

Error upload(Stream stream, const void* from, std::int64_t bytes, void* to) noexcept {
  if (const Error error = host::take_error(); error != 0) return error;
  if (host::graph().capture() != 0) {
    return embed(stream, static_cast<const std::byte*>(from), bytes, static_cast<std::byte*>(to));
  }
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  return 0;
}

Error download(Stream, const void* from, std::int64_t bytes, void* to) noexcept {
  if (const Error error = host::take_error(); error != 0) return error;
  if (host::graph().capture() != 0) return kCaptured;
  ++host::waits();
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  return 0;
}

Error follow(Stream, Stream) noexcept {
  return 0;
}

std::int64_t* common_words(std::int64_t count) noexcept {
  return static_cast<std::int64_t*>(std::calloc(static_cast<std::size_t>(count), sizeof(std::int64_t)));
}

#endif

}  // namespace

const Kernels& kernels() noexcept {
#define VARLEN_ENTRY(name) .name = &name,
  static const Kernels table{.text_of = &text_of,
                             .upload = &upload,
                             .download = &download,
                             .capture_of = &capture_of,
                             .follow = &follow,
                             .common_words = &common_words,
                             VARLEN_CUDA_KERNELS(VARLEN_ENTRY)};
#undef VARLEN_ENTRY
  return table;
}

}  // namespace varlen::cuda
