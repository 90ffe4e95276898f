#include "varlen/pool.hpp"

#include "raise.hpp"
#include "rooms.hpp"

namespace varlen::bindings {

void bind_pool(py::module_& m) {
  m.def("num_threads", &num_threads, "Threads that one call may use.");
  m.def(
      "set_num_threads",
      [](int n) {
        if (n < 1) raise_value("n: expected at least one thread, got " + std::to_string(n));
        set_num_threads(n);
      },
      py::arg("n"), "Lets one call use n threads, the caller among them.");
}

}  // namespace varlen::bindings
