#include "varlen/host.hpp"

namespace varlen::host {

namespace {

constexpr cuda::Kernels table() {
  cuda::Kernels all{};
#define VARLEN_ENTRY(name) all.name = &host::name;
  VARLEN_HOST_KERNELS(VARLEN_ENTRY)
#undef VARLEN_ENTRY
  return all;
}

}  // namespace

constexpr cuda::Kernels kKernels = table();

}  // namespace varlen::host
