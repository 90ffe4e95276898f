// `_core.Header`: the model's FileHeader, as Python sees it.
#include <pybind11/pybind11.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "rooms.hpp"
#include "support/raise.hpp"
#include "varlen/model/file.hpp"

namespace varlen::bindings {

namespace py = pybind11;

namespace header_bind {

py::str text_in(std::string_view text) {
  return {text.data(), text.size()};
}

std::shared_ptr<FileHeader> parse(const py::buffer& buffer, std::int64_t data_size) {
  const py::buffer_info info = buffer.request();
  const std::int64_t size = info.size * info.itemsize;
  if (size >= std::int64_t{1} << 32) raise_value("text", "a header has less than 2**32 bytes");
  std::unique_ptr<char[]> text(new char[static_cast<std::size_t>(size)]);
  if (size > 0) std::memcpy(text.get(), info.ptr, static_cast<std::size_t>(size));
  return std::make_shared<FileHeader>(std::move(text), size, data_size, std::string());
}

py::list names(const FileHeader& header) {
  py::list out(static_cast<std::size_t>(header.count()));
  for (std::int64_t i = 0; i < header.count(); ++i)
    out[static_cast<std::size_t>(i)] = text_in(header.entry(i).name);
  return out;
}

py::dict metadata(const FileHeader& header) {
  py::dict out;
  for (std::int64_t i = 0; i < header.pair_count(); ++i)
    out[text_in(header.pair(i).key)] = text_in(header.pair(i).value);
  return out;
}

py::tuple describe(const FileHeader& header, std::int64_t i) {
  const HeaderEntry& e = header.entry(i);
  py::tuple dims(e.rank);
  for (unsigned axis = 0; axis < e.rank; ++axis) dims[axis] = header.shape(e)[axis];
  return py::make_tuple(text_in(e.name), text_in(kTags[static_cast<std::size_t>(e.tag)].name), dims, e.begin,
                        e.end);
}

py::tuple layout(FileHeader& header) {
  const Layout& l = header.layout();
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

py::list columns(FileHeader& header) {
  const Layout& l = header.layout();
  py::list out;
  for (std::int64_t i = 0; i < header.count(); ++i) {
    int dim = 0;
    std::string_view name;
    if (!split_name(header.entry(i).name, dim, name)) continue;
    if (dim > 0 && (l.bounds[dim] == i || l.lengths[dim] == i)) continue;
    out.append(py::make_tuple(text_in(name), dim, i));
  }
  return out;
}

}  // namespace header_bind

void bind_header(py::module_& m) {
  namespace accessors = header_bind;
  py::class_<FileHeader, std::shared_ptr<FileHeader>>(
      m, "Header", "The tables of a safetensors header: every byte was checked. Immutable.")
      .def(py::init(&accessors::parse), py::arg("text"), py::arg("data_size"))
      .def("__len__", &FileHeader::count)
      .def_property_readonly("data_start", &FileHeader::data_start, "Where in the file the data begins.")
      .def_property_readonly("data_size", &FileHeader::data_size)
      .def_property_readonly("names", accessors::names,
                             "A new list of the tensors' names, in the header's order.")
      .def_property_readonly("metadata", accessors::metadata, "A new dict of the metadata.")
      .def("describe", accessors::describe, py::arg("entry"),
           "(name, dtype tag, shape, begin, end) of one tensor.")
      .def("layout", accessors::layout,
           "(depth, bounds, lengths, rows): entries of each level, rows at each depth.")
      .def("columns", accessors::columns, "[(name, dim, entry), ...] without the levels.");
  refuse_pickling(m.attr("Header"));
}

}  // namespace varlen::bindings
