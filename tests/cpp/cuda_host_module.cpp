#include <pybind11/pybind11.h>

#include "varlen/cuda/kernels.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_cuda_host, m) {
  m.doc() = "The CUDA kernels of varlen, run thread by thread on the host: for tests.";
  m.attr("kernels") = py::capsule(&varlen::cuda::kernels(), varlen::cuda::kKernelsName);
}
