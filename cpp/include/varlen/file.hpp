// Reading a regular file: opened once, identified, mapped or read by ranges. POSIX; nothing here knows what
// is in it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/status.hpp"

namespace varlen {

/// What tells one state of a file from another.
struct FileId {
  std::int64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
};

/// Opens for reading and never waits, whatever the path is. The caller closes fd. A system error is
/// Code::io_error with errno in `value`; what is not a regular file is Code::not_regular, and fd is closed.
Status open_file(const char* path, int& fd, FileId& id) noexcept;

/// Whether `path` leads to the file that was `id`, with another size or time. One look; not so where it leads
/// nowhere or to another file, which leaves the old one whole for those who have mapped it.
bool changed_in_place(const char* path, const FileId& id) noexcept;

void close_file(int fd) noexcept;

/// Bytes [begin, begin + size) of the file. Code::short_read where the file ends before: `where` = the first
/// missing byte.
Status read_bytes(int fd, std::int64_t begin, std::int64_t size, std::byte* out) noexcept;

/// The sum of the ranges' sizes. Code::beyond_total where a range is backwards, below 0 or past limit:
/// `where` = the range; Code::overflow where the sum does not fit.
Status sum_ranges(std::int64_t limit, const std::int64_t* begins, const std::int64_t* ends,
                  std::int64_t count, std::int64_t& sum) noexcept;

/// Ranges [base + begins[i], base + ends[i]) one after the other into `out`; ranges that touch are read in
/// one go. The ranges are those that sum_ranges accepted.
Status read_ranges(int fd, std::int64_t base, const std::int64_t* begins, const std::int64_t* ends,
                   std::int64_t count, std::byte* out) noexcept;

/// Maps size > 0 bytes, private and read-only. The map outlives the descriptor.
Status map_file(int fd, std::int64_t size, const std::byte*& data) noexcept;

/// Maps size > 0 bytes that processes share, to read and to write. The map outlives the descriptor.
Status map_shared(int fd, std::int64_t size, std::byte*& data) noexcept;

void unmap_file(const std::byte* data, std::int64_t size) noexcept;

/// Asks for the pages under the ranges to be read ahead; merges ranges with small gaps. Best effort.
void will_need(const std::byte* data, std::int64_t size, const std::int64_t* begins, const std::int64_t* ends,
               std::int64_t count) noexcept;

}  // namespace varlen
