#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "support/launch.hpp"
#include "support/start.hpp"
#include "varlen/cuda/kernels.hpp"

#if !defined(__CUDACC__)
#include "support/call_log_host.hpp"
#endif

namespace varlen::cuda {

namespace {

#if defined(__CUDACC__)

static_assert(kNoMemory == cudaErrorMemoryAllocation && kNoInit == cudaErrorInitializationError &&
              kOldDriver == cudaErrorInsufficientDriver && kNoImage == cudaErrorNoKernelImageForDevice &&
              kNoCompiler == cudaErrorUnsupportedPtxVersion && kNotYet == cudaErrorNotReady &&
              kStreamCapture == cudaErrorStreamCaptureUnsupported);

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
  const OnDevice device_guard(stream.device);
  auto status = cudaStreamCaptureStatusNone;
  unsigned long long number = 0;
  const Error error = clear_error(cudaStreamGetCaptureInfo(queue_of(stream), &status, &number));
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
  const OnDevice device_guard(stream.device);
  return clear_error(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, queue_of(stream)));
}

// To wait for a stream that is captured would end the capture.
Error download(Stream stream, const void* from, std::int64_t bytes, void* to) noexcept {
  if (bytes == 0) return 0;
  std::uint64_t capture = 0;
  if (const Error error = capture_of(stream, &capture); error != 0) return error;
  if (capture != 0) return kStreamCapture;
  const OnDevice device_guard(stream.device);
  const Error error = clear_error(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, queue_of(stream)));
  return error != 0 ? error : clear_error(cudaStreamSynchronize(queue_of(stream)));
}

Error follow(Stream earlier, Stream later) noexcept {
  if (earlier.handle == later.handle) return 0;
  const OnDevice device_guard(later.device);
  cudaEvent_t event = nullptr;
  if (const Error error = clear_error(cudaEventCreateWithFlags(&event, cudaEventDisableTiming)); error != 0) {
    return error;
  }
  Error error = clear_error(cudaEventRecord(event, queue_of(earlier)));
  if (error == 0) error = clear_error(cudaStreamWaitEvent(queue_of(later), event, 0));
  (void)clear_error(cudaEventDestroy(event));  // once it has come about
  return error;
}

/// What a thread does about memory while another stream may be captured.
class CaptureRelaxation {
 public:
  CaptureRelaxation() noexcept : error_(clear_error(cudaThreadExchangeStreamCaptureMode(&mode_))) {}
  CaptureRelaxation(const CaptureRelaxation&) = delete;
  CaptureRelaxation& operator=(const CaptureRelaxation&) = delete;
  ~CaptureRelaxation() {
    if (error_ == 0) (void)clear_error(cudaThreadExchangeStreamCaptureMode(&mode_));
  }
  [[nodiscard]] Error error() const noexcept { return error_; }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
  Error error_;
};

Error allocate(std::int64_t bytes, unsigned flags, void** memory) noexcept {
  const CaptureRelaxation relaxation;
  if (relaxation.error() != 0) return relaxation.error();
  return clear_error(cudaHostAlloc(memory, static_cast<std::size_t>(bytes), cudaHostAllocPortable | flags));
}

std::int64_t* common_words(std::int64_t count) noexcept {
  const std::int64_t size = count * static_cast<std::int64_t>(sizeof(std::int64_t));
  void* words = nullptr;
  if (allocate(size, cudaHostAllocMapped, &words) != 0) return nullptr;
  std::memset(words, 0, static_cast<std::size_t>(size));
  return static_cast<std::int64_t*>(words);
}

Error pin(int device, std::int64_t bytes, void** memory) noexcept {
  const OnDevice device_guard(device);
  return allocate(bytes, 0, memory);
}

void unpin(void* memory) noexcept {
  const CaptureRelaxation relaxation;
  (void)clear_error(cudaFreeHost(memory));
}

Error send(Stream stream, const void* from, std::int64_t bytes, void* to, void** event) noexcept {
  std::uint64_t capture = 0;
  if (const Error error = capture_of(stream, &capture); error != 0) return error;
  if (capture != 0) return kStreamCapture;
  const OnDevice device_guard(stream.device);
  auto* copy_event = static_cast<cudaEvent_t>(*event);
  if (copy_event == nullptr) {
    if (const Error error = clear_error(cudaEventCreateWithFlags(&copy_event, cudaEventDisableTiming));
        error != 0) {
      return error;
    }
    *event = copy_event;
  }
  if (bytes > 0) {
    const Error error = clear_error(
        cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, queue_of(stream)));
    if (error != 0) return error;
  }
  return clear_error(cudaEventRecord(copy_event, queue_of(stream)));
}

Error query(void* event) noexcept {
  return clear_error(cudaEventQuery(static_cast<cudaEvent_t>(event)));
}

Error wait(void* event) noexcept {
  return clear_error(cudaEventSynchronize(static_cast<cudaEvent_t>(event)));
}

void forget(void* event) noexcept {
  (void)clear_error(cudaEventDestroy(static_cast<cudaEvent_t>(event)));
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
  if (host::graph().capture() != 0) return kStreamCapture;
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

Error pin(int, std::int64_t bytes, void** memory) noexcept {
  if (const Error error = host::take_error(); error != 0) return error;
  *memory = std::malloc(static_cast<std::size_t>(bytes));
  return *memory != nullptr || bytes == 0 ? 0 : kNoMemory;
}

void unpin(void* memory) noexcept {
  std::free(memory);
}

Error send(Stream stream, const void* from, std::int64_t bytes, void* to, void** event) noexcept {
  if (const Error error = host::take_error(); error != 0) return error;
  if (host::graph().capture() != 0) return kStreamCapture;
  if (*event == nullptr) *event = new (std::nothrow) host::Event;
  if (*event == nullptr) return kNoMemory;
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  host::call_log().note_of("pinned copy on ", stream.handle);
  host::call_log().note_of("record ", stream.handle);
  static_cast<host::Event*>(*event)->has_come = !host::call_log().holds_events;
  return 0;
}

Error query(void* event) noexcept {
  return static_cast<host::Event*>(event)->has_come ? 0 : kNotYet;
}

Error wait(void* event) noexcept {
  static_cast<host::Event*>(event)->has_come = true;
  host::call_log().note("synchronize");
  return 0;
}

void forget(void* event) noexcept {
  delete static_cast<host::Event*>(event);
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
                             .pin = &pin,
                             .unpin = &unpin,
                             .send = &send,
                             .query = &query,
                             .wait = &wait,
                             .forget = &forget,
                             VARLEN_CUDA_KERNELS(VARLEN_ENTRY)};
#undef VARLEN_ENTRY
  return table;
}

}  // namespace varlen::cuda
