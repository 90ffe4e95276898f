// From a kernel's Status to a Python exception whose text names the argument, the row and the number.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "varlen/model/error.hpp"
#include "varlen/status.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// Raises for a Status that is not ok; `argument` names what the caller gave.
void raise_if(Status status, const char* argument);

/// The Python error for what the model throws.
void set_error(const Error& error) noexcept;

[[noreturn]] void raise_value(const std::string& text);
[[noreturn]] void raise_type(const std::string& text);
[[noreturn]] void raise_index(const std::string& text);
[[noreturn]] void raise_overflow(const std::string& text);
[[noreturn]] void raise_memory(const std::string& text);

/// varlen.io.FileFormatError, varlen.io.StaleFileError: raised with the text, the file named in front where
/// there is one.
[[noreturn]] void raise_file_error(const char* kind, const std::string& path, const std::string& text);

/// varlen.dims.LengthMismatchError.
[[noreturn]] void raise_mismatch(const std::string& text);

/// Makes pickling and copying objects of a pybind11 class a TypeError, whatever the protocol: protocols 0 and
/// 1 would call the base of all such classes, which ends the process.
void refuse_pickling(py::handle type);

/// "int32", "float64[3]", ...: how a dtype or a type is called in an error.
std::string type_name(py::handle object);

}  // namespace varlen::bindings
