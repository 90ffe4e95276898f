// A file descriptor with an owner, and the header that is behind it.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "varlen/file.hpp"
#include "varlen/model/file.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// (size, mtime_ns, inode): what a file is known by when it is opened again.
using Identity = std::tuple<std::int64_t, std::int64_t, std::uint64_t>;

inline Identity identity_of(const FileId& id) {
  return {id.size, id.mtime_ns, id.inode};
}

/// A path of any kind that Python takes, as the bytes that the system takes.
std::string fs_path(py::handle path);

/// OSError for what the system said, FileFormatError or StaleFileError for the rest.
[[noreturn]] void raise_io(Status status, const std::string& path);

/// Opened with the GIL released; refuses a file whose identity is not the expected one; closes itself.
class Descriptor {
 public:
  Descriptor(std::string path, const std::optional<Identity>& expect);
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  void close() noexcept {
    if (fd_ >= 0) close_file(std::exchange(fd_, -1));
  }

  [[nodiscard]] int fd() const;
  [[nodiscard]] const FileId& id() const noexcept { return id_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  void read(std::int64_t begin, std::int64_t size, char* out) const;

 private:
  std::string path_;
  int fd_ = -1;
  FileId id_;
};

/// Reads and checks the header: one read where it is small.
std::shared_ptr<FileHeader> read_header(const Descriptor& file);

}  // namespace varlen::bindings
