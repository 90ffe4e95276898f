#include <pybind11/pybind11.h>

#include "support/graph_host.hpp"
#include "varlen/cuda/kernels.hpp"

namespace host = varlen::cuda::host;
namespace py = pybind11;

PYBIND11_MODULE(_cuda_host, m) {
  m.doc() = "The CUDA kernels of varlen, run thread by thread on the host: for tests.";
  m.attr("kernels") = py::capsule(&varlen::cuda::kernels(), varlen::cuda::kKernelsName);
  m.def(
      "begin_capture", [] { host::graph().begin(); }, "What is put on streams is kept, and not done.");
  m.def(
      "end_capture", [] { host::graph().end(); }, "What is put on streams is done at once again.");
  m.def(
      "replay", [] { host::graph().replay(); }, "Do what was kept.");
  m.def(
      "waits", [] { return host::waits(); }, "How often somebody waited for a stream.");
  m.def(
      "fail_next", [](int error) { host::next_error() = error; }, py::arg("error"),
      "The next launch or copy fails with an error of the CUDA runtime.");
}
