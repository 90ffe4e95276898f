// `_core.Level` as Python sees it.
#include <cstdint>
#include <string>
#include <utility>

#include "level/level.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/fastcall.hpp"
#include "support/hooks.hpp"
#include "support/own_type.hpp"
#include "support/raise.hpp"
#include "tensor/tensor.hpp"

namespace varlen::bindings {

namespace {

using Object = Own<Level>;

Py_ssize_t length(PyObject* self) noexcept {
  return Object::unwrap(self).count();
}

Py_hash_t hash(PyObject* self) noexcept {
  Level& level = Object::unwrap(self);
  std::int64_t total = 0;
  const bool is_known = guard([&] {
                          level.see();
                          total = level.total();
                          return Py_None;
                        }) != nullptr;
  if (!is_known) return -1;
  const auto hash_value = static_cast<Py_hash_t>(static_cast<std::uint64_t>(level.count()) * 1000003U ^
                                                 static_cast<std::uint64_t>(total));
  return hash_value == -1 ? -2 : hash_value;
}

PyObject* compare(PyObject* self, PyObject* other, int operation) noexcept {
  if (!Object::is(other) || (operation != Py_EQ && operation != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return guard([&] {
    return PyBool_FromLong(Object::unwrap(self).equals(Object::unwrap(other)) == (operation == Py_EQ) ? 1
                                                                                                      : 0);
  });
}

/// What is known of one on a device, without waiting for it.
PyObject* repr_of_hidden(Level& level) {
  std::string text = "Level(" + std::to_string(level.count()) + " sequences";
  const std::int64_t limit = level.length_limit();
  if (level.knows_total()) text += ", " + std::to_string(level.said_total()) + " rows";
  if (limit != INT64_MAX) text += ", lengths up to " + std::to_string(limit);
  return py::str(text + ", on a device)").release().ptr();
}

PyObject* repr(PyObject* self) noexcept {
  return guard([&] {
    Level& level = Object::unwrap(self);
    if (level.is_hidden()) return repr_of_hidden(level);
    const LevelStats stats = level.stats();
    const std::string text = "Level(" + std::to_string(level.count()) + " sequences, " +
                             std::to_string(level.total()) + " rows, lengths " +
                             std::to_string(stats.shortest) + " to " + std::to_string(stats.longest) + ")";
    return py::str(text).release().ptr();
  });
}

PyObject* reduce(PyObject* self, PyObject*) noexcept {
  return guard([&] {
    const py::handle type(reinterpret_cast<PyObject*>(Object::type));
    return py::make_tuple(type.attr("from_offsets"), py::make_tuple(Object::unwrap(self).offsets()))
        .release()
        .ptr();
  });
}

PyObject* sync(PyObject* self, PyObject*) noexcept {
  return guard([&] {
    Object::unwrap(self).sync();
    return Py_NewRef(self);
  });
}

PyObject* fits(PyObject* self, PyObject* rows) noexcept {
  return guard([&] { return PyBool_FromLong(Object::unwrap(self).fits(int_of(rows, "rows")) ? 1 : 0); });
}

PyObject* compose(PyObject* self, PyObject* child) noexcept {
  return guard([&] {
    LevelRef::expect(child, "below");
    return Object::unwrap(self).compose(Object::unwrap(child)).release().ptr();
  });
}

constexpr Signature<4> kLengths{"from_lengths", {"lengths", "total", "max_len", "check"}, 1, 1};
constexpr Signature<4> kOffsets{"from_offsets", {"offsets", "total", "max_len", "check"}, 1, 1};
constexpr Signature<1> kBounds{"from_bounds", {"bounds"}};
constexpr Signature<2> kRowIds{"from_row_ids", {"row_ids", "count"}, 1, 2};

/// A level by `make`, or by the reader of tensors where the numbers are those of a tensor that somebody
/// follows.
template <class Make>
py::object make_level(PyObject* numbers, const char* name, const Make& make) {
  Hook& reader = hooks().read_tensor;
  if (reader.peek() == nullptr || py::isinstance<py::array>(numbers)) return make(py::handle(numbers));
  const bool may_hide = is_tensor_subclass(numbers) || (is_tensor(numbers) && !is_plain_tensor(numbers));
  if (!may_hide) return make(py::handle(numbers));
  const py::object read = reader(py::handle(numbers), name);
  return py::isinstance<py::array>(read) ? make(read) : read;
}

/// What a caller says of lengths; below 0: nothing.
struct Bounds {
  std::int64_t total = -1;
  std::int64_t max_len = -1;
  bool check = false;

  Bounds(PyObject* given_total, PyObject* given_max_len, PyObject* given_check)
      : total(size_of(given_total, "total")),
        max_len(size_of(given_max_len, "max_len")),
        check(is_given(given_check) && truth_of(given_check, "check")) {}

  /// ValueError for a level of the host of which they do not hold.
  void check_of(Level& level, const std::string& name) const {
    if (total >= 0 && level.total() != total) {
      raise_value(name, "they add up to " + std::to_string(level.total()) + ", but there are " +
                            std::to_string(total) + " rows");
    }
    if (max_len < 0 || level.stats().longest <= max_len) return;
    const Offsets view = level.view();
    std::int64_t i = 0;
    while (view.length(i) <= max_len) ++i;
    raise_value(name,
                "row " + std::to_string(i) + " has length " + std::to_string(view.length(i)) +
                    ", over max_len=" + std::to_string(max_len),
                i, view.length(i));
  }

 private:
  static std::int64_t size_of(PyObject* number, const char* argument) {
    if (!is_given(number)) return -1;
    return at_least(0, int_of(number, argument), argument);
  }
};

/// A DeviceArray for numbers that lie on a device; null for others.
py::object numbers_of_device(PyObject* numbers) {
  if (is_device_array(numbers)) return py::reinterpret_borrow<py::object>(numbers);
  if (PyList_CheckExact(numbers) || py::isinstance<py::array>(numbers)) return {};
  if (!is_tensor(numbers)) {
    if (py::object device_view = placed_array(numbers)) return device_view;
    // The first array of a library makes it known.
    if (!py::hasattr(numbers, "__cuda_array_interface__")) return {};
    try {
      hooks().backend_of(py::handle(numbers));
    } catch (const py::error_already_set&) {
      return {};
    }
    if (!is_tensor(numbers)) return placed_array(numbers);
  }
  if (!is_plain_tensor(numbers) || array_over(numbers)) return {};
  py::object device_view = placed_over(numbers);
  return device_view && is_device_array(device_view.ptr()) ? device_view : py::object();
}

PyObject* is_placed(PyObject*, PyObject* numbers) noexcept {
  return guard([&] { return Py_NewRef(numbers_of_device(numbers) ? Py_True : Py_False); });
}

py::object level_of(PyObject* numbers, const char* name, bool are_offsets, const Bounds& bounds) {
  py::object result;
  if (const py::object source = numbers_of_device(numbers)) {
    result =
        Level::from_device(as_placed_rows(source, name), are_offsets, bounds.total, bounds.max_len, name);
  } else {
    result = make_level(numbers, name, [&](py::handle array_input) {
      return are_offsets ? Level::from_offsets(array_input) : Level::from_lengths(array_input);
    });
  }
  if (!LevelRef::is_level(result.ptr())) return result;
  Level& level = LevelRef::unwrap(result);
  if (!level.is_hidden()) {
    bounds.check_of(level, name);
  } else if (bounds.check) {
    level.sync();
  }
  return result;
}

/// Whether it is an array of the host, of which nothing more is said.
bool is_bare_array(const Arguments<4>& args) {
  return is_array(args[0], Api::get()) && args[1] == nullptr && args[2] == nullptr && args[3] == nullptr;
}

py::object from_lengths(const Arguments<4>& args) {
  if (is_bare_array(args)) return Level::from_lengths(args[0]);
  return level_of(args[0], "lengths", false, {args[1], args[2], args[3]});
}
constexpr Signature<4> kLevel{"Level", {"lengths", "total", "max_len", "check"}, 1, 1};
PyMethodDef level_maker = method<kLevel, from_lengths>(nullptr);

py::object from_offsets(const Arguments<4>& args) {
  if (is_bare_array(args)) return Level::from_offsets(args[0]);
  return level_of(args[0], "offsets", true, {args[1], args[2], args[3]});
}
/// TypeError for numbers on a device, for which no kernel makes a level of such.
void refuse_placed(PyObject* numbers, const char* name) {
  if (!numbers_of_device(numbers)) return;
  raise_type(name,
             "lie on a device, where levels are made of lengths or offsets; copy them to the host first");
}

py::object from_bounds(const Arguments<1>& args) {
  refuse_placed(args[0], "bounds");
  return make_level(args[0], "bounds", [](py::handle numbers) { return Level::from_bounds(numbers); });
}
py::object from_row_ids(const Arguments<2>& args) {
  const std::int64_t count = args[1] == nullptr ? -1 : int_of(args[1], "count");
  if (count != -1) at_least(0, count, "count");
  refuse_placed(args[0], "row_ids");
  return make_level(args[0], "row_ids",
                    [=](py::handle numbers) { return Level::from_row_ids(numbers, count); });
}

constexpr const char* kLengthsDoc =
    R"(from_lengths(lengths, *, total=None, max_len=None, check=False)
--

The level of sequences of these lengths.

Parameters
----------
lengths
    (n,) integers of any dtype, 0 or more: how many rows each sequence has.
total
    How many rows there are in all. Other sums are refused.
max_len
    What no length exceeds. Longer ones are refused. Of numbers on a device it is the `longest` that is known.
check
    Whether to wait for numbers that lie on a device, as `sync` does, and so check them at once.

Returns
-------
Level
    n sequences.

Raises
------
TypeError
    Something else than integers.
ValueError
    A negative length; the text names the first.
OverflowError
    Lengths that add up to more than int64 can hold.

Examples
--------
>>> varlen.Level.from_lengths([3, 0, 2]).offsets
array([0, 3, 3, 5])
)";
constexpr const char* kOffsetsDoc =
    R"(from_offsets(offsets, *, total=None, max_len=None, check=False)
--

The level whose sequence i goes from row offsets[i] to row offsets[i + 1].

Parameters
----------
offsets
    (n + 1,) integers of any dtype; the first is 0, and none is below the one before it.
total
    How many rows there are in all. Other sums are refused.
max_len
    What no length exceeds. Longer ones are refused. Of numbers on a device it is the `longest` that is known.
check
    Whether to wait for numbers that lie on a device, as `sync` does, and so check them at once.

Returns
-------
Level
    n sequences. The offsets are copied.

Raises
------
TypeError
    Something else than integers.
ValueError
    No offsets, a first one that is not 0, or one below the one before it; the text names it.

Examples
--------
>>> varlen.Level.from_offsets([0, 3, 3, 5]).lengths
array([3, 0, 2])
)";
constexpr const char* kBoundsDoc =
    R"(from_bounds(bounds)
--

The level whose sequence i ends at row bounds[i], where the next one begins: offsets without the leading 0.

Parameters
----------
bounds
    (n,) integers of any dtype, 0 or more, none below the one before it.

Returns
-------
Level
    n sequences.

Raises
------
TypeError
    Something else than integers.
ValueError
    A negative end, or one below the one before it; the text names it.

Examples
--------
>>> varlen.Level.from_bounds([3, 3, 5]).lengths
array([3, 0, 2])
)";
constexpr const char* kComposeDoc =
    R"(compose($self, below, /)
--

The level that cuts what lies in the sequences of `below` as this one cuts the sequences themselves.

It is kept for the last `below`, for as long as this level lives: asked again, it is worked out no more.

Parameters
----------
below
    A Level with as many sequences as this one has rows.

Returns
-------
Level
    As many sequences as this one has, over the rows of `below`.

Raises
------
TypeError
    Something else than a Level.
ValueError
    Another number of sequences.

Examples
--------
>>> varlen.Level([2, 1]).compose(varlen.Level([3, 0, 2])).lengths
array([3, 2])
)";
constexpr const char* kSyncDoc =
    R"(sync($self, /)
--

Wait for numbers that lie on a device, and check them. A level whose numbers the host has is left as it is.

From here on `longest` is the longest length itself, also of a level that was made in a CUDA graph, for which
`max_len` stands when its numbers are looked at otherwise.

Returns
-------
Level
    This one.

Raises
------
ValueError
    Numbers that lie: lengths below 0 or over `max_len`, offsets that decrease, another sum than `total`.
RuntimeError
    A graph captures the stream, which cannot wait.

Examples
--------
>>> varlen.Level([3, 0, 2]).sync().longest
3
)";
constexpr const char* kRowIdsDoc =
    R"(from_row_ids(row_ids, count=-1)
--

The level whose row j is in sequence row_ids[j].

Parameters
----------
row_ids
    (total,) integers of any dtype, 0 or more, none below the one before it.
count
    How many sequences there are, which counts empty ones at the end; -1 stands for the last id + 1.

Returns
-------
Level
    `count` sequences.

Raises
------
TypeError
    Something else than integers.
ValueError
    Ids that decrease or are negative, or an id that is not below `count`; the text names its position.

Examples
--------
>>> varlen.Level.from_row_ids([0, 0, 0, 2, 2], 4).lengths
array([3, 0, 2, 0])
)";

PyMethodDef level_methods[] = {
    method<kLengths, from_lengths>(kLengthsDoc, METH_STATIC),
    method<kOffsets, from_offsets>(kOffsetsDoc, METH_STATIC),
    method<kBounds, from_bounds>(kBoundsDoc, METH_STATIC),
    method<kRowIds, from_row_ids>(kRowIdsDoc, METH_STATIC),
    {"compose", compose, METH_O, kComposeDoc},
    {"sync", sync, METH_NOARGS, kSyncDoc},
    {"_fits", fits, METH_O,
     "_fits($self, rows, /)\n--\n\nWhether there are, or from now on have to be, so many rows."},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {},
};

constexpr Signature<3> kNumbers{"level_numbers", {"level", "name", "beside"}, 3, 3};

/// What a level has of this name, beside an array.
py::object numbers_beside(const Arguments<3>& args) {
  const auto [given_level, name, neighbour] = args;
  LevelRef::expect(given_level, "level");
  Level& level = LevelRef::unwrap(given_level);
  const auto is = [word_name = name](const char* word) {
    return PyUnicode_CompareWithASCIIString(word_name, word) == 0;
  };
  const Place place = place_of_any({neighbour});
  if (place.is_host()) return py::handle(given_level).attr(py::handle(name));
  const Offsets source = offsets_at(place, level);
  const std::int64_t count = is("offsets32") ? level.count() + 1
                             : is("lengths") ? level.count()
                                             : level.total();
  const py::dtype dtype = is("offsets32") ? py::dtype::of<std::int32_t>() : py::dtype::of<std::int64_t>();
  if (is("offsets32") && level.knows_total() && level.total() > INT32_MAX)
    (void)level.offsets32();  // an error that says so
  py::array out = empty_at(place, dtype, {count});
  const cuda::Kernels& kernels = *place.kernels;
  if (is("offsets32")) {
    place.check(kernels.offsets_of(place.stream, source, static_cast<std::int32_t*>(out.mutable_data())),
                "offsets");
  } else if (is("lengths")) {
    place.check(kernels.lengths_of(place.stream, source, ints(out)), "lengths");
  } else if (is("row_ids")) {
    place.check(kernels.row_ids_of(place.stream, source, count, ints(out)), "row_ids");
  } else if (is("positions")) {
    place.check(kernels.positions_of(place.stream, source, count, ints(out)), "positions");
  } else {
    raise_value("name", "there is none called " + std::string(py::repr(py::handle(name))));
  }
  return out;
}

PyMethodDef level_functions[] = {
    method<kNumbers, numbers_beside>(
        "level_numbers(level, name, beside)\n--\n\n"
        "The 'lengths', 'row_ids', 'positions' or 'offsets32' of a level, on the device of an array."),
    {"is_placed", &is_placed, METH_O,
     "is_placed(object)\n--\n\nWhether it is an array on a device that there are kernels for."},
    {},
};

template <auto body>
PyGetSetDef property(const char* name, const char* doc) {
  return {name, Object::get<body>, nullptr, doc, nullptr};
}

PyGetSetDef properties[] = {
    property<[](Level& l) { return l.total(); }>("total", "Rows in all sequences together."),
    property<[](Level& l) { return l.longest(); }>(
        "longest", "The longest length; of numbers that only a device has, the bound that was given for it."),
    property<[](Level& l) { return l.shortest(); }>("shortest",
                                                    "The shortest length; 0 where there is no sequence."),
    property<[](Level& l) -> py::object { return py::bool_(!l.is_hidden()); }>(
        "is_on_host", "Whether the host has the numbers; False where they lie on a device alone."),
    property<[](Level& l) { return l.offsets(); }>(
        "offsets", "Where each sequence begins and ends: int64 (n + 1,), read-only."),
    property<[](Level& l) { return l.bounds(); }>(
        "bounds", "Where each sequence ends: the offsets without the leading 0, int64 (n,), read-only."),
    property<[](Level& l) { return l.lengths(); }>(
        "lengths", "How many rows each sequence has: int64 (n,), read-only, kept."),
    property<[](Level& l) { return l.lengths32(); }>("lengths32", "The lengths as int32, read-only, kept."),
    property<[](Level& l) { return l.offsets32(); }>("offsets32", "The offsets as int32, read-only, kept."),
    property<[](Level& l) { return l.row_ids(); }>(
        "row_ids", "The sequence that each row is in: int64 (total,), read-only, kept."),
    property<[](Level& l) { return l.positions(); }>(
        "positions", "The place of each row in its sequence: int64 (total,), read-only, kept."),
    property<[](Level& l) { return l.tensor(); }>("_tensor", "The offsets, kept for torch.compile."),
    {},
};

/// What a tracer reads of Level(lengths), which it cannot follow into C: a function of Python beside the
/// slot.
void take_traced_level(PyObject* make) {
  if (make == nullptr) raise_type("traced_level", "expected a function");
  PyObject* const method = PyStaticMethod_New(make);
  const auto descriptor = py::reinterpret_steal<py::object>(method);
  if (!descriptor || PyDict_SetItemString(Object::type->tp_dict, "__new__", method) != 0)
    throw py::error_already_set();
  PyType_Modified(Object::type);
}

}  // namespace

LevelRef::LevelRef(Level&& level) : py::object(Object::create(std::move(level)), stolen_t{}) {
  Level& own = Object::unwrap(ptr());
  own.self_ = ptr();
  own.model_.set_companion(ptr());
}

LevelRef::LevelRef(const varlen::Level& model) {
  if (void* entry = model.companion(); entry != nullptr) {
    *this = py::reinterpret_borrow<LevelRef>(static_cast<PyObject*>(entry));
  } else {
    *this = LevelRef(Level(model));
  }
}

Level& LevelRef::unwrap(py::handle object) noexcept {
  return Object::unwrap(object.ptr());
}

bool LevelRef::is_level(PyObject* object) noexcept {
  return Object::is(object);
}

void LevelRef::refuse(py::handle object, const char* argument, const char* what) {
  const std::string got = type_name(object);
  std::string reason = std::string("expected ") + what + ", got " + got;
  if (got == "TracedLevel") {
    reason +=
        ", whose numbers do not show in a graph in the making: call what reads them before or behind it";
  }
  raise_type(argument, reason);
}

void bind_level(py::module_& m) {
  Object::make(
      m, "varlen._core.Level",
      "Level(lengths, *, total=None, max_len=None, check=False)\n--\n\n"
      "One level of nesting: where each sequence begins and ends. Immutable, checked once, shared.\n\n"
      "Made from lengths, or by `from_offsets`, `from_bounds` or `from_row_ids`. Lengths that lie on a "
      "device "
      "stay\n"
      "there: nothing waits until their numbers are asked for, as by `lengths`, or until `sync`.\n\n"
      "Parameters\n----------\nlengths\n"
      "    (n,) integers of any dtype, 0 or more: how many rows each sequence has.\n"
      "total\n    How many rows there are in all. Other sums are refused.\n"
      "max_len\n    What no length exceeds. Longer ones are refused. Of numbers on a device it is the "
      "`longest` "
      "that is\n    known.\n"
      "check\n    Whether to wait for numbers that lie on a device, as `sync` does, and so check them at "
      "once.\n\n"
      "Raises\n------\nTypeError\n    Something else than integers.\n"
      "ValueError\n    A negative length; the text names the first. Of numbers on a device, when something "
      "is "
      "done\n    with them after a kernel has found it.\n"
      "OverflowError\n    Lengths that add up to more than int64 can hold.\n\n"
      "Examples\n--------\n"
      ">>> level = varlen.Level([3, 0, 2])\n>>> level\nLevel(3 sequences, 5 rows, lengths 0 to 3)\n"
      ">>> level.offsets\narray([0, 3, 3, 5])\n>>> level.row_ids\narray([0, 0, 0, 2, 2])\n"
      ">>> level.total, level.longest\n(5, 3)\n",
      py::reinterpret_steal<py::object>(PyCFunction_New(&level_maker, nullptr)),
      {{Py_tp_methods, level_methods},
       {Py_tp_getset, properties},
       {Py_tp_repr, reinterpret_cast<void*>(repr)},
       {Py_tp_hash, reinterpret_cast<void*>(hash)},
       {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
       {Py_mp_length, reinterpret_cast<void*>(length)},
       {Py_sq_length, reinterpret_cast<void*>(length)}});
  if (PyModule_AddFunctions(m.ptr(), level_functions) != 0) throw py::error_already_set();
  hooks().traced_level.take = &take_traced_level;
}

}  // namespace varlen::bindings
