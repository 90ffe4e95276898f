// The largest of every few numbers.
#include "varlen/maxout.hpp"

#include <limits>
#include <string>

#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/operands.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

template <class T>
void run(const Numbers& x, std::int64_t n, std::int64_t pieces, py::array& best, py::array& which) {
  auto* const to = static_cast<T*>(best.mutable_data());
  auto* const places = static_cast<std::int32_t*>(which.mutable_data());
  const auto* const from = static_cast<const T*>(x.array.data());
  const GilRelease gil_release(x.array.nbytes());
  maxout(from, n, pieces, to, places);
}

constexpr Signature<1> kMaxout{"maxout", {"X"}};

py::object maxout_array(const Arguments<1>& args) {
  const Numbers x = numbers_of(args[0], "X");
  if (x.type != Type::f32 && x.type != Type::f64) {
    raise_type("X", "expected float32 or float64, got " + str_of(x.array.dtype()));
  }
  const py::ssize_t last = x.array.ndim() - 1;
  const std::int64_t pieces = last < 1 ? 0 : x.array.shape(last);
  if (pieces < 1 || pieces > std::numeric_limits<std::int32_t>::max()) {
    raise_value("X", "expected (..., pieces) with at least one piece, got " + std::to_string(pieces));
  }
  const Extents shape(x.array.shape(), x.array.shape() + last);
  py::array best = empty(x.array.dtype(), shape);
  py::array which = empty(py::dtype::of<std::int32_t>(), shape);
  const std::int64_t n = best.size();
  if (x.type == Type::f32) {
    run<float>(x, n, pieces, best, which);
  } else {
    run<double>(x, n, pieces, best, which);
  }
  return py::make_tuple(best, which);
}

PyMethodDef maxout_methods[] = {
    method<kMaxout, maxout_array>("maxout(X)\n--\n\n"
                                  "The largest of each (..., pieces), and its place: the first of equals."),
    {},
};

}  // namespace

void bind_maxout(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), maxout_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
