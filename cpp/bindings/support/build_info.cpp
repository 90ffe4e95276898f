#include "build_info.hpp"

namespace varlen::bindings {

const char* const kCudaState = VARLEN_CUDA_STATE;

}  // namespace varlen::bindings
