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
  static const Kernels table{
      .text_of = &text_of,
      .upload = &upload,
      .expand = &expand,
      .expand_end = &expand_end,
      .expand_which = &expand_which,
      .block_mask = &block_mask,
      .lengths_of = &lengths_of,
      .offsets_of = &offsets_of,
      .row_ids_of = &row_ids_of,
      .positions_of = &positions_of,
      .pad = &pad,
      .pad_mask = &pad_mask,
      .unpad = &unpad,
      .reduce_scratch = &reduce_scratch,
      .reduce = &reduce,
      .reduce_extreme = &reduce_extreme,
      .reduce_back_scratch = &reduce_back_scratch,
      .reduce_back = &reduce_back,
      .reduce_blocks_scratch = &reduce_blocks_scratch,
      .reduce_blocks = &reduce_blocks,
      .divide_by_lengths = &divide_by_lengths,
  };
  return table;
}

}  // namespace varlen::cuda
