// Nested lists of text to ids: the vocabulary is a dict that grows in the order of first appearance.
#include "errors.hpp"
#include "level/level.hpp"
#include "request.hpp"
#include "rooms.hpp"
#include "shape.hpp"
#include "support/arrays.hpp"
#include "support/fastcall.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

/// The id of a word, a new one where it was not met before.
std::int64_t id_of(PyObject* word, PyObject* vocabulary) {
  if (PyObject* entry = PyDict_GetItemWithError(vocabulary, word)) {
    const std::int64_t id = PyLong_AsLongLong(entry);
    if (id == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    return id;
  }
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  const std::int64_t id = PyDict_Size(vocabulary);
  const auto plain =
      py::reinterpret_steal<py::object>(PyUnicode_FromObject(word));  // never a subclass of str
  if (!plain || PyDict_SetItem(vocabulary, plain.ptr(), py::int_(id).ptr()) != 0)
    throw py::error_already_set();
  return id;
}

/// Refuses the first leaf of nested lists that is no text.
void refuse_objects(PyObject* node, const std::string& path) {
  if (is_list(node)) {
    const Items items = items_of(node);
    for (Py_ssize_t i = 0; i < items.size; ++i)
      refuse_objects(items.data[i], path + "[" + std::to_string(i) + "]");
  } else if (PyUnicode_Check(node) == 0) {
    raise_type(path, "expected text, got " + type_name(node));
  }
}

py::object ids_of(PyObject* root, int depth, PyObject* vocabulary, const std::string& name) {
  Shape shape = shape_of(root, depth, name.c_str());
  const py::list leaves = flat_leaves(root, depth);
  py::array ids = empty_ints(shape.total);
  auto* to = static_cast<std::int64_t*>(ids.mutable_data());
  for (std::int64_t i = 0; i < shape.total; ++i) {
    PyObject* leaf = PyList_GET_ITEM(leaves.ptr(), i);
    if (PyUnicode_Check(leaf) == 0) {
      raise_type(path_of(shape, depth, i, name.c_str()), "expected text, got " + type_name(leaf));
    }
    to[i] = id_of(leaf, vocabulary);
  }
  py::list levels;
  for (NewLevel& level : shape.levels) levels.append(std::move(level).finish());
  return py::make_tuple(ids, levels);
}

constexpr Signature<4> kFromWords{"from_words", {"lists", "vocabulary", "depth", "name"}, 2, 3};

py::object from_words(const Arguments<4>& args) {
  const std::string name = is_given(args[3]) ? py::cast<std::string>(args[3]) : "values";
  if (PyDict_CheckExact(args[1]) == 0) raise_type("vocabulary", "expected a dict, got " + type_name(args[1]));
  refuse_cycles(args[0], name);
  const py::object root = plain_copy(args[0]);
  if (PyList_Check(root.ptr()) == 0 && PyTuple_Check(root.ptr()) == 0) {
    raise_type(name, "expected a list or tuple, got " + type_name(args[0]));
  }
  try {
    const bool is_deep = is_given(args[2]) && int_of(args[2], "depth") >= 0;
    const int depth =
        is_deep ? static_cast<int>(int_of(args[2], "depth")) : depth_of(root.ptr(), name.c_str());
    return ids_of(root.ptr(), depth, args[1], name);
  } catch (const NeedsPython&) {
    refuse_objects(root.ptr(), name);
    raise_type(name, "expected text");
  }
}

PyMethodDef lists_words_methods[] = {
    method<kFromWords, from_words>(
        "from_words(lists, vocabulary, depth=-1, *, name='values')\n--\n\n"
        "Ids of nested lists of text, int64, and one Level for each depth; new words join the vocabulary."),
    {},
};

}  // namespace

void bind_lists_words(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), lists_words_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
