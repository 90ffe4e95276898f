#include "raise.hpp"

#include "hooks.hpp"
#include "varlen/model/dim.hpp"

namespace varlen::bindings {
namespace {

py::object kind_of(const Error& error) {
  if (dynamic_cast<const LengthMismatch*>(&error) != nullptr) {
    return py::reinterpret_borrow<py::object>(hooks().length_mismatch_error.get());
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
      return py::reinterpret_borrow<py::object>(hooks().file_format_error.get());
  }
  return py::reinterpret_borrow<py::object>(kind);
}

}  // namespace

void raise(py::handle kind, const Record& record) {
  const py::object error = kind(record.text());
  error.attr("reason") = record.reason;
  if (!record.argument.empty()) error.attr("argument") = record.argument;
  if (!record.advice.empty()) error.attr("advice") = record.advice;
  if (!record.file.empty()) error.attr("file") = record.file;
  if (!record.code.empty()) error.attr("code") = record.code;
  if (record.row) error.attr("row") = *record.row;
  if (record.number) error.attr("number") = *record.number;
  PyErr_SetObject(kind.ptr(), error.ptr());
  throw py::error_already_set();
}

std::int64_t at_least(std::int64_t minimum, std::int64_t number, const char* argument) {
  if (number >= minimum) return number;
  raise_value(argument, "expected at least " + std::to_string(minimum) + ", got " + std::to_string(number),
              std::nullopt, number);
}

void raise_format(const std::string& path, const std::string& text) {
  raise(hooks().file_format_error.get(), Record{.argument = {}, .reason = text, .file = path});
}

void raise_stale(const std::string& path, const std::string& text) {
  raise(hooks().stale_file_error.get(), Record{.argument = {}, .reason = text, .file = path});
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
  try {
    raise(kind_of(error), error.record());
  } catch (py::error_already_set& python_error) {
    python_error.restore();
  }
}

}  // namespace varlen::bindings
