#include "descriptor.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

// The format's own limit.
constexpr std::int64_t kMaxHeader = 100'000'000;

// What one read at opening brings: most headers are smaller.
constexpr std::int64_t kFirstRead = 8192;

}  // namespace

std::string fs_path(py::handle path) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &bytes) == 0) throw py::error_already_set();
  return py::reinterpret_steal<py::bytes>(bytes);
}

void raise_io(Status status, const std::string& path) {
  if (status.code == Code::io_error) {
    errno = static_cast<int>(status.value);
    const py::str name(py::reinterpret_steal<py::object>(PyUnicode_DecodeFSDefault(path.c_str())));
    PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, name.ptr());
    throw py::error_already_set();
  }
  if (status.code == Code::not_regular) {
    if (status.value == 0) raise_file_error("FileFormatError", path, "not a regular file");
    raise_io({Code::io_error, -1, EISDIR}, path);
  }
  if (status.code == Code::overflow) raise_overflow("ends: the ranges do not fit 63 bits");
  if (status.code == Code::beyond_total) {
    raise_file_error("FileFormatError", path,
                     "range " + std::to_string(status.where) + " lies outside the data, it ends at " +
                         std::to_string(status.value));
  }
  raise_file_error("StaleFileError", path,
                   "ends at byte " + std::to_string(status.where) + ", " + std::to_string(status.value) +
                       " bytes before what its header says: it was cut short");
}

Descriptor::Descriptor(std::string path, const std::optional<Identity>& expect) : path_(std::move(path)) {
  Status status;
  {
    const py::gil_scoped_release release;
    status = open_file(path_.c_str(), fd_, id_);
  }
  if (!status.ok()) {
    fd_ = -1;
    raise_io(status, path_);
  }
  if (expect && *expect != identity_of(id_)) {
    const auto [size, mtime_ns, inode] = *expect;
    close();
    raise_file_error("StaleFileError", path_,
                     "is not the file that was opened: it had " + std::to_string(size) + " bytes (inode " +
                         std::to_string(inode) + ", mtime_ns " + std::to_string(mtime_ns) + "), now " +
                         std::to_string(id_.size) + " (inode " + std::to_string(id_.inode) + ", mtime_ns " +
                         std::to_string(id_.mtime_ns) + ")");
  }
}

int Descriptor::fd() const {
  if (fd_ < 0) raise_value(path_ + ": the reader is closed");
  return fd_;
}

void Descriptor::read(std::int64_t begin, std::int64_t size, char* out) const {
  Status status;
  {
    const py::gil_scoped_release release;
    status = read_bytes(fd_, begin, size, reinterpret_cast<std::byte*>(out));
  }
  if (!status.ok()) raise_io(status, path_);
}

std::shared_ptr<Header> read_header(const Descriptor& file) {
  char first[kFirstRead];
  const std::int64_t size = file.id().size;
  const auto refuse = [&](const std::string& text) {
    raise_file_error("FileFormatError", file.path(), text);
  };
  if (size < 8) refuse("has " + std::to_string(size) + " bytes, less than the 8 that every file begins with");
  const std::int64_t got = std::min(size, kFirstRead);
  file.read(0, got, first);
  std::uint64_t length = 0;
  std::memcpy(&length, first, 8);
  if (length > static_cast<std::uint64_t>(kMaxHeader)) {
    refuse("says its header has " + std::to_string(length) + " bytes, the format allows " +
           std::to_string(kMaxHeader));
  }
  const auto json = static_cast<std::int64_t>(length);
  if (json > size - 8) {
    refuse("says its header has " + std::to_string(json) + " bytes, but the file ends after " +
           std::to_string(size - 8) + " of them");
  }
  std::unique_ptr<char[]> text(new char[static_cast<std::size_t>(json)]);
  const std::int64_t here = std::min(json, got - 8);
  std::memcpy(text.get(), first + 8, static_cast<std::size_t>(here));
  if (here < json) file.read(8 + here, json - here, text.get() + here);
  return std::make_shared<Header>(std::move(text), json, size - 8 - json, file.path());
}

}  // namespace varlen::bindings
