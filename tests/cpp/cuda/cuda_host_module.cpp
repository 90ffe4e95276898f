#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>

#include "support/call_log_host.hpp"
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
  m.def(
      "asked", [] { return host::call_log().take(); },
      "What was asked of streams since the last call, in order; nothing before the first one.");
  m.def(
      "note", [](const std::string& what) { host::call_log().note(what); }, py::arg("what"),
      "Something that was asked of a stream elsewhere.");
  m.def(
      "hold_events", [](bool hold) { host::call_log().holds_events = hold; }, py::arg("hold"),
      "Whether events come when somebody waits for them, and not at once.");
}
