// Einsum over sequences, by the inner loops of NumPy's own matmul and multiply, and so by the BLAS it brings.
#include "varlen/model/einsum.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#if defined(__linux__)
#include <dlfcn.h>
#include <link.h>
#endif

#include "level/level.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/fastcall.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

/// What the C API of NumPy says that a ufunc begins with.
struct Ufunc {
  PyObject_HEAD int inputs, outputs, count, identity;
  Loop::Run* functions;
  void* const* data;
  int ntypes;
  int padding;
  const char* name;
  const char* types;
};

/// The inner loop for elements of one kind, by NumPy's letter for it; none where there is none.
Loop loop_of(const char* name, char type) {
  static const py::object numpy = py::module_::import("numpy");
  const py::object function = numpy.attr(name);
  // Not freed: NumPy's ufuncs live as long as Python.
  const auto* const ufunc = reinterpret_cast<const Ufunc*>(function.ptr());
  if (std::string_view(Py_TYPE(function.ptr())->tp_name) != "numpy.ufunc" || ufunc->count != 3 ||
      std::strcmp(ufunc->name, name) != 0) {
    raise_type(std::string("numpy.") + name, "expected a ufunc of two arrays");
  }
  for (int k = 0; k < ufunc->ntypes; ++k) {
    const char* const types = ufunc->types + std::ptrdiff_t{3} * k;
    // NumPy's numbers of its types; their letters are in the order of the same numbers.
    static constexpr std::string_view kLetters = "?bBhHiIlLqQfdgFDG";
    if (types[0] < 0 || static_cast<std::size_t>(types[0]) >= kLetters.size()) continue;
    const bool is_match = types[0] == types[1] && types[0] == types[2];
    if (is_match && kLetters[static_cast<std::size_t>(types[0])] == type) {
      return {ufunc->functions[k], const_cast<void*>(ufunc->data == nullptr ? nullptr : ufunc->data[k])};
    }
  }
  return {};
}

struct BlasThreads {
  int (*read)() = nullptr;
  void (*set)(int) = nullptr;
};

#if defined(__linux__)
/// Threads of the OpenBLAS that NumPy has loaded, which none of its own functions tell.
int look_for_blas(dl_phdr_info* library, std::size_t, void* context) {
  if (library->dlpi_name == nullptr || std::strstr(library->dlpi_name, "openblas") == nullptr) return 0;
  void* const handle = dlopen(library->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) return 0;
  auto& threads = *static_cast<BlasThreads*>(context);
  for (const char* const prefix : {"scipy_openblas", "openblas"}) {
    for (const char* const suffix : {"64_", "_64_", ""}) {
      const std::string name(prefix);
      void* const read = dlsym(handle, (name + "_get_num_threads" + suffix).c_str());
      void* const set = dlsym(handle, (name + "_set_num_threads" + suffix).c_str());
      if (read == nullptr || set == nullptr) continue;
      threads.read = reinterpret_cast<int (*)()>(read);
      threads.set = reinterpret_cast<void (*)(int)>(set);
      return 1;
    }
  }
  return 0;
}
#endif

BlasThreads blas_threads() {
  BlasThreads threads;
#if defined(__linux__)
  dl_iterate_phdr(look_for_blas, &threads);
#endif
  return threads;
}

/// The loops for a dtype, looked for once.
struct Kind {
  char type;
  std::vector<std::byte> one;
  Arithmetic arithmetic;
};

const Arithmetic& arithmetic_of(const py::dtype& dtype) {
  static std::vector<std::unique_ptr<Kind>> kinds;  // the GIL is held
  const char type = dtype.char_();
  for (const auto& kind : kinds) {
    if (kind->type == type) return kind->arithmetic;
  }
  auto kind = std::make_unique<Kind>();
  kind->type = type;
  Arithmetic& how = kind->arithmetic;
  how.matmul = loop_of("matmul", type);
  how.multiply = loop_of("multiply", type);
  if (how.matmul.run == nullptr || how.multiply.run == nullptr) {
    raise_type("operands", "expected numbers, got " + py::str(dtype).cast<std::string>());
  }
  static const BlasThreads threads = blas_threads();
  how.threads = threads.read;
  how.set_threads = threads.set;
  how.size = dtype.itemsize();
  const py::array one = py::module_::import("numpy").attr("ones")(1, dtype);
  const auto* const data = data_of(one);
  kind->one.assign(data, data + how.size);
  how.one = kind->one.data();
  kinds.push_back(std::move(kind));
  return kinds.back()->arithmetic;
}

/// "ab,bc->ac;b;ac": the terms, the letter of sequences and the ragged ones, the static ones.
struct Equation {
  std::string_view a, b, out, ragged, static_letters;
  bool has_b = false;
};

Equation equation_of(std::string_view text) {
  Equation result;
  const std::size_t arrow = text.find("->");
  const std::size_t first = text.find(';');
  const std::size_t second = first == std::string_view::npos ? first : text.find(';', first + 1);
  if (arrow == std::string_view::npos || second == std::string_view::npos || arrow > first) {
    raise_value("equation", "expected \"ab,bc->ac;sequences and ragged;static\"");
  }
  const std::string_view operands = text.substr(0, arrow);
  const std::size_t comma = operands.find(',');
  result.has_b = comma != std::string_view::npos;
  result.a = operands.substr(0, comma);
  if (result.has_b) result.b = operands.substr(comma + 1);
  result.out = text.substr(arrow + 2, first - arrow - 2);
  result.ragged = text.substr(first + 1, second - first - 1);
  result.static_letters = text.substr(second + 1);
  for (const std::string_view term : {result.a, result.b, result.out, result.ragged, result.static_letters}) {
    for (std::size_t k = 0; k < term.size(); ++k) {
      if (term.find(term[k], k + 1) != std::string_view::npos) {
        raise_value("equation", std::string(1, term[k]) + " is twice in " + std::string(term));
      }
    }
  }
  return result;
}

py::array operand_of(PyObject* operand, const char* name, std::int64_t size) {
  py::array array = as_rows(operand, name);
  if (array.size() != size) {
    raise_value(name,
                "has " + std::to_string(array.size()) + " elements, the equation " + std::to_string(size));
  }
  return array;
}

constexpr Signature<6> kEinsum{"einsum", {"equation", "a", "b", "levels", "extents", "out"}, 5, 6};

py::object einsum(const Arguments<6>& args) {
  const auto [given_equation, given_a, given_b, given_levels, given_extents, given_out] = args;
  if (!PyUnicode_Check(given_equation)) raise_type("equation", "expected a str");
  Py_ssize_t length = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(given_equation, &length);
  if (text == nullptr) throw py::error_already_set();
  const Equation equation = equation_of({text, static_cast<std::size_t>(length)});
  if (equation.has_b != is_given(given_b)) raise_value("b", "expected as many operands as the equation has");

  const auto levels = py::reinterpret_borrow<py::sequence>(given_levels);
  const auto extents = py::reinterpret_borrow<py::sequence>(given_extents);
  if (!PySequence_Check(given_levels) || !PySequence_Check(given_extents)) {
    raise_type("levels, extents", "expected sequences");
  }
  const std::size_t ragged = equation.ragged.empty() ? 0 : equation.ragged.size() - 1;
  if (levels.size() != ragged || extents.size() != equation.static_letters.size()) {
    raise_value("levels, extents", "expected one for each letter");
  }
  std::vector<EinsumAxis> axes;
  std::vector<py::object> owners;
  for (std::size_t k = 0; k < ragged; ++k) {
    const py::object level = levels[k];
    LevelRef::expect(level, "levels");
    const Offsets view = LevelRef::unwrap(level).view();
    if (k == 0) axes.push_back({equation.ragged[0], view.count, {}, false});
    if (view.count != axes[0].extent) raise_value("levels", "expected as many sequences in each");
    axes.push_back({equation.ragged[k + 1], 0, view, true});
    owners.push_back(level);
  }
  for (std::size_t k = 0; k < equation.static_letters.size(); ++k) {
    const py::object extent = extents[k];
    const std::int64_t size = int_of(extent.ptr(), "extents");
    if (size < 0) raise_value("extents", "expected none below 0, got " + std::to_string(size));
    axes.push_back({equation.static_letters[k], size, {}, false});
  }
  const EinsumPlan plan(equation.a, equation.has_b ? &equation.b : nullptr, equation.out,
                        ragged == 0 ? '\0' : equation.ragged[0], axes);
  const py::array a = operand_of(given_a, "a", plan.size_of_a());
  const py::array b = equation.has_b ? operand_of(given_b, "b", plan.size_of_b()) : py::array();
  const py::dtype dtype = a.dtype();
  if (equation.has_b && !dtype.equal(b.dtype())) raise_type("b", "expected the dtype of a");
  if (dtype.byteorder() == '>') raise_type("a", "expected the byte order of this machine");
  const Arithmetic& arithmetic = arithmetic_of(dtype);

  // Letters from that of sequences to the last ragged one are one axis.
  Extents shape;
  std::size_t prefix = 0;
  for (std::size_t k = 0; k < equation.out.size(); ++k) {
    const std::size_t index = equation.ragged.find(equation.out[k]);
    if (index != std::string_view::npos && index > 0) prefix = k + 1;
  }
  std::vector<EinsumAxis> nested;
  for (std::size_t k = 0; k < equation.out.size(); ++k) {
    const auto axis = std::find_if(axes.begin(), axes.end(),
                                   [&](const EinsumAxis& x) { return x.letter == equation.out[k]; });
    if (k == prefix && prefix > 0) shape.push_back(nested_rows(nested, axes[0].extent));
    if (k >= prefix) {
      shape.push_back(axis->extent);
    } else if (k > 0) {
      nested.push_back(*axis);
    }
  }
  if (prefix > 0 && prefix == equation.out.size()) shape.push_back(nested_rows(nested, axes[0].extent));
  std::int64_t total_bytes = 0;
  padded_bytes("out", dtype, shape, -1, total_bytes);
  const bool has_out = is_given(given_out);
  py::array out =
      has_out ? checked_out("out", given_out, dtype, shape, {given_a, a, given_b, b}) : empty(dtype, shape);
  {
    const GilRelease gil_release(plan.work() + out.nbytes());
    plan.run(arithmetic, data_of(a), equation.has_b ? data_of(b) : nullptr, bytes(out));
  }
  return has_out ? py::reinterpret_borrow<py::object>(given_out) : py::object(out);
}

PyMethodDef einsum_methods[] = {
    method<kEinsum, einsum>("einsum(equation, a, b, levels, extents, out=None)\n--\n\n"
                            "The sum of products that an equation names, sequence by sequence."),
    {},
};

}  // namespace

void bind_einsum(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), einsum_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
