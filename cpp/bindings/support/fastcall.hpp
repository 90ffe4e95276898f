// Functions for hot calls: METH_FASTCALL with keywords, about 40 ns a call where a pybind11 function with
// keywords takes 200 to 400. The bodies still throw what pybind11 bodies throw.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <new>
#include <string>

#include "raise.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// The same object, or the DeviceArray that an array of ours is in here; those in a tuple as well.
[[nodiscard]] py::object export_result(py::object result);

/// The arguments of one call in the order of the signature, borrowed; nullptr where one was left out.
template <std::size_t N>
using Arguments = std::array<PyObject*, N>;

/// What a function is called and what its arguments are. The first `required_count` must be given, those from
/// `positional` on by keyword only. Made once, lives for ever.
template <std::size_t N>
struct Signature {
  const char* function;
  std::array<const char*, N> names;
  std::size_t required_count = N;
  std::size_t positional = N;

  /// The names as Python keeps those of keywords: looked up once.
  using InternedNames = std::array<PyObject*, N>;

  [[nodiscard]] InternedNames intern() const {
    InternedNames result{};
    for (std::size_t i = 0; i < N; ++i) result[i] = PyUnicode_InternFromString(names[i]);
    return result;
  }

  Arguments<N> parse(PyObject* const* values, Py_ssize_t count, PyObject* keywords,
                     const InternedNames& interned_names) const {
    Arguments<N> out{};
    if (count > static_cast<Py_ssize_t>(positional)) {
      throw py::type_error(std::string(function) + "() takes at most " + std::to_string(positional) +
                           " positional arguments but " + std::to_string(count) + " were given");
    }
    for (Py_ssize_t i = 0; i < count; ++i) out[static_cast<std::size_t>(i)] = values[i];
    const Py_ssize_t keyword_count = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t k = 0; k < keyword_count; ++k) {
      const std::size_t i = find(PyTuple_GET_ITEM(keywords, k), interned_names);
      if (out[i] != nullptr) {
        throw py::type_error(std::string(function) + "() got multiple values for argument '" + names[i] +
                             "'");
      }
      out[i] = values[count + k];
    }
    for (std::size_t i = 0; i < required_count; ++i) {
      if (out[i] == nullptr) {
        throw py::type_error(std::string(function) + "() missing required argument '" + names[i] + "'");
      }
    }
    return out;
  }

 private:
  std::size_t find(PyObject* keyword, const InternedNames& interned_names) const {
    for (std::size_t i = 0; i < N; ++i) {
      if (keyword == interned_names[i]) return i;
    }
    for (std::size_t i = 0; i < N; ++i) {
      if (PyUnicode_CompareWithASCIIString(keyword, names[i]) == 0) return i;
    }
    throw py::type_error(std::string(function) + "() got an unexpected keyword argument '" +
                         py::str(keyword).cast<std::string>() + "'");
  }
};

/// Runs a body and turns what it throws into the Python error that is set.
template <class Body>
PyObject* guard(Body&& body) noexcept {
  try {
    return body();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const Error& error) {
    set_error(error);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

/// The C function for a signature and a body `py::object body(const Arguments<N>&)`.
template <const auto& signature, auto body>
PyObject* fastcall(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* keywords) noexcept {
  return guard([&] {
    static const auto interned_names = signature.intern();
    return export_result(body(signature.parse(values, count, keywords, interned_names))).release().ptr();
  });
}

/// One entry of a method table, for PyModule_AddFunctions or, with METH_STATIC, for a type.
template <const auto& signature, auto body>
PyMethodDef method(const char* doc, int flags = 0) {
  return {signature.function,
          reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&fastcall<signature, body>)),
          METH_FASTCALL | METH_KEYWORDS | flags, doc};
}

/// The same with the object that it is called on: `py::object body(PyObject* self, const Arguments<N>&)`.
template <const auto& signature, auto body>
PyObject* fastcall_on(PyObject* self, PyObject* const* values, Py_ssize_t count,
                      PyObject* keywords) noexcept {
  return guard([&] {
    static const auto interned_names = signature.intern();
    return export_result(body(self, signature.parse(values, count, keywords, interned_names)))
        .release()
        .ptr();
  });
}

/// One entry of a type's table of methods.
template <const auto& signature, auto body>
PyMethodDef method_on(const char* doc) {
  return {signature.function,
          reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&fastcall_on<signature, body>)),
          METH_FASTCALL | METH_KEYWORDS, doc};
}

inline bool is_given(PyObject* argument) {
  return argument != nullptr && argument != Py_None;
}

/// What was given, or None where it was left out.
inline py::handle or_none(PyObject* argument) {
  return argument == nullptr ? py::handle(Py_None) : py::handle(argument);
}

/// An int, or what stands for one, such as NumPy's; bools of neither kind.
bool is_integer(PyObject* object);

/// A C integer; an error names the argument.
std::int64_t int_of(PyObject* object, const char* argument);

/// An integer for a place in a sequence, where a number beyond 64 bits is an IndexError.
std::int64_t place_of(PyObject* object, const char* argument);

/// A C double, of what Python sees as one number; an error names the argument.
double number_of(PyObject* object, const char* argument);

/// ValueError for a tensor that requires a gradient, of which the memory alone would be read.
void refuse_gradient(py::handle object, const char* argument);

/// True or False, as Python sees the object; an error names the argument.
bool truth_of(PyObject* object, const char* argument);

}  // namespace varlen::bindings
