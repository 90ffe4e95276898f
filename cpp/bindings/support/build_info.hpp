// What the build decided. Its source has nothing else, so that the rest compiles the same whatever that was.
#pragma once

namespace varlen::bindings {

/// What became of the CUDA module: see build.cmake.
extern const char* const kCudaState;

}  // namespace varlen::bindings
