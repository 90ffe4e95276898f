#include "descriptor.hpp"

#include <cerrno>

#include "support/raise.hpp"

namespace varlen::bindings {

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
    if (status.value == 0) raise_format(path, "not a regular file");
    raise_io({Code::io_error, -1, EISDIR}, path);
  }
  if (status.code == Code::overflow) raise_overflow("ends", "the ranges do not fit 63 bits");
  if (status.code == Code::beyond_total) {
    raise_format(path, "range " + std::to_string(status.where) + " lies outside the data, it ends at " +
                           std::to_string(status.value));
  }
  raise_stale(path, "ends at byte " + std::to_string(status.where) + ", " + std::to_string(status.value) +
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
    raise_stale(path_, "is not the file that was opened: it had " + std::to_string(size) + " bytes (inode " +
                           std::to_string(inode) + ", mtime_ns " + std::to_string(mtime_ns) + "), now " +
                           std::to_string(id_.size) + " (inode " + std::to_string(id_.inode) + ", mtime_ns " +
                           std::to_string(id_.mtime_ns) + ")");
  }
}

int Descriptor::fd() const {
  if (fd_ < 0) raise_value(Record{.argument = {}, .reason = "the reader is closed", .file = path_});
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

std::shared_ptr<FileHeader> read_header(const Descriptor& file) {
  return FileHeader::read(file.id().size, file.path(), [&](std::int64_t begin, std::int64_t size, char* out) {
    file.read(begin, size, out);
  });
}

}  // namespace varlen::bindings
