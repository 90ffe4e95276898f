#include <pybind11/pybind11.h>

#include "device.hpp"
#include "varlen/cuda/kernels.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_cuda, m) {
  m.doc() = "The CUDA kernels of varlen. Importing it calls nothing of CUDA.";
  m.attr("__version__") = VARLEN_VERSION;
  m.attr("__archs__") = VARLEN_CUDA_ARCHS;
  m.attr("kernels") = py::capsule(&varlen::cuda::kernels(), varlen::cuda::kKernelsName);
  m.def(
      "probe",
      [] {
        const varlen::cuda::DeviceReport report = varlen::cuda::probe();
        py::dict out;
        out["code"] = report.code;
        out["count"] = report.count;
        out["driver"] = report.driver;
        out["runtime"] = report.runtime;
        out["name"] = report.name;
        out["text"] = report.text;
        return out;
      },
      "Asks the driver what there is, and whether kernels of this module run on the first device.");
}
