#include "header.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

py::str text_of(std::string_view text) {
  return {text.data(), text.size()};
}

std::string quoted(std::string_view name) {
  return py::repr(text_of(name)).cast<std::string>();
}

// Tables lie in one block that nobody fills beforehand.
template <class T>
T* place(std::byte*& at, std::int64_t count) {
  auto* table = reinterpret_cast<T*>(at);
  at += (static_cast<std::size_t>(count) * sizeof(T) + 7) / 8 * 8;
  return table;
}

}  // namespace

Header::Header(std::unique_ptr<char[]> text, std::int64_t size, std::int64_t data_size, std::string path)
    : text_(std::move(text)), size_(size), data_size_(data_size), path_(std::move(path)) {
  // A guess that fits what writers write; what no text of this size can hold is the most that is ever needed.
  make_tables(size / 56 + 8, size / 1024 + 8, size / 28 + 16);
  Status status = parse_header(text_.get(), size_, data_size_, tables_);
  if (status.code == Code::no_room) {
    make_tables(size / 49 + 1, size / 6 + 1, size / 2 + 1);
    status = parse_header(text_.get(), size_, data_size_, tables_);
  }
  if (!status.ok()) refuse(status);
}

void Header::make_tables(std::int64_t entries, std::int64_t pairs, std::int64_t dims) {
  const std::int64_t most = std::max(entries, pairs);
  const auto slots = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * most)));
  const bool escapes =
      size_ > 0 && std::memchr(text_.get(), '\\', static_cast<std::size_t>(size_)) != nullptr;
  const std::int64_t bytes = entries * static_cast<std::int64_t>(sizeof(HeaderEntry) + 4) +
                             pairs * static_cast<std::int64_t>(sizeof(HeaderPair)) + dims * 8 +
                             (most + slots) * 4 + (escapes ? size_ : 0);
  constexpr std::int64_t kAlignment = 7 * 8;  // what `place` may add
  block_.reset(new std::byte[static_cast<std::size_t>(bytes + kAlignment)]);
  std::byte* at = block_.get();
  tables_.entries = place<HeaderEntry>(at, tables_.entry_room = entries);
  tables_.pairs = place<HeaderPair>(at, tables_.pair_room = pairs);
  tables_.dims = place<std::int64_t>(at, tables_.dim_room = dims);
  tables_.order = place<std::uint32_t>(at, entries);
  tables_.scratch = place<std::uint32_t>(at, most);
  tables_.slots = place<std::uint32_t>(at, slots);
  tables_.text = reinterpret_cast<char*>(at);
}

const HeaderEntry& Header::entry(std::int64_t i) const {
  if (i < 0 || i >= count()) raise_index("entry: " + std::to_string(i) + " of " + std::to_string(count()));
  return tables_.entries[i];
}

std::string Header::about(const HeaderEntry& e) const {
  std::string dims;
  for (unsigned axis = 0; axis < e.rank; ++axis) dims += (axis ? ", " : "") + std::to_string(shape(e)[axis]);
  return std::string(kTags[static_cast<std::size_t>(e.tag)].name) + " [" + dims + "] at bytes " +
         std::to_string(e.begin) + " to " + std::to_string(e.end);
}

void Header::refuse(Status status) const {
  const auto fault = static_cast<HeaderFault>(status.value);
  std::string text = "header";
  if (status.where >= 0) text += ", byte " + std::to_string(status.where);
  text += ": " + std::string(fault_text(fault));
  if (fault == HeaderFault::trailing_data) {
    std::int64_t end = 0;
    for (std::int64_t i = 0; i < count(); ++i) end = std::max(end, tables_.entries[i].end);
    text += " (it ends at " + std::to_string(end) + " of " + std::to_string(data_size_) + ")";
  }
  for (std::int64_t i = 0; fault != HeaderFault::utf8 && i < count(); ++i) {
    const HeaderEntry& e = tables_.entries[i];
    if (e.at != status.where) continue;
    text += " (tensor " + quoted(e.name) + ": " + about(e);
    text += fault == HeaderFault::past_end ? " of " + std::to_string(data_size_) + ")" : ")";
    break;
  }
  raise_file_error("FileFormatError", path_, text);
}

void Header::refuse_layout(Status status) const {
  const auto fault = static_cast<LayoutFault>(status.value);
  std::string text;
  if (status.where >= 0)
    text = "tensor " + quoted(entry(status.where).name) + " (" + about(entry(status.where)) + "): ";
  text += fault_text(fault);
  if (fault == LayoutFault::rows) {
    const HeaderEntry& other = entry(layout_.other);
    text += " " + quoted(other.name) + " (" + about(other) + ")";
  } else if (fault == LayoutFault::missing) {
    text += " " + std::to_string(layout_.other);
  }
  raise_file_error("FileFormatError", path_, text);
}

py::list Header::names() const {
  py::list out(static_cast<std::size_t>(count()));
  for (std::int64_t i = 0; i < count(); ++i)
    out[static_cast<std::size_t>(i)] = text_of(tables_.entries[i].name);
  return out;
}

py::dict Header::metadata() const {
  py::dict out;
  for (std::int64_t i = 0; i < tables_.pair_count; ++i) {
    out[text_of(tables_.pairs[i].key)] = text_of(tables_.pairs[i].value);
  }
  return out;
}

py::tuple Header::describe(std::int64_t i) const {
  const HeaderEntry& e = entry(i);
  py::tuple dims(e.rank);
  for (unsigned axis = 0; axis < e.rank; ++axis) dims[axis] = shape(e)[axis];
  return py::make_tuple(text_of(e.name), text_of(kTags[static_cast<std::size_t>(e.tag)].name), dims, e.begin,
                        e.end);
}

const Layout& Header::laid_out() {
  if (!laid_out_) {
    const Status status = parse_layout(tables_, layout_);
    if (!status.ok()) refuse_layout(status);
    laid_out_ = true;
  }
  return layout_;
}

py::tuple Header::layout() {
  const Layout& l = laid_out();
  py::list bounds;
  py::list lengths;
  py::list rows;
  for (int d = 0; d <= l.depth; ++d) {
    if (d > 0) bounds.append(l.bounds[d]);
    if (d > 0) lengths.append(l.lengths[d]);
    rows.append(l.rows[d]);
  }
  return py::make_tuple(l.depth, bounds, lengths, rows);
}

py::list Header::columns() {
  const Layout& l = laid_out();
  py::list out;
  for (std::int64_t i = 0; i < count(); ++i) {
    int dim = 0;
    std::string_view name;
    if (!split_name(tables_.entries[i].name, dim, name)) continue;
    if (dim > 0 && (l.bounds[dim] == i || l.lengths[dim] == i)) continue;
    out.append(py::make_tuple(text_of(name), dim, i));
  }
  return out;
}

void bind_header(py::module_& m) {
  py::class_<Header, std::shared_ptr<Header>>(
      m, "Header", "The tables of a safetensors header: every byte was checked. Immutable.")
      .def(py::init([](const py::buffer& buffer, std::int64_t data_size) {
             const py::buffer_info info = buffer.request();
             const std::int64_t size = info.size * info.itemsize;
             if (size >= std::int64_t{1} << 32) raise_value("text: a header has less than 2**32 bytes");
             std::unique_ptr<char[]> text(new char[static_cast<std::size_t>(size)]);
             if (size > 0) std::memcpy(text.get(), info.ptr, static_cast<std::size_t>(size));
             return std::make_shared<Header>(std::move(text), size, data_size, std::string());
           }),
           py::arg("text"), py::arg("data_size"))
      .def("__len__", &Header::count)
      .def_property_readonly("data_start", &Header::data_start, "Where in the file the data begins.")
      .def_property_readonly("data_size", &Header::data_size)
      .def_property_readonly("names", &Header::names,
                             "A new list of the tensors' names, in the header's order.")
      .def_property_readonly("metadata", &Header::metadata, "A new dict of the metadata.")
      .def("describe", &Header::describe, py::arg("entry"),
           "(name, dtype tag, shape, begin, end) of one tensor.")
      .def("layout", &Header::layout,
           "(depth, bounds, lengths, rows): entries of each level, rows at each depth.")
      .def("columns", &Header::columns, "[(name, dim, entry), ...] without the levels.");
  refuse_pickling(m.attr("Header"));
}

}  // namespace varlen::bindings
