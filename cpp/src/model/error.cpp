#include "varlen/model/error.hpp"

#include <iterator>

#include "varlen/bits.hpp"

namespace varlen {

Fault fault_of(Code code) noexcept {
  switch (code) {
    case Code::overflow:
      return Fault::overflow;
    case Code::index_out_of_range:
      return Fault::index;
    case Code::io_error:
      return Fault::system;
    default:
      return Fault::value;
  }
}

Fault fault_of_file(Code code) noexcept {
  const Fault fault = fault_of(code);
  return fault == Fault::value ? Fault::format : fault;
}

namespace {

constexpr const char* kCodes[] = {"ok",
                                  "negative_length",
                                  "decreasing",
                                  "first_not_zero",
                                  "empty_offsets",
                                  "beyond_total",
                                  "total_mismatch",
                                  "overflow",
                                  "index_out_of_range",
                                  "row_ids_unsorted",
                                  "row_ids_range",
                                  "too_long",
                                  "increasing",
                                  "miscounted",
                                  "repeated",
                                  "not_prefix_mask",
                                  "not_representable",
                                  "bad_header",
                                  "bad_layout",
                                  "io_error",
                                  "not_regular",
                                  "short_read",
                                  "bad_block",
                                  "no_room"};
static_assert(std::size(kCodes) == static_cast<std::size_t>(Code::no_room) + 1);

std::string reason_of(Status status) {
  const std::string row = std::to_string(status.where);
  const std::string value = std::to_string(status.value);
  switch (status.code) {
    case Code::ok:
      return "no error";
    case Code::negative_length:
      return "row " + row + " has a negative length, " + value;
    case Code::decreasing:
      return "row " + row + " ends at " + value + ", before the row in front of it";
    case Code::first_not_zero:
      return "offsets must start at 0, got " + value;
    case Code::empty_offsets:
      return "offsets need at least one entry, the leading 0";
    case Code::beyond_total:
      return "row " + row + " ends at " + value + ", past the last row there is";
    case Code::total_mismatch:
      return "the lengths add up to " + value + ", which is not the number of rows";
    case Code::overflow:
      return "the sizes up to row " + row + " do not fit 63 bits";
    case Code::index_out_of_range:
      return "index " + value + " at position " + row + " is out of range";
    case Code::row_ids_unsorted:
      return "row ids must not decrease, but position " + row + " holds " + value;
    case Code::row_ids_range:
      return "position " + row + " holds row id " + value + ", which is not a sequence";
    case Code::too_long:
      return "row " + row + " is longer than the width, " + value;
    case Code::increasing:
      return "column " + row + " has length " + value + ", more than the column before it";
    case Code::count_mismatch:
      return "position " + row + " has to be " + value;
    case Code::repeated:
      return "position " + row + " holds " + value + ", as one before it does";
    case Code::not_prefix_mask:
      return "row " + row + " of the mask has a gap";
    case Code::not_representable:
      return "element " + row + " does not fit the dtype that was asked for";
    case Code::bad_block:
      return "block " + row + " " + fault_text(static_cast<BlockFault>(status.value));
    case Code::bad_header:
    case Code::bad_layout:
    case Code::io_error:
    case Code::not_regular:
    case Code::short_read:
    case Code::no_room:
      break;  // files have their own words for these
  }
  return "bad input at row " + row;
}

}  // namespace

Record record_of(Status status, std::string_view argument) {
  return {std::string(argument),
          reason_of(status),
          status.where,
          status.value,
          {},
          kCodes[static_cast<std::size_t>(status.code)]};
}

void throw_if(Status status, std::string_view argument) {
  if (!status.ok()) throw Error(fault_of(status.code), record_of(status, argument));
}

}  // namespace varlen
