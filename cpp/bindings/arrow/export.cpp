// Arrays out: schemas, arrays and streams of Arrow in capsules, made of a tree of tuples. A node is
// (format, length, buffers, children, dictionary, null count, name, flags, metadata); its buffers are arrays,
// whose memory is shared and kept alive, or None.
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "abi.hpp"
#include "arrow.hpp"
#include "rooms.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/keep.hpp"
#include "support/ndarray.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

/// What a node of the tree says. All are borrowed of the tuple.
struct ArrowNode {
  explicit ArrowNode(py::handle node) {
    if (PyTuple_Check(node.ptr()) == 0 || PyTuple_GET_SIZE(node.ptr()) != 9) {
      raise_type("node", "expected a tuple of nine, got " + type_name(node));
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i] = PyTuple_GET_ITEM(node.ptr(), static_cast<Py_ssize_t>(i));
    }
    for (const std::size_t i : {kBuffers, kChildren}) {
      if (PyTuple_Check(parts[i]) == 0) raise_type("node", "expected a tuple, got " + type_name(parts[i]));
    }
  }

  static constexpr std::size_t kBuffers = 2;
  static constexpr std::size_t kChildren = 3;

  [[nodiscard]] std::string text(std::size_t i) const {
    if (PyBytes_Check(parts[i])) return py::reinterpret_borrow<py::bytes>(parts[i]);
    return py::cast<std::string>(py::handle(parts[i]));
  }
  [[nodiscard]] std::string format() const { return text(0); }
  [[nodiscard]] std::int64_t length() const { return at_least(0, int_of(parts[1], "length"), "length"); }
  [[nodiscard]] py::handle buffers() const { return parts[kBuffers]; }
  [[nodiscard]] py::handle children() const { return parts[kChildren]; }
  [[nodiscard]] bool has_dictionary() const { return parts[4] != Py_None; }
  [[nodiscard]] ArrowNode dictionary() const { return ArrowNode(parts[4]); }
  [[nodiscard]] std::int64_t null_count() const { return int_of(parts[5], "null_count"); }
  [[nodiscard]] std::string name() const { return text(6); }
  [[nodiscard]] std::int64_t flags() const { return int_of(parts[7], "flags"); }
  [[nodiscard]] std::string metadata() const { return text(8); }

  std::array<PyObject*, 9> parts{};
};

/// Tables below a table. A consumer may move one of them elsewhere, which leaves its release empty.
template <class Table>
struct ArrowFamily {
  void add(ArrowOwner<Table>&& child) {
    children.push_back(std::make_unique<ArrowOwner<Table>>(std::move(child)));
    pointers.push_back(children.back()->get());
  }

  std::vector<std::unique_ptr<ArrowOwner<Table>>> children;
  std::vector<Table*> pointers;
  std::unique_ptr<ArrowOwner<Table>> dictionary;
};

struct SchemaParts : ArrowFamily<ArrowSchema> {
  std::string format;
  std::string name;
  std::string metadata;
};

struct ArrayParts : ArrowFamily<ArrowArray> {
  std::vector<const void*> buffers;
  std::vector<std::shared_ptr<const void>> keep;
};

template <class Parts, class Table>
void release_parts(Table* table) {
  delete static_cast<Parts*>(table->private_data);
  table->private_data = nullptr;
  table->release = nullptr;
}

/// The table over the parts, which it owns; what both kinds of table have in common.
template <class Parts, class Table>
void fill_family(Table& table, std::unique_ptr<Parts> parts) {
  table.n_children = static_cast<std::int64_t>(parts->pointers.size());
  table.children = parts->pointers.empty() ? nullptr : parts->pointers.data();
  table.dictionary = parts->dictionary == nullptr ? nullptr : parts->dictionary->get();
  table.release = &release_parts<Parts, Table>;
  table.private_data = parts.release();
}

template <class Parts, class Make>
void add_family(const ArrowNode& node, Parts& parts, const Make& make) {
  for (py::handle child : py::reinterpret_borrow<py::tuple>(node.children())) {
    parts.add(make(ArrowNode(child)));
  }
  using Child = std::decay_t<decltype(make(node))>;
  if (node.has_dictionary()) parts.dictionary = std::make_unique<Child>(make(node.dictionary()));
}

ArrowOwner<ArrowSchema> schema_of(const ArrowNode& node) {
  auto parts = std::make_unique<SchemaParts>();
  parts->format = node.format();
  parts->name = node.name();
  parts->metadata = node.metadata();
  add_family(node, *parts, schema_of);
  ArrowOwner<ArrowSchema> schema;
  schema->format = parts->format.c_str();
  schema->name = parts->name.c_str();
  schema->metadata = parts->metadata.empty() ? nullptr : parts->metadata.data();
  schema->flags = node.flags();
  fill_family(*schema, std::move(parts));
  return schema;
}

ArrowOwner<ArrowArray> array_of_node(const ArrowNode& node) {
  auto parts = std::make_unique<ArrayParts>();
  for (py::handle buffer : py::reinterpret_borrow<py::tuple>(node.buffers())) {
    if (buffer.is_none()) {
      parts->buffers.push_back(nullptr);
      continue;
    }
    if (!is_array(buffer.ptr(), Api::get())) {
      raise_type("buffers", "expected an array or None, got " + type_name(buffer));
    }
    parts->buffers.push_back(fields_of(buffer.ptr())->data);
    parts->keep.push_back(kept_by(py::reinterpret_borrow<py::object>(buffer)));
  }
  add_family(node, *parts, array_of_node);
  ArrowOwner<ArrowArray> array;
  array->length = node.length();
  array->null_count = node.null_count();
  array->n_buffers = static_cast<std::int64_t>(parts->buffers.size());
  array->buffers = parts->buffers.data();
  fill_family(*array, std::move(parts));
  return array;
}

template <class Table>
py::object capsule_of(ArrowOwner<Table>&& table) {
  auto owner = std::make_unique<ArrowOwner<Table>>(std::move(table));
  PyObject* const capsule = PyCapsule_New(owner->get(), kArrowName<Table>, [](PyObject* dead) {
    delete static_cast<ArrowOwner<Table>*>(PyCapsule_GetContext(dead));
  });
  if (capsule == nullptr) throw py::error_already_set();
  const auto result = py::reinterpret_steal<py::object>(capsule);
  if (PyCapsule_SetContext(capsule, owner.get()) != 0) throw py::error_already_set();
  owner.release();
  return result;
}

/// Arrays that an iterator of Python makes one after the other. The GIL is taken for each.
struct StreamParts {
  std::shared_ptr<const void> schema;
  std::shared_ptr<const void> arrays;
  std::string error;
};

/// Runs a body under the GIL; what it raises becomes the error of the stream.
template <class Body>
int in_stream(ArrowArrayStream* stream, const Body& body) noexcept {
  const HeldGil gil;
  auto& parts = *static_cast<StreamParts*>(stream->private_data);
  try {
    body(parts);
    return 0;
  } catch (const py::error_already_set& error) {
    parts.error = type_name(error.value()) + ": " + str_of(error.value());
  } catch (const std::exception& error) {
    parts.error = error.what();
  }
  return EINVAL;
}

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) noexcept {
  return in_stream(stream, [&](const StreamParts& parts) {
    ArrowOwner<ArrowSchema> schema = schema_of(ArrowNode(object_of(parts.schema)));
    *out = std::exchange(*schema, ArrowSchema{});
  });
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) noexcept {
  return in_stream(stream, [&](const StreamParts& parts) {
    const auto node = py::reinterpret_steal<py::object>(PyIter_Next(object_of(parts.arrays).ptr()));
    if (!node) {
      if (PyErr_Occurred() != nullptr) throw py::error_already_set();
      *out = ArrowArray{};
      return;
    }
    ArrowOwner<ArrowArray> array = array_of_node(ArrowNode(node));
    *out = std::exchange(*array, ArrowArray{});
  });
}

const char* stream_error(ArrowArrayStream* stream) noexcept {
  const auto& error = static_cast<StreamParts*>(stream->private_data)->error;
  return error.empty() ? nullptr : error.c_str();
}

constexpr Signature<1> kSchema{"arrow_schema", {"node"}};

py::object arrow_schema(const Arguments<1>& args) {
  return capsule_of(schema_of(ArrowNode(args[0])));
}

constexpr Signature<1> kArray{"arrow_array", {"node"}};

py::object arrow_array(const Arguments<1>& args) {
  return capsule_of(array_of_node(ArrowNode(args[0])));
}

constexpr Signature<2> kStream{"arrow_stream", {"node", "nodes"}};

py::object arrow_stream(const Arguments<2>& args) {
  const ArrowNode check(args[0]);
  const auto arrays = py::reinterpret_steal<py::object>(PyObject_GetIter(args[1]));
  if (!arrays) throw py::error_already_set();
  ArrowOwner<ArrowArrayStream> stream;
  stream->get_schema = &stream_schema;
  stream->get_next = &stream_next;
  stream->get_last_error = &stream_error;
  stream->private_data =
      new StreamParts{kept_by(py::reinterpret_borrow<py::object>(args[0])), kept_by(arrays), {}};
  stream->release = &release_parts<StreamParts, ArrowArrayStream>;
  return capsule_of(std::move(stream));
}

PyMethodDef arrow_export_methods[] = {
    method<kSchema, arrow_schema>("arrow_schema(node)\n--\n\n"
                                  "A capsule of the schema that a tree of arrays has in Arrow."),
    method<kArray, arrow_array>("arrow_array(node)\n--\n\n"
                                "A capsule of the array of Arrow over the memory of a tree of arrays."),
    method<kStream, arrow_stream>(
        "arrow_stream(node, nodes)\n--\n\n"
        "A capsule of a stream: the schema of `node`, and an array of each of `nodes`."),
    {},
};

}  // namespace

void bind_arrow(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), arrow_export_methods) != 0) throw py::error_already_set();
  add_arrow_import(m);
}

}  // namespace varlen::bindings
