// From a kernel's Status to a Python exception. It has the reason, and the file, argument, advice, code, row
// and number where there are some, as attributes of these names; its text is made of them here alone.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
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

/// Raises one kind of exception, for a record or for what makes one.
class Raiser {
 public:
  constexpr explicit Raiser(PyObject** kind) : kind_(kind) {}
  [[noreturn]] void operator()(const Record& record) const { raise(*kind_, record); }
  [[noreturn]] void operator()(std::string_view argument, std::string reason) const {
    raise(*kind_, Record{std::string(argument), std::move(reason)});
  }
  /// The row and the number stand in the reason, too.
  [[noreturn]] void operator()(std::string_view argument, std::string reason, std::optional<std::int64_t> row,
                               std::optional<std::int64_t> number) const {
    raise(*kind_, Record{std::string(argument), std::move(reason), row, number});
  }
  [[noreturn]] void operator()(std::string reason) const { raise(*kind_, Record{{}, std::move(reason)}); }

 private:
  PyObject** kind_;
};

inline const Raiser raise_value{&PyExc_ValueError};
inline const Raiser raise_type{&PyExc_TypeError};
inline const Raiser raise_index{&PyExc_IndexError};
inline const Raiser raise_overflow{&PyExc_OverflowError};
inline const Raiser raise_memory{&PyExc_MemoryError};

/// The number, which is refused below the minimum.
std::int64_t at_least(std::int64_t minimum, std::int64_t number, const char* argument);

/// FileFormatError and StaleFileError about a file.
[[noreturn]] void raise_format(const std::string& path, const std::string& text);
[[noreturn]] void raise_stale(const std::string& path, const std::string& text);

/// Makes pickling and copying objects of a pybind11 class a TypeError, whatever the protocol: protocols 0 and
/// 1 would call the base of all such classes, which ends the process.
void refuse_pickling(py::handle type);

/// "int32", "float64[3]", ...: how a dtype or a type is called in an error.
std::string type_name(py::handle object);

}  // namespace varlen::bindings
