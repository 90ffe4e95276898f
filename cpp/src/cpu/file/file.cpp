#include "varlen/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "varlen/support/overflow.hpp"

namespace varlen {
namespace {

Status io_error(std::int64_t where) noexcept {
  return {Code::io_error, where, errno};
}

FileId id_of(const struct stat& info) noexcept {
#ifdef __APPLE__
  const timespec& time = info.st_mtimespec;
#else
  const timespec& time = info.st_mtim;
#endif
  return {.size = static_cast<std::int64_t>(info.st_size),
          .mtime_ns = static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 +
                      static_cast<std::int64_t>(time.tv_nsec),
          .inode = static_cast<std::uint64_t>(info.st_ino),
          .device = static_cast<std::uint64_t>(info.st_dev)};
}

// Below this a gap is cheaper to read than to step over.
constexpr std::int64_t kGap = std::int64_t{16} << 10;

}  // namespace

Status open_file(const char* path, int& fd, FileId& id) noexcept {
  do {
    fd = ::open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return io_error(-1);
  struct stat info {};
  if (::fstat(fd, &info) != 0) {
    const Status failure = io_error(-1);
    close_file(fd);
    return failure;
  }
  if (!S_ISREG(info.st_mode)) {
    close_file(fd);
    return {Code::not_regular, -1, S_ISDIR(info.st_mode) ? 1 : 0};
  }
  id = id_of(info);
  return {};
}

bool changed_in_place(const char* path, const FileId& id) noexcept {
  struct stat info {};
  if (::stat(path, &info) != 0) return false;
  const FileId now = id_of(info);
  return now.inode == id.inode && (now.size != id.size || now.mtime_ns != id.mtime_ns);
}

void close_file(int fd) noexcept {
  ::close(fd);
}

Status read_bytes(int fd, std::int64_t begin, std::int64_t size, std::byte* out) noexcept {
  while (size > 0) {
    const ::ssize_t got = ::pread(fd, out, static_cast<std::size_t>(size), static_cast<::off_t>(begin));
    if (got < 0) {
      if (errno == EINTR) continue;
      return io_error(begin);
    }
    if (got == 0) return {Code::short_read, begin, size};
    begin += got;
    size -= got;
    out += got;
  }
  return {};
}

Status sum_ranges(std::int64_t limit, const std::int64_t* begins, const std::int64_t* ends,
                  std::int64_t count, std::int64_t& sum) noexcept {
  sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (begins[i] < 0 || ends[i] < begins[i] || ends[i] > limit) return {Code::beyond_total, i, ends[i]};
    if (!checked_add(sum, ends[i] - begins[i], sum)) return {Code::overflow, i, sum};
  }
  return {};
}

Status read_ranges(int fd, std::int64_t base, const std::int64_t* begins, const std::int64_t* ends,
                   std::int64_t count, std::byte* out) noexcept {
  for (std::int64_t i = 0; i < count;) {
    std::int64_t last = i;
    while (last + 1 < count && begins[last + 1] == ends[last]) ++last;
    const std::int64_t size = ends[last] - begins[i];
    if (const Status s = read_bytes(fd, base + begins[i], size, out); !s.ok()) return s;
    out += size;
    i = last + 1;
  }
  return {};
}

Status map_file(int fd, std::int64_t size, const std::byte*& data) noexcept {
  void* address = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) return io_error(-1);
  data = static_cast<const std::byte*>(address);
  return {};
}

Status map_shared(int fd, std::int64_t size, std::byte*& data) noexcept {
  void* address = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) return io_error(-1);
  data = static_cast<std::byte*>(address);
  return {};
}

void unmap_file(const std::byte* data, std::int64_t size) noexcept {
  ::munmap(const_cast<std::byte*>(data), static_cast<std::size_t>(size));
}

void will_need(const std::byte* data, std::int64_t size, const std::int64_t* begins, const std::int64_t* ends,
               std::int64_t count) noexcept {
  static const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  for (std::int64_t i = 0; i < count;) {
    std::int64_t last = i;
    std::int64_t end = ends[i];
    while (last + 1 < count && begins[last + 1] >= begins[i] && begins[last + 1] - end <= kGap) {
      end = std::max(end, ends[++last]);
    }
    const std::int64_t begin = std::clamp<std::int64_t>(begins[i], 0, size) / page * page;
    end = std::clamp<std::int64_t>(end, begin, size);
    if (end > begin) {
      ::madvise(const_cast<std::byte*>(data) + begin, static_cast<std::size_t>(end - begin), MADV_WILLNEED);
    }
    i = last + 1;
  }
}

}  // namespace varlen
