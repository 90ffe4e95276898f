// `_core.Level` as Python sees it.
#include <string>

#include "rooms.hpp"
#include "support/fastcall.hpp"
#include "support/level.hpp"
#include "support/own_type.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

using Object = Own<Level>;

Py_ssize_t length(PyObject* self) noexcept {
  return Object::in(self).count();
}

Py_hash_t hash(PyObject* self) noexcept {
  const Level& level = Object::in(self);
  const auto mixed = static_cast<Py_hash_t>(static_cast<std::uint64_t>(level.count()) * 1000003U ^
                                            static_cast<std::uint64_t>(level.total()));
  return mixed == -1 ? -2 : mixed;
}

PyObject* compare(PyObject* self, PyObject* other, int operation) noexcept {
  if (!Object::is(other) || (operation != Py_EQ && operation != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong(Object::in(self).equals(Object::in(other)) == (operation == Py_EQ) ? 1 : 0);
}

PyObject* repr(PyObject* self) noexcept {
  return guarded([&] {
    Level& level = Object::in(self);
    const LevelStats stats = level.stats();
    const std::string text = "Level(" + std::to_string(level.count()) + " sequences, " +
                             std::to_string(level.total()) + " rows, lengths " +
                             std::to_string(stats.shortest) + " to " + std::to_string(stats.longest) + ")";
    return py::str(text).release().ptr();
  });
}

PyObject* reduce(PyObject* self, PyObject*) noexcept {
  return guarded([&] {
    const py::handle type(reinterpret_cast<PyObject*>(Object::type));
    return py::make_tuple(type.attr("from_offsets"), py::make_tuple(Object::in(self).offsets()))
        .release()
        .ptr();
  });
}

constexpr Signature<1> kLengths{"from_lengths", {"lengths"}};
constexpr Signature<1> kOffsets{"from_offsets", {"offsets"}};
constexpr Signature<1> kBounds{"from_bounds", {"bounds"}};
constexpr Signature<2> kRowIds{"from_row_ids", {"row_ids", "count"}, 1, 2};

py::object from_lengths(const Arguments<1>& args) {
  return Level::from_lengths(args[0]);
}
py::object from_offsets(const Arguments<1>& args) {
  return Level::from_offsets(args[0]);
}
py::object from_bounds(const Arguments<1>& args) {
  return Level::from_bounds(args[0]);
}
py::object from_row_ids(const Arguments<2>& args) {
  const std::int64_t count = args[1] == nullptr ? -1 : int_of(args[1], "count");
  if (count < -1) raise_value("count: expected at least 0, got " + std::to_string(count));
  return Level::from_row_ids(args[0], count);
}

PyMethodDef level_methods[] = {
    method<kLengths, from_lengths>("from_lengths(lengths)\n--\n\n"
                                   "From n lengths of any integer dtype; an error names the first negative "
                                   "one.",
                                   METH_STATIC),
    method<kOffsets, from_offsets>("from_offsets(offsets)\n--\n\n"
                                   "From n + 1 offsets that start at 0 and never decrease.",
                                   METH_STATIC),
    method<kBounds, from_bounds>("from_bounds(bounds)\n--\n\n"
                                 "From n ends without the leading 0.",
                                 METH_STATIC),
    method<kRowIds, from_row_ids>(
        "from_row_ids(row_ids, count=-1)\n--\n\n"
        "From the sorted sequence number of each row; `count` sequences, by default "
        "the last id + 1.",
        METH_STATIC),
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {},
};

template <auto body>
PyGetSetDef property(const char* name, const char* doc) {
  return {name, Object::get<body>, nullptr, doc, nullptr};
}

PyGetSetDef properties[] = {
    property<[](Level& l) { return l.total(); }>("total", "Rows in all sequences together."),
    property<[](Level& l) { return l.stats().longest; }>("longest", "0 where there is none."),
    property<[](Level& l) { return l.stats().shortest; }>("shortest", "0 where there is none."),
    property<[](Level& l) { return l.offsets(); }>("offsets", "int64 (n + 1), read-only, the first is 0."),
    property<[](Level& l) { return l.bounds(); }>("bounds",
                                                  "int64 (n), the ends: offsets without the leading 0."),
    property<[](Level& l) { return l.lengths(); }>("lengths", "int64 (n), read-only, kept."),
    property<[](Level& l) { return l.lengths32(); }>("lengths32", "The lengths as int32, read-only, kept."),
    property<[](Level& l) { return l.offsets32(); }>("offsets32", "The offsets as int32, read-only, kept."),
    property<[](Level& l) { return l.row_ids(); }>("row_ids",
                                                   "int64 (total), the sequence that each row is in."),
    property<[](Level& l) { return l.positions(); }>("positions",
                                                     "int64 (total), the place inside the sequence."),
    property<[](Level& l) { return l.tensor(); }>("_tensor", "The offsets, kept for torch.compile."),
    {},
};

}  // namespace

LevelRef::LevelRef(Level&& level) : py::object(Object::create(std::move(level)), stolen_t{}) {
  Level& own = Object::in(ptr());
  own.self_ = ptr();
  own.model_.set_companion(ptr());
}

LevelRef::LevelRef(const varlen::Level& model) {
  if (void* known = model.companion(); known != nullptr) {
    *this = py::reinterpret_borrow<LevelRef>(static_cast<PyObject*>(known));
  } else {
    *this = LevelRef(Level(model));
  }
}

Level& LevelRef::in(py::handle object) noexcept {
  return Object::in(object.ptr());
}

bool LevelRef::is_level(PyObject* object) noexcept {
  return Object::is(object);
}

void bind_level(py::module_& m) {
  Object::make(
      m, "varlen._core.Level",
      "One level of nesting: where each sequence begins and ends. Immutable, checked once, shared.\n\n"
      "Made from lengths, or by `from_offsets`, `from_bounds` or `from_row_ids`, of any integer dtype.\n\n"
      "Examples\n--------\n"
      ">>> level = varlen.Level([3, 0, 2])\n>>> level\nLevel(3 sequences, 5 rows, lengths 0 to 3)\n"
      ">>> level.offsets\narray([0, 3, 3, 5])\n>>> level.row_ids\narray([0, 0, 0, 2, 2])\n"
      ">>> level.total, level.longest\n(5, 3)\n",
      py::cpp_function([](py::handle lengths) { return Level::from_lengths(lengths); }, py::name("Level"),
                       py::arg("lengths")),
      {{Py_tp_methods, level_methods},
       {Py_tp_getset, properties},
       {Py_tp_repr, reinterpret_cast<void*>(repr)},
       {Py_tp_hash, reinterpret_cast<void*>(hash)},
       {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
       {Py_mp_length, reinterpret_cast<void*>(length)},
       {Py_sq_length, reinterpret_cast<void*>(length)}});
  m.def("_make_tensors_by", &Level::make_tensors_by, py::arg("make"), "make(offsets) gives `Level._tensor`.");
}

}  // namespace varlen::bindings
