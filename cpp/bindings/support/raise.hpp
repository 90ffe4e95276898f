// From a kernel's Status to a Python exception. Where an argument is at fault the exception has it, the
// reason, and the advice, code, row and number where there are some, as attributes of these names; its text
// is made of them here alone.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>
#include <utility>

#include "varlen/model/error.hpp"
#include "varlen/status.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// Raises for a Status that is not ok; `argument` names what the caller gave.
void raise_if(Status status, const char* argument);

/// The Python error for what the model throws.
void set_error(const Error& error) noexcept;

[[noreturn]] void raise(py::handle kind, const Record& record);

[[noreturn]] void raise_value(const Record& record);
[[noreturn]] inline void raise_value(std::string_view argument, std::string reason) {
  raise_value(Record{std::string(argument), std::move(reason)});
}
[[noreturn]] inline void raise_value(std::string reason) {
  raise_value(Record{{}, std::move(reason)});
}

[[noreturn]] void raise_type(const Record& record);
[[noreturn]] inline void raise_type(std::string_view argument, std::string reason) {
  raise_type(Record{std::string(argument), std::move(reason)});
}
[[noreturn]] inline void raise_type(std::string reason) {
  raise_type(Record{{}, std::move(reason)});
}

[[noreturn]] void raise_index(const Record& record);
[[noreturn]] inline void raise_index(std::string_view argument, std::string reason) {
  raise_index(Record{std::string(argument), std::move(reason)});
}
[[noreturn]] inline void raise_index(std::string reason) {
  raise_index(Record{{}, std::move(reason)});
}

[[noreturn]] void raise_overflow(const Record& record);
[[noreturn]] inline void raise_overflow(std::string_view argument, std::string reason) {
  raise_overflow(Record{std::string(argument), std::move(reason)});
}
[[noreturn]] inline void raise_overflow(std::string reason) {
  raise_overflow(Record{{}, std::move(reason)});
}

[[noreturn]] void raise_memory(const Record& record);
[[noreturn]] inline void raise_memory(std::string_view argument, std::string reason) {
  raise_memory(Record{std::string(argument), std::move(reason)});
}
[[noreturn]] inline void raise_memory(std::string reason) {
  raise_memory(Record{{}, std::move(reason)});
}

/// FileFormatError and StaleFileError, the file named in front where there is one.
[[noreturn]] void raise_format(const std::string& path, const std::string& text);
[[noreturn]] void raise_stale(const std::string& path, const std::string& text);

/// Makes pickling and copying objects of a pybind11 class a TypeError, whatever the protocol: protocols 0 and
/// 1 would call the base of all such classes, which ends the process.
void refuse_pickling(py::handle type);

/// "int32", "float64[3]", ...: how a dtype or a type is called in an error.
std::string type_name(py::handle object);

}  // namespace varlen::bindings
