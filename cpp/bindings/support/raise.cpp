#include "raise.hpp"

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
  if (status.ok()) return;
  const std::string name = argument;
  const std::string row = std::to_string(status.where);
  const std::string value = std::to_string(status.value);
  switch (status.code) {
    case Code::ok:
      return;
    case Code::negative_length:
      raise_value(name + ": row " + row + " has a negative length, " + value);
    case Code::decreasing:
      raise_value(name + ": row " + row + " ends at " + value + ", before the row in front of it");
    case Code::first_not_zero:
      raise_value(name + ": offsets must start at 0, got " + value);
    case Code::empty_offsets:
      raise_value(name + ": offsets need at least one entry, the leading 0");
    case Code::beyond_total:
      raise_value(name + ": row " + row + " ends at " + value + ", past the last row there is");
    case Code::total_mismatch:
      raise_value(name + ": the lengths add up to " + value + ", which is not the number of rows");
    case Code::overflow:
      raise_overflow(name + ": the sizes up to row " + row + " do not fit 63 bits");
    case Code::index_out_of_range:
      raise_index(name + ": index " + value + " at position " + row + " is out of range");
    case Code::row_ids_unsorted:
      raise_value(name + ": row ids must not decrease, but position " + row + " holds " + value);
    case Code::row_ids_range:
      raise_value(name + ": position " + row + " holds row id " + value + ", which is not a sequence");
    case Code::too_long:
      raise_value(name + ": row " + row + " is longer than the width, " + value);
    case Code::increasing:
      raise_value(name + ": column " + row + " has length " + value + ", more than the column before it");
    case Code::miscounted:
      raise_value(name + ": position " + row + " has to be " + value);
    case Code::repeated:
      raise_value(name + ": position " + row + " holds " + value + ", as one before it does");
    case Code::not_prefix_mask:
      raise_value(name + ": row " + row + " of the mask has a gap");
    case Code::not_representable:
      raise_value(name + ": element " + row + " does not fit the dtype that was asked for");
    case Code::bad_header:
    case Code::bad_layout:
    case Code::io_error:
    case Code::not_regular:
    case Code::short_read:
    case Code::no_room:
      break;  // the bindings of files have their own words for these
  }
  raise_value(name + ": bad input at row " + row);
}

}  // namespace varlen::bindings
