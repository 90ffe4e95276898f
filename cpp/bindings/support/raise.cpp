#include "raise.hpp"

#include "varlen/model/dim.hpp"

namespace varlen::bindings {

void raise_value(const std::string& text) {
  throw py::value_error(text);
}
void raise_type(const std::string& text) {
  throw py::type_error(text);
}
void raise_index(const std::string& text) {
  throw py::index_error(text);
}
void raise_overflow(const std::string& text) {
  PyErr_SetString(PyExc_OverflowError, text.c_str());
  throw py::error_already_set();
}

void raise_memory(const std::string& text) {
  PyErr_SetString(PyExc_MemoryError, text.c_str());
  throw py::error_already_set();
}

void raise_file_error(const char* kind, const std::string& path, const std::string& text) {
  const py::object error = py::module_::import("varlen.io.errors").attr(kind);
  const std::string full = path.empty() ? text : path + ": " + text;
  PyErr_SetObject(error.ptr(), py::str(full).ptr());
  throw py::error_already_set();
}

void raise_mismatch(const std::string& text) {
  PyErr_SetObject(py::module_::import("varlen.dims.errors").attr("LengthMismatchError").ptr(),
                  py::str(text).ptr());
  throw py::error_already_set();
}

void refuse_pickling(py::handle type) {
  const auto refuse = [](py::handle self, py::handle) -> py::object {
    raise_type("cannot pickle '" + type_name(self) + "' object");
  };
  type.attr("__reduce_ex__") = py::cpp_function(refuse, py::name("__reduce_ex__"), py::is_method(type));
}

std::string type_name(py::handle object) {
  return py::str(py::type::handle_of(object).attr("__name__"));
}

void raise_if(Status status, const char* argument) {
  throw_if(status, argument);
}

void set_error(const Error& error) noexcept {
  if (dynamic_cast<const LengthMismatch*>(&error) != nullptr) {
    try {
      raise_mismatch(error.what());
    } catch (py::error_already_set& raised) {
      raised.restore();
    }
    return;
  }
  PyObject* kind = PyExc_RuntimeError;
  switch (error.fault()) {
    case Fault::value:
      kind = PyExc_ValueError;
      break;
    case Fault::type:
      kind = PyExc_TypeError;
      break;
    case Fault::index:
      kind = PyExc_IndexError;
      break;
    case Fault::key:
      kind = PyExc_KeyError;
      break;
    case Fault::overflow:
      kind = PyExc_OverflowError;
      break;
    case Fault::memory:
      kind = PyExc_MemoryError;
      break;
    case Fault::system:
      kind = PyExc_OSError;
      break;
    case Fault::format:
      try {
        raise_file_error("FileFormatError", "", error.what());
      } catch (py::error_already_set& raised) {
        raised.restore();
      }
      return;
  }
  PyErr_SetString(kind, error.what());
}

}  // namespace varlen::bindings
