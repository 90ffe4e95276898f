#include "varlen/model/error.hpp"

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

std::string status_text(Status status, std::string_view argument) {
  const std::string name(argument);
  const std::string row = std::to_string(status.where);
  const std::string value = std::to_string(status.value);
  switch (status.code) {
    case Code::ok:
      return name + ": no error";
    case Code::negative_length:
      return name + ": row " + row + " has a negative length, " + value;
    case Code::decreasing:
      return name + ": row " + row + " ends at " + value + ", before the row in front of it";
    case Code::first_not_zero:
      return name + ": offsets must start at 0, got " + value;
    case Code::empty_offsets:
      return name + ": offsets need at least one entry, the leading 0";
    case Code::beyond_total:
      return name + ": row " + row + " ends at " + value + ", past the last row there is";
    case Code::total_mismatch:
      return name + ": the lengths add up to " + value + ", which is not the number of rows";
    case Code::overflow:
      return name + ": the sizes up to row " + row + " do not fit 63 bits";
    case Code::index_out_of_range:
      return name + ": index " + value + " at position " + row + " is out of range";
    case Code::row_ids_unsorted:
      return name + ": row ids must not decrease, but position " + row + " holds " + value;
    case Code::row_ids_range:
      return name + ": position " + row + " holds row id " + value + ", which is not a sequence";
    case Code::too_long:
      return name + ": row " + row + " is longer than the width, " + value;
    case Code::increasing:
      return name + ": column " + row + " has length " + value + ", more than the column before it";
    case Code::miscounted:
      return name + ": position " + row + " has to be " + value;
    case Code::repeated:
      return name + ": position " + row + " holds " + value + ", as one before it does";
    case Code::not_prefix_mask:
      return name + ": row " + row + " of the mask has a gap";
    case Code::not_representable:
      return name + ": element " + row + " does not fit the dtype that was asked for";
    case Code::bad_header:
    case Code::bad_layout:
    case Code::io_error:
    case Code::not_regular:
    case Code::short_read:
    case Code::no_room:
      break;  // files have their own words for these
  }
  return name + ": bad input at row " + row;
}

void throw_if(Status status, std::string_view argument) {
  if (!status.ok()) throw Error(fault_of(status.code), status_text(status, argument));
}

}  // namespace varlen
