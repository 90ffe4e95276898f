#include "varlen/file.hpp"

#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "descriptor.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/keep.hpp"
#include "support/raise.hpp"
#include "varlen/bits.hpp"

namespace varlen::bindings {

namespace {

// A file opened and checked; its data is mapped where that was asked for. The descriptor is closed at once.
class MappedFile {
 public:
  // recall(identity) gives the header of a file in that state, or None: it was checked when it was read.
  MappedFile(py::handle path, const std::optional<Identity>& expect, bool map, bool nested,
             const py::object& recall) {
    const Descriptor file(fs_path(path), expect);
    path_ = file.path();
    id_ = file.id();
    if (!recall.is_none()) {
      const py::object cached_header = recall(identity());
      if (!cached_header.is_none()) header_ = cached_header.cast<std::shared_ptr<FileHeader>>();
    }
    if (header_ == nullptr) {
      header_ = read_header(file);
      if (nested && !has_bits()) check_ends(file);
    } else if (header_->data_start() + header_->data_size() != id_.size) {
      raise_value("recall", "gave the header of another file");
    }
    if (map) {
      const Status status = map_file(file.fd(), id_.size, data_);
      if (!status.ok()) raise_io(status, file.path());
    }
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (data_ != nullptr) unmap_file(data_, id_.size);
  }

  [[nodiscard]] const std::shared_ptr<FileHeader>& header() const { return header_; }
  [[nodiscard]] Identity identity() const { return identity_of(id_); }

  [[nodiscard]] bool has_changed() const {
    const py::gil_scoped_release release;
    return changed_in_place(path_.c_str(), id_);
  }

  [[nodiscard]] py::array view(std::int64_t entry, const py::dtype& dtype, py::handle self) const {
    const HeaderEntry& e = header_->entry(entry);
    if (data_ == nullptr) raise_value("view", "the file is not mapped");
    if (dtype.itemsize() != kTags[static_cast<std::size_t>(e.tag)].bytes ||
        dtype.attr("hasobject").cast<bool>()) {
      raise_value("dtype", py::str(dtype).cast<std::string>() + " is not as wide as the file's " +
                               std::string(kTags[static_cast<std::size_t>(e.tag)].name));
    }
    const std::int64_t* dims = header_->shape(e);
    return frozen(py::array(dtype, std::vector<py::ssize_t>(dims, dims + e.rank), {},
                            data_ + header_->data_start() + e.begin, self));
  }

  void need(py::handle begins, py::handle ends) const {
    const Ints from = as_ints(begins, "begins");
    const Ints to = as_ints(ends, "ends");
    if (from.count != to.count) raise_value("ends", "as many as begins are needed");
    if (data_ == nullptr) return;
    const py::gil_scoped_release release;
    will_need(data_ + header_->data_start(), header_->data_size(), from.data, to.data, from.count);
  }

 private:
  // Whether the tensors are blocks of bits, whose levels are checked when they are decoded.
  [[nodiscard]] bool has_bits() const {
    for (std::int64_t i = 0; i < header_->pair_count(); ++i) {
      const HeaderPair& pair = header_->pair(i);
      if (pair.key == "format" && pair.value == kBitsFormat) return true;
    }
    return false;
  }

  // The last end of each level says how many rows lie under it: one short read a level.
  void check_ends(const Descriptor& file) const {
    const Layout& layout = header_->layout();
    for (int level = 1; level <= layout.depth; ++level) {
      if (layout.bounds[level] < 0) continue;
      const HeaderEntry& e = header_->entry(layout.bounds[level]);
      const std::int64_t want = layout.rows[level];
      std::int64_t last = 0;
      if (e.end > e.begin && e.tag == Tag::i64) {
        file.read(header_->data_start() + e.end - 8, 8, reinterpret_cast<char*>(&last));
      } else if (e.end > e.begin) {
        std::int32_t narrow = 0;
        file.read(header_->data_start() + e.end - 4, 4, reinterpret_cast<char*>(&narrow));
        last = narrow;
      }
      if (last < 0 || (want >= 0 && last != want)) {
        raise_format(file.path(), "dim" + std::to_string(level) + "/bounds: ends at " + std::to_string(last) +
                                      ", but dim " + std::to_string(level) + " has " +
                                      (want < 0 ? std::string("no") : std::to_string(want)) + " rows");
      }
    }
  }

  std::string path_;
  std::shared_ptr<FileHeader> header_;
  FileId id_;
  const std::byte* data_ = nullptr;
};

// A file opened for a few reads of ranges into memory of our own.
class FileReader {
 public:
  FileReader(py::handle path, const std::optional<Identity>& expect, std::int64_t data_start)
      : file_(fs_path(path), expect), start_(data_start) {
    if (start_ < 8 || start_ > file_.id().size) raise_value("data_start", std::to_string(start_));
  }

  py::array read(py::handle begins, py::handle ends) {
    const Ints from = as_own_ints(begins, "begins");
    const Ints to = as_own_ints(ends, "ends");
    if (from.count != to.count) raise_value("ends", "as many as begins are needed");
    const std::int64_t limit = file_.id().size - start_;
    std::int64_t size = 0;
    const Status sum_status = sum_ranges(limit, from.data, to.data, from.count, size);
    if (!sum_status.ok()) raise_io(sum_status, file_.path());
    const int fd = file_.fd();
    py::array out = empty(py::dtype::of<std::uint8_t>(), {size});
    Status status;
    {
      auto* data = static_cast<std::byte*>(out.mutable_data());
      const py::gil_scoped_release release;
      status = read_ranges(fd, start_, from.data, to.data, from.count, data);
    }
    if (!status.ok()) raise_io(status, file_.path());
    bytes_ += size;
    return out;
  }

  void close() { file_.close(); }
  [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }

 private:
  Descriptor file_;
  std::int64_t start_;
  std::int64_t bytes_ = 0;
};

// The bytes of a file that processes share; the last view of them ends the map.
py::array shared_bytes(int fd, std::int64_t size) {
  at_least(1, size, "size");
  std::byte* data = nullptr;
  const Status status = map_shared(fd, size, data);
  if (!status.ok()) raise_io(status, "fd " + std::to_string(fd));
  std::shared_ptr<std::byte> map(data, [size](std::byte* address) { unmap_file(address, size); });
  return py::array(py::dtype::of<std::uint8_t>(), {size}, {}, data, owner_of(std::move(map)));
}

// Whether words[place] was `expected`, which is `value` then: one step, whichever process takes it.
bool swap_shared(py::array_t<std::int64_t> words, std::int64_t place, std::int64_t expected,
                 std::int64_t value) {
  if (words.ndim() != 1 || !words.writeable() || words.strides(0) != 8) {
    raise_value("words", "a writeable array of int64 end to end is needed");
  }
  if (place < 0 || place >= words.size()) raise_value("place", std::to_string(place));
  return __atomic_compare_exchange_n(words.mutable_data() + place, &expected, value, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}

}  // namespace

void bind_file(py::module_& m) {
  m.def("swap_shared", &swap_shared, py::arg("words").noconvert(), py::arg("place"), py::arg("expected"),
        py::arg("value"), "Sets a word of shared memory where it is what is expected; says whether it was.");
  m.def("shared_bytes", &shared_bytes, py::arg("fd"), py::arg("size"),
        "uint8 array over a file that processes share, to read and to write; fd may be closed.");
  py::class_<MappedFile>(m, "MappedFile", "A safetensors file, opened, checked and mapped.")
      .def(py::init<py::handle, const std::optional<Identity>&, bool, bool, const py::object&>(),
           py::arg("path"), py::arg("expect") = py::none(), py::arg("map") = true, py::arg("nested") = true,
           py::arg("recall") = py::none())
      .def_property_readonly("header", &MappedFile::header)
      .def_property_readonly("identity", &MappedFile::identity, "(size, mtime_ns, inode).")
      .def_property_readonly("changed", &MappedFile::has_changed,
                             "Whether the path leads to the same file, changed since. One look.")
      .def(
          "view",
          [](const py::object& self, std::int64_t entry, const py::dtype& dtype) {
            return self.cast<const MappedFile&>().view(entry, dtype, self);
          },
          py::arg("entry"), py::arg("dtype"), "A read-only array over the map, which it keeps alive.")
      .def("will_need", &MappedFile::need, py::arg("begins"), py::arg("ends"),
           "Asks the system to read ranges of the data ahead.");
  py::class_<FileReader>(m, "FileReader", "A file opened for reads of ranges; close it.")
      .def(py::init<py::handle, const std::optional<Identity>&, std::int64_t>(), py::arg("path"),
           py::arg("expect"), py::arg("data_start"))
      .def("read", &FileReader::read, py::arg("begins"), py::arg("ends"),
           "uint8 array: the ranges of the data, one after the other.")
      .def("close", &FileReader::close)
      .def_property_readonly("bytes_read", &FileReader::bytes);
  refuse_pickling(m.attr("MappedFile"));
  refuse_pickling(m.attr("FileReader"));
}

}  // namespace varlen::bindings
