// What the model throws where a kernel gives a Status: one exception whose text names the argument, the row
// and the number.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "varlen/status.hpp"

namespace varlen {

enum class Fault : std::uint8_t { value, type, index, key, overflow, memory, system, format };

class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& text) : std::runtime_error(text), fault_(fault) {}

  [[nodiscard]] Fault fault() const noexcept { return fault_; }

 private:
  Fault fault_;
};

/// What a Status that is not ok says about the argument.
[[nodiscard]] std::string status_text(Status status, std::string_view argument);
[[nodiscard]] Fault fault_of(Code code) noexcept;

/// Throws an Error for a Status that is not ok.
void throw_if(Status status, std::string_view argument);

}  // namespace varlen
