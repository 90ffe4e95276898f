// What a kernel says when it is done. Kernels never throw and never allocate.
#pragma once

#include <cstdint>

namespace varlen {

enum class Code : std::uint8_t {
  ok,
  negative_length,     ///< a length is below zero: where = row, value = the length
  decreasing,          ///< an offset is below the one before it: where = row, value = the offset
  first_not_zero,      ///< offsets do not start at 0: value = what they start at
  empty_offsets,       ///< offsets need at least one entry
  beyond_total,        ///< an end lies past the rows that there are: where = row, value = the end
  total_mismatch,      ///< lengths add up to something else than the rows: value = their sum
  overflow,            ///< a size does not fit 63 bits: where = row
  index_out_of_range,  ///< where = position in the index, value = the index
  row_ids_unsorted,    ///< where = position, value = the row id
  row_ids_range,       ///< where = position, value = the row id
  too_long,            ///< a row does not fit the width that was given: where = row, value = its length
  increasing,          ///< a length is above the one before it: where = column, value = the length
  count_mismatch,      ///< a count is not what it has to be: where = place, value = what it has to be
  repeated,            ///< an index is there twice: where = the second position, value = the index
  not_prefix_mask,     ///< a mask row has a hole: where = row
  not_representable,   ///< an element does not fit another dtype: where = element
  bad_header,          ///< a file header is refused: where = its byte, value = a HeaderFault
  bad_layout,          ///< a file's tensors do not nest: where = the entry, value = a LayoutFault
  io_error,            ///< the system refused: where = byte of the file or -1, value = errno
  not_regular,         ///< a path is not a regular file: value = 1 for a folder
  short_read,          ///< a file ended early: where = the first missing byte, value = how many are missing
  bad_block,           ///< a block of bits is refused: where = the block, value = a BlockFault
  no_room,             ///< a table that the caller gave is too small
};

struct [[nodiscard]] Status {
  Code code = Code::ok;
  std::int64_t where = -1;
  std::int64_t value = 0;

  [[nodiscard]] constexpr bool ok() const noexcept { return code == Code::ok; }
};

}  // namespace varlen
