// What the model throws where a kernel gives a Status: one exception that knows the argument, the row, the
// number and the file.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "varlen/status.hpp"

namespace varlen {

enum class Fault : std::uint8_t { value, type, index, key, overflow, memory, system, format };

/// What is wrong, and with which argument, if with one; the row and the number are in the reason, too.
struct Record {
  std::string argument;
  std::string reason;
  // NOLINTBEGIN(readability-redundant-member-init): without, the compiler warns of lists that leave them out
  std::optional<std::int64_t> row = {};
  std::optional<std::int64_t> number = {};
  std::string advice = {};  ///< what the caller can do
  std::string code = {};    ///< a word for what is wrong, where programs tell it from other things
  std::string file = {};    ///< the file that is at fault, or that holds the row
  // NOLINTEND(readability-redundant-member-init)

  [[nodiscard]] std::string text() const {
    std::string fault = argument.empty() ? reason : argument + ": " + reason;
    if (!file.empty()) fault = file + ": " + fault;
    return advice.empty() ? fault : fault + "; " + advice;
  }
};

class Error : public std::runtime_error {
 public:
  Error(Fault fault, Record record)
      : std::runtime_error(record.text()), fault_(fault), record_(std::move(record)) {}
  Error(Fault fault, std::string reason) : Error(fault, Record{{}, std::move(reason)}) {}
  Error(Fault fault, std::string_view argument, std::string reason)
      : Error(fault, Record{std::string(argument), std::move(reason)}) {}

  /// What is wrong with a file.
  [[nodiscard]] static Error in_file(Fault fault, std::string file, std::string reason) {
    return Error(fault, Record{.argument = {}, .reason = std::move(reason), .file = std::move(file)});
  }
  /// The same about a file, unless it knows one.
  [[nodiscard]] Error with_file(const std::string& file) const {
    Record record = record_;
    if (record.file.empty()) record.file = file;
    return Error(fault_, std::move(record));
  }

  [[nodiscard]] Fault fault() const noexcept { return fault_; }
  [[nodiscard]] const Record& record() const noexcept { return record_; }

 private:
  Fault fault_;
  Record record_;
};

/// What a Status that is not ok says about the argument.
[[nodiscard]] Record record_of(Status status, std::string_view argument);
[[nodiscard]] Fault fault_of(Code code) noexcept;
/// The same of what lies in a file, which is damaged where a value is wrong.
[[nodiscard]] Fault fault_of_file(Code code) noexcept;

/// Throws an Error for a Status that is not ok.
void throw_if(Status status, std::string_view argument);

}  // namespace varlen
