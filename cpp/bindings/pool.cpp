#include "varlen/pool.hpp"

#include <algorithm>
#include <climits>

#include "rooms.hpp"
#include "support/fastcall.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

void bind_pool(py::module_& m) {
  m.def("num_threads", &num_threads,
        "Threads that one call may use, the caller among them.\n\n"
        "By default the cores that this process may run on, 8 at most; VARLEN_NUM_THREADS overrides it.\n"
        "Workers of multiprocessing and forked children start with 1.\n\n"
        "Examples\n--------\n"
        ">>> varlen.num_threads() >= 1\nTrue\n");
  m.def(
      "set_num_threads",
      [](py::handle input) {
        const std::int64_t n = at_least(1, int_of(input.ptr(), "n"), "n");
        const int old_count = num_threads();
        set_num_threads(static_cast<int>(std::min<std::int64_t>(n, INT_MAX)));
        if (const int limit = num_threads(); n > limit) {
          set_num_threads(old_count);
          raise_value("n",
                      "expected at most " + std::to_string(limit) + " threads, got " + std::to_string(n));
        }
      },
      py::arg("n"),
      "Let one call use n threads, the caller among them. Raises ValueError where n is below 1 or above "
      "256.\n\n"
      "Examples\n--------\n"
      ">>> before = varlen.num_threads()\n>>> varlen.set_num_threads(2)\n>>> varlen.num_threads()\n2\n"
      ">>> varlen.set_num_threads(before)\n");
}

}  // namespace varlen::bindings
