#include <pybind11/pybind11.h>

#include "rooms.hpp"
#include "support/build_info.hpp"
#include "support/raise.hpp"

namespace {

/// Whether this is the interpreter that the process began with; else an ImportError is set. pybind11 takes
/// the GIL by way of the main interpreter, and would wait for ever in another one.
bool in_main_interpreter() noexcept {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return true;
  PyErr_SetString(PyExc_ImportError,
                  "varlen does not run in subinterpreters; import it in the main interpreter");
  return false;
}

}  // namespace

// Named apart, so that what Python calls can look where it is before pybind11 begins.
#define PyInit__core varlen_init_core
PYBIND11_MODULE(_core, m) {
  using namespace varlen::bindings;
  if (!in_main_interpreter()) throw pybind11::error_already_set();
  m.doc() = "The compiled core of varlen.";
  m.attr("__version__") = VARLEN_VERSION;
  m.attr("cuda_state") = kCudaState;
  // NOLINTNEXTLINE(performance-unnecessary-value-param): the type that pybind11 asks for
  pybind11::register_local_exception_translator([](std::exception_ptr exception) {
    try {
      if (exception) std::rethrow_exception(exception);
    } catch (const varlen::Error& error) {
      set_error(error);
    }
  });
#define VARLEN_BIND(noun) bind_##noun(m);
  VARLEN_ROOMS(VARLEN_BIND)
#undef VARLEN_BIND
}
#undef PyInit__core

// NOLINTNEXTLINE(bugprone-reserved-identifier): the name that Python looks for
extern "C" PYBIND11_EXPORT PyObject* PyInit__core() {
  return in_main_interpreter() ? varlen_init_core() : nullptr;
}
