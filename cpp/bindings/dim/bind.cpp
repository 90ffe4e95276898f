// `_core.Dim` as Python sees it.
#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dim/dim.hpp"
#include "dim/docs.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/fastcall.hpp"
#include "support/hooks.hpp"
#include "support/raise.hpp"
#include "tensor/tensor.hpp"
#include "varlen/model/shape.hpp"

namespace varlen::bindings {

namespace dim_bind {
namespace {

using ModelDim = varlen::Dim;

constexpr std::array<const char*, 4> kKinds{"unspecified", "spatial", "feature", "batch"};

/// An int, or a scalar of NumPy that is one. Arrays and tensors of one number are none.
bool is_plain_int(PyObject* object) {
  if (PyLong_Check(object)) return !PyBool_Check(object);
  return is_integer(object) && !is_array(object, Api::get()) && !is_tensor(object) &&
         PyObject_HasAttrString(object, "__len__") == 0;
}

/// What stands on one side of an operator; an int is so many positions.
class Operand {
 public:
  explicit Operand(PyObject* object) {
    if (DimOwner::is(object)) {
      dim_ = &DimOwner::unwrap(object).dim;
    } else if (is_plain_int(object)) {
      number_ = ModelDim(Expression::integer(int_of(object, "operand")));
      dim_ = &number_;
    }
  }
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  ~Operand() = default;

  [[nodiscard]] bool is_one() const noexcept { return dim_ != nullptr; }
  [[nodiscard]] const ModelDim& operator*() const noexcept { return *dim_; }

 private:
  const ModelDim* dim_ = nullptr;
  ModelDim number_;
};

PyObject* create(ModelDim dim) {
  return DimOwner::create({std::move(dim)});
}

template <class Op>
PyObject* binary(PyObject* left, PyObject* right, Op op) noexcept {
  return guard([&]() -> PyObject* {
    const Operand a(left);
    const Operand b(right);
    if (!a.is_one() || !b.is_one()) Py_RETURN_NOTIMPLEMENTED;
    return create(op(*a, *b));
  });
}

PyObject* add(PyObject* left, PyObject* right) noexcept {
  return binary(left, right, std::plus<>{});
}
PyObject* subtract(PyObject* left, PyObject* right) noexcept {
  return binary(left, right, std::minus<>{});
}
PyObject* multiply(PyObject* left, PyObject* right) noexcept {
  return binary(left, right, std::multiplies<>{});
}
PyObject* divide(PyObject* left, PyObject* right) noexcept {
  return binary(left, right,
                [](const ModelDim& a, const ModelDim& b) { return a.divide(Division::floor_right, b); });
}
PyObject* negative(PyObject* self) noexcept {
  return guard([&] { return create(-DimOwner::unwrap(self).dim); });
}

template <class Op>
PyObject* with_operand(PyObject* self, PyObject* other, Op op) noexcept {
  return guard([&]() -> PyObject* {
    const Operand b(other);
    if (!b.is_one()) raise_type("other", "expected a Dim or an int, got " + type_name(other));
    return create(op(DimOwner::unwrap(self).dim, *b));
  });
}

PyObject* sub_left(PyObject* self, PyObject* other) noexcept {
  return with_operand(self, other, [](const ModelDim& a, const ModelDim& b) { return -b + a; });
}
PyObject* sub_right(PyObject* self, PyObject* other) noexcept {
  return with_operand(self, other, std::minus<>{});
}
template <Division how>
PyObject* divide_by(PyObject* self, PyObject* other) noexcept {
  return with_operand(self, other, [](const ModelDim& a, const ModelDim& b) { return a.divide(how, b); });
}

PyObject* compare(PyObject* self, PyObject* other, int operation) noexcept {
  if (!DimOwner::is(other) || (operation != Py_EQ && operation != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  const bool is_equal = DimOwner::unwrap(self).dim.expression() == DimOwner::unwrap(other).dim.expression();
  return PyBool_FromLong(is_equal == (operation == Py_EQ) ? 1 : 0);
}

Py_hash_t hash(PyObject* self) noexcept {
  return static_cast<Py_hash_t>(DimOwner::unwrap(self).dim.expression().hash());
}

py::object name_of(DimObject& self) {
  return self.name ? self.name : py::object(py::str(self.dim.expression().text()));
}

/// Whether lengths that it is made of lie on a device, where nobody has read them yet.
bool has_hidden(const ModelDim& dim) {
  const auto bindings = dim.part(dim.expression()).bindings();
  return bindings != nullptr && std::any_of(bindings->begin(), bindings->end(), [](const auto& binding) {
           const auto* level_lengths = dynamic_cast<const LengthsOfLevel*>(binding->lengths.get());
           return level_lengths != nullptr && level_lengths->object()->is_hidden();
         });
}

/// "3 lengths 0 to 5 over batch": what a glance should tell, without waiting for a device.
std::string lengths_text(DimObject& self) {
  const Expression& expression = self.dim.expression();
  if (expression.is_static()) return std::string(", ") + std::to_string(expression.size());
  if (!self.dim.is_defined()) return "";
  if (!expression.is_generator() && has_hidden(self.dim)) return ", lengths on a device";
  const DimValues& values = self.values().values;
  if (values.over.empty()) return std::string(", length ") + std::to_string(self.level()->longest());
  std::string domain;
  for (const ModelDim& dim : values.over) domain += (domain.empty() ? "" : ", ") + dim.expression().text();
  const LevelRef level = self.level();
  std::string text(", ");
  text += std::to_string(level->count()) + " lengths";
  if (level->is_hidden()) {
    text += " on a device";
  } else {
    const LevelStats stats = level->stats();
    text.append(" ")
        .append(std::to_string(stats.shortest))
        .append(" to ")
        .append(std::to_string(stats.longest));
  }
  return text + " over " + domain;
}

PyObject* repr(PyObject* self) noexcept {
  return guard([&] {
    DimObject& dim = DimOwner::unwrap(self);
    std::string lengths;
    try {
      lengths = lengths_text(dim);
    } catch (const Error&) {  // lengths that do not fit each other are no reason not to print
      lengths = ", no lengths";
    }
    return py::str("Dim({!r}" + lengths + ")").format(name_of(dim)).release().ptr();
  });
}

std::vector<ModelDim> dims_of(PyObject* domain) {
  if (DimOwner::is(domain)) return {DimOwner::unwrap(domain).dim};
  if (!PyTuple_Check(domain) && !PyList_Check(domain)) {
    raise_type("over", "expected a Dim or a sequence of them, got " + type_name(domain));
  }
  std::vector<ModelDim> dims;
  for (const py::handle item : py::handle(domain)) dims.push_back(dim_of(item, "over").dim);
  return dims;
}

/// A name bound to what a caller gives: an int, a Level, a Data, or anything that a Level is made of.
ModelDim bound(const Expression& name, PyObject* lengths, PyObject* domain) {
  if (PyObject_HasAttrString(lengths, "_with_rows") != 0) {  // a container of ours: Data and Ragged say more
    const py::tuple parts = hooks().as_lengths(py::handle(lengths), or_none(domain));
    const py::object numbers = parts[0];
    const py::object dims = parts[1];
    return bound(name, numbers.ptr(), dims.ptr());
  }
  std::vector<std::int64_t> extents;
  const bool is_int = is_plain_int(lengths);
  py::object numbers = py::reinterpret_borrow<py::object>(lengths);
  LevelRef level;
  if (is_int) {
    const std::int64_t length = int_of(lengths, "lengths");
    if (is_given(domain) && !dims_of(domain).empty()) raise_value("over", "one number is over nothing");
    return ModelDim::scalar(name, length);
  }
  if (LevelRef::is_level(lengths)) {
    level = py::reinterpret_borrow<LevelRef>(lengths);
    if (!is_given(domain)) extents = {level->count()};
  } else {
    py::object shape;
    if (PyObject_HasAttrString(lengths, "ndim") != 0) {
      shape = numbers.attr("shape");
    } else if (PyObject_HasAttrString(lengths, "__cuda_array_interface__") != 0) {
      shape = numbers.attr("__cuda_array_interface__")["shape"];
    } else {
      numbers = array_of(lengths, "lengths");
      shape = numbers.attr("shape");
    }
    for (const py::handle extent : shape) extents.push_back(py::cast<std::int64_t>(extent));
    if (extents.size() != 1) numbers = numbers.attr("reshape")(-1);
    const py::handle type(reinterpret_cast<PyObject*>(Own<Level>::type));
    if (extents.size() == 1 && extents[0] == 0 && PyList_Check(lengths)) {
      numbers = py::array(py::dtype::of<std::int64_t>(), py::ssize_t{0});
    }
    level = py::reinterpret_steal<LevelRef>(type(numbers).release());
    LevelRef::expect(level, "lengths", "lengths whose number is known");
  }
  std::vector<ModelDim> dims;
  if (is_given(domain)) {
    dims = dims_of(domain);
    // Lengths over a dim that is itself ragged come one after the other.
    if (extents.size() != dims.size()) {
      if (extents.size() > 1) {
        raise_value("over", "expected " + std::to_string(extents.size()) +
                                " dims, one for each axis of the lengths, got " +
                                std::to_string(dims.size()));
      }
      extents.clear();
    }
  } else if (extents.size() == 1) {
    dims.emplace_back(Expression::batch());
  } else if (!extents.empty()) {
    raise_value("over",
                "lengths of " + std::to_string(extents.size()) + " axes need the dims that they are over");
  }
  return ModelDim::bound(name, std::move(dims), std::make_shared<LengthsOfLevel>(std::move(level)), extents);
}

constexpr Signature<7> kDim{"Dim", {"size", "dimension", "lengths", "name", "kind", "over", "vocab"}, 0, 2};

py::object make_dim(const Arguments<7>& args) {
  auto [size, dimension, lengths, name, kind_given, domain, vocab] = args;
  if (is_given(size) && PyUnicode_Check(size)) {
    if (is_given(name)) raise_type("name", "given twice");
    name = std::exchange(size, nullptr);
  }
  if (is_given(dimension)) {
    if (is_given(size)) raise_type("size", "given twice");
    size = dimension;
  }
  if (is_given(name) && !PyUnicode_Check(name)) raise_type("name", "expected a str, got " + type_name(name));
  if (is_given(size) && !is_plain_int(size)) {
    if (is_given(lengths)) raise_type("lengths", "given twice");
    lengths = std::exchange(size, nullptr);
  }
  if (is_given(size) && is_given(lengths)) raise_type("lengths", "a dim of one size has none");
  Generator what;
  what.kind = is_given(kind_given) ? kind_of(kind_given) : DimKind::unspecified;
  if (is_given(name)) what.name = py::cast<std::string>(py::handle(name));
  if (is_given(size)) {
    what.size = at_least(0, int_of(size, "size"), "size");
  }
  if (is_given(vocab)) {
    if (is_given(lengths)) raise_value("vocab", "a dim with lengths has no vocabulary");
    const py::object words = hooks().as_vocabulary(py::handle(vocab));
    const auto count = static_cast<std::int64_t>(py::len(words));
    if (what.size >= 0 && what.size != count) {
      raise_value("vocab", "expected " + std::to_string(what.size) + " labels, as many as the size, got " +
                               std::to_string(count));
    }
    what.size = count;
    what.companion = companion_of(words);
  }
  const py::object own_name = is_given(name) ? py::reinterpret_borrow<py::object>(name) : py::object();
  if (is_given(domain) && !is_given(lengths))
    raise_type("over", "there are no lengths that could be over it");
  if (what.kind == DimKind::batch) {
    // The batch is one name: how many there are of it is a matter of each batch.
    if (is_given(vocab)) raise_value("vocab", "the batch has no vocabulary");
    const Expression& batch = Expression::batch();
    if (what.size >= 0) return new_dim(ModelDim::scalar(batch, what.size), own_name);
    if (is_given(lengths)) return new_dim(bound(batch, lengths, domain), own_name);
    return new_dim(ModelDim(batch), own_name);
  }
  const Expression expression = Expression::generator(what);
  if (!is_given(lengths)) return new_dim(ModelDim(expression), own_name);
  return new_dim(bound(expression, lengths, domain), own_name);
}

PyMethodDef maker = method<kDim, make_dim>(nullptr);

constexpr Signature<2> kBind{"bind", {"lengths", "over"}, 1};

py::object bind_to(PyObject* object, const Arguments<2>& args) {
  DimObject& self = DimOwner::unwrap(object);
  const Expression name = self.dim.expression().normal_form();
  if (!name.is_generator()) {
    raise_value(name.text(), "it is worked out of other dims: bind those");
  }
  if (name.is_static()) {
    raise_value(name.text(),
                "it has size " + std::to_string(name.size()) + ", and no lengths to be bound to");
  }
  return new_dim(bound(name, args[0], args[1]), self.name, self.match_priority);
}

constexpr Signature<2> kBound{"_bound", {"lengths", "over"}, 1};

/// As bind, of a derived dim too: it has these lengths here, whatever those have that it is made of.
py::object bound_as_whole(PyObject* object, const Arguments<2>& args) {
  DimObject& self = DimOwner::unwrap(object);
  const Expression form = self.dim.expression().normal_form();
  if (form.is_static()) return py::reinterpret_borrow<py::object>(object);
  return new_dim(bound(form, args[0], args[1]), name_of(self), self.match_priority);
}

PyObject* declare_same_as(PyObject* self, PyObject* other) noexcept {
  return guard([&]() -> PyObject* {
    DimOwner::unwrap(self).dim.declare_same_as(dim_of(other, "other").dim);
    Py_RETURN_NONE;
  });
}

/// The dim that a derived one is seen as belonging to: the first of those with lengths in it, else the first.
std::optional<ModelDim> root_of(const ModelDim& dim) {
  const Expression& expression = dim.expression();
  if (expression.is_generator()) return {};
  const std::vector<Expression> names = expression.generators();
  if (names.empty()) return {};
  const auto first =
      std::find_if(names.begin(), names.end(), [](const Expression& x) { return !x.is_static(); });
  return dim.part(first == names.end() ? names.front() : *first);
}

constexpr Signature<4> kMatches{"matches", {"other", "broadcast", "derived", "same_size"}, 1, 1};

py::object matches(PyObject* object, const Arguments<4>& args) {
  const ModelDim& a = DimOwner::unwrap(object).dim;
  const ModelDim& b = dim_of(args[0], "other").dim;
  const auto flag_of = [](PyObject* argument, const char* name) {
    return is_given(argument) && truth_of(argument, name);
  };
  const bool is_broadcast = flag_of(args[1], "broadcast");
  const bool is_derived = flag_of(args[2], "derived");
  const bool is_size = flag_of(args[3], "same_size");
  const Expression& x = a.expression();
  const Expression& y = b.expression();
  bool is_match = x == y;
  if (is_broadcast)
    is_match = is_match || (x.is_static() && x.size() == 1) || (y.is_static() && y.size() == 1);
  if (is_size) is_match = is_match || (x.is_static() && y.is_static() && x.size() == y.size());
  if (is_derived) {
    is_match = is_match || root_of(a).value_or(a).expression() == root_of(b).value_or(b).expression();
  }
  return py::bool_(is_match);
}

constexpr Signature<3> kCopy{"copy", {"name", "same_as_self", "match_priority"}, 0, 0};

py::object copy_dim(PyObject* object, const Arguments<3>& args) {
  DimObject& self = DimOwner::unwrap(object);
  const auto [name, same_as_self, match_priority] = args;
  if (is_given(name) && !PyUnicode_Check(name)) raise_type("name", "expected a str, got " + type_name(name));
  const py::object own_name = is_given(name) ? py::reinterpret_borrow<py::object>(name) : self.name;
  const std::int64_t priority =
      is_given(match_priority) ? int_of(match_priority, "match_priority") : self.match_priority;
  if (same_as_self == nullptr || truth_of(same_as_self, "same_as_self")) {
    return new_dim(self.dim, own_name, priority);
  }
  const Expression& expression = self.dim.expression();
  if (expression.is_batch()) raise_value("same_as_self", "all dims of the batch are the same");
  Generator what;
  what.name = py::cast<std::string>(is_given(name) ? own_name : name_of(self));
  what.kind = expression.kind();
  if (expression.is_generator()) what.companion = expression.generator().companion;
  if (expression.is_static()) what.size = expression.size();
  const Expression fresh = Expression::generator(what);
  if (expression.is_static() || !self.dim.is_defined()) return new_dim(ModelDim(fresh), own_name, priority);
  const DimValues& values = self.values().values;
  return new_dim(ModelDim::bound(fresh, values.over, std::make_shared<LengthsOfLevel>(self.level())),
                 own_name, priority);
}

PyObject* itself(PyObject* self, PyObject*) noexcept {
  return Py_NewRef(self);
}

PyObject* reduce(PyObject* self, PyObject*) noexcept {
  return guard([&] {
    const py::handle type(reinterpret_cast<PyObject*>(DimOwner::type));
    return py::make_tuple(type.attr("_restored"), py::make_tuple(state_of(DimOwner::unwrap(self))))
        .release()
        .ptr();
  });
}

constexpr Signature<1> kRestore{"_restored", {"state"}};

py::object restored_of(const Arguments<1>& args) {
  if (!PyTuple_CheckExact(args[0])) raise_type("state", "expected a tuple, got " + type_name(args[0]));
  return restore_dim(py::reinterpret_borrow<py::tuple>(args[0]));
}

PyObject* state(PyObject* self, PyObject*) noexcept {
  return guard([&] { return state_of(DimOwner::unwrap(self)).release().ptr(); });
}

PyObject* max_size(PyObject* self, PyObject*) noexcept {
  return guard([&] {
    DimObject& dim = DimOwner::unwrap(self);
    const Expression& expression = dim.dim.expression();
    return PyLong_FromLongLong(expression.is_static() ? expression.size() : dim.level()->longest());
  });
}

constexpr Signature<1> kOffsets{"offsets", {"over"}, 0};

py::object offsets_of(PyObject* object, const Arguments<1>& args) {
  DimObject& self = DimOwner::unwrap(object);
  if (!is_given(args[0])) return self.level()->offsets();
  std::vector<Axis> axes;
  for (ModelDim& dim : dims_of(args[0])) axes.push_back({std::move(dim)});
  axes.push_back({self.dim});
  const ShapeRef shape = Shape::of(axes, "over");
  return LevelRef(shape->span(axes.size() - 1, axes.size()))->offsets();
}

constexpr Signature<1> kMask{"mask", {"dims"}, 0};

py::object mask_of(PyObject* self, const Arguments<1>& args) {
  return hooks().mask_of_dim(py::handle(self), or_none(args[0]));
}

py::object lengths_of(DimObject& self) {
  if (!self.dim.is_defined()) return py::none();
  DimObject::Cache& cache = self.values();
  if (!cache.lengths) {
    py::object numbers = self.level()->lengths();
    if (cache.values.is_rectangle && cache.values.extents.size() != 1) {
      numbers = numbers.attr("reshape")(py::tuple(py::cast(cache.values.extents)));
    }
    cache.lengths = std::move(numbers);
  }
  return cache.lengths;
}

py::object over_of(DimObject& self) {
  if (!self.dim.is_defined()) return py::tuple();
  const DimValues& values = self.values().values;
  py::tuple dims(values.over.size());
  for (std::size_t k = 0; k < values.over.size(); ++k) dims[k] = new_dim(values.over[k]);
  return dims;
}

py::object size_of(DimObject& self) {
  const Expression& expression = self.dim.expression();
  return expression.is_static() ? py::object(py::int_(expression.size())) : py::none();
}

template <auto body>
PyGetSetDef property(const char* name, const char* doc) {
  return {name, DimOwner::get<body>, nullptr, doc, nullptr};
}

PyGetSetDef dim_properties[] = {
    property<[](DimObject& d) -> py::object { return name_of(d); }>(
        "name", "The name that it was given; of a derived dim how it is written, as `2*time+1`."),
    property<[](DimObject& d) -> py::object { return py::str(kind_name(d.dim.expression().kind())); }>(
        "kind", "'batch', 'spatial', 'feature' or 'unspecified'."),
    property<size_of>("size", "How many positions a static dim has; None where lengths say it."),
    property<size_of>("dimension", "The same as `size`."),
    property<lengths_of>(
        "lengths",
        "How many positions each row of `over` has: int64, read-only, in the shape of `over`; one "
        "after the other where that is no rectangle. None where nothing is known."),
    property<over_of>("over", "The dims that the lengths are over, a tuple: () for one number."),
    property<[](DimObject& d) -> py::object {
      return d.dim.is_defined() ? py::object(d.level()) : py::none();
    }>("level", "The lengths as a Level, the one that they were given as; None where nothing is known."),
    property<[](DimObject& d) -> py::object {
      const Expression& x = d.dim.expression();
      return x.is_generator() ? object_of(x.generator().companion) : py::none();
    }>("vocab", "The Vocabulary of its positions, or None."),
    property<[](DimObject& d) -> py::object { return py::bool_(d.dim.expression().is_static()); }>(
        "is_static", "Whether it has one size, whatever the batch."),
    property<[](DimObject& d) -> py::object { return py::bool_(!d.dim.expression().is_static()); }>(
        "is_dynamic", "Whether lengths say how many positions there are."),
    property<[](DimObject& d) -> py::object { return py::bool_(d.dim.is_defined()); }>(
        "is_defined", "Whether its size or its lengths are known."),
    property<[](DimObject& d) -> py::object { return py::bool_(!d.dim.expression().is_generator()); }>(
        "is_derived", "Whether it is made of other dims or of a number."),
    property<[](DimObject& d) -> py::object {
      std::optional<ModelDim> root = root_of(d.dim);
      return root ? new_dim(std::move(*root)) : py::none();
    }>("derived_from",
       "The first dim with lengths that a derived one is made of, else the first; None where it is not."),
    property<[](DimObject& d) -> py::object {
      return py::int_(reinterpret_cast<std::uintptr_t>(d.dim.expression().normal_form().element()));
    }>("_id", "A number that equal dims share for as long as one of them lives, until the next declaration."),
    property<[](DimObject& d) { return d.match_priority; }>(
        "match_priority",
        "Which of two equal dims of one array is meant: that of this priority, else the greater one."),
    {},
};

PyMethodDef dim_methods[] = {
    method_on<kBind, bind_to>(docs::kBind),
    method_on<kBound, bound_as_whole>("_bound($self, lengths, over=None)\n--\n\nAs `bind`, of a derived dim "
                                      "as a whole; a static one as it is."),
    {"declare_same_as", declare_same_as, METH_O, docs::kDeclareSameAs},
    method_on<kMatches, matches>(docs::kMatches),
    method_on<kCopy, copy_dim>(docs::kCopy),
    {"max_size", max_size, METH_NOARGS, docs::kMaxSize},
    method_on<kOffsets, offsets_of>(docs::kOffsets),
    method_on<kMask, mask_of>(docs::kMask),
    {"sub_left", sub_left, METH_O, docs::kSubLeft},
    {"sub_right", sub_right, METH_O, docs::kSubRight},
    {"div_left", divide_by<Division::floor_left>, METH_O, docs::kDivLeft},
    {"div_right", divide_by<Division::floor_right>, METH_O, docs::kDivRight},
    {"ceildiv_left", divide_by<Division::ceil_left>, METH_O, docs::kCeildivLeft},
    {"ceildiv_right", divide_by<Division::ceil_right>, METH_O, docs::kCeildivRight},
    {"__copy__", itself, METH_NOARGS, nullptr},
    {"__deepcopy__", itself, METH_O, nullptr},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {"_state", state, METH_NOARGS,
     "_state($self, /)\n--\n\nWhat `_restored` makes an equal dim of: plain tuples."},
    method<kRestore, restored_of>("_restored(state)\n--\n\nThe dim that `_state` was asked of.", METH_STATIC),
    {},
};

PyObject* alive(PyObject*, PyObject*) noexcept {
  return PyLong_FromLongLong(Expression::alive());
}

PyMethodDef dim_functions[] = {
    {"count_expressions", alive, METH_NOARGS,
     "count_expressions()\n--\n\nHow many expressions of dims are alive, for tests of what is forgotten."},
    {},
};

}  // namespace
}  // namespace dim_bind

DimObject::Cache& DimObject::values() {
  if (cache == nullptr || cache->epoch != Expression::epoch()) {
    const std::uint64_t epoch = Expression::epoch();
    cache = std::make_unique<Cache>(Cache{epoch, dim.values(), {}, {}});
  }
  return *cache;
}

LevelRef DimObject::level() {
  Cache& now = values();
  if (!now.level) {
    const Lengths* lengths = now.values.lengths.get();
    if (const auto* level_lengths = dynamic_cast<const LengthsOfLevel*>(lengths); level_lengths != nullptr) {
      now.level = level_lengths->object();
    } else if (lengths != nullptr) {
      now.level = LevelRef(lengths->level());
    } else {
      const std::vector<std::int64_t>& numbers = now.values.numbers;
      now.level = LevelRef(varlen::Level::from_lengths(numbers.data(), std::ssize(numbers)));
    }
  }
  return now.level;
}

DimObject& dim_of(py::handle object, const char* argument) {
  if (!DimOwner::is(object.ptr())) {
    raise_type(argument, "expected a Dim, got " + type_name(object));
  }
  return DimOwner::unwrap(object.ptr());
}

py::object new_dim(varlen::Dim dim, py::object name, std::int64_t match_priority) {
  return py::reinterpret_steal<py::object>(
      DimOwner::create({std::move(dim), std::move(name), match_priority}));
}

std::string kind_name(DimKind kind) {
  return dim_bind::kKinds[static_cast<std::size_t>(kind)];
}

DimKind kind_of(py::handle kind) {
  using dim_bind::kKinds;
  for (std::size_t k = 0; k < kKinds.size(); ++k) {
    if (PyUnicode_Check(kind.ptr()) && PyUnicode_CompareWithASCIIString(kind.ptr(), kKinds[k]) == 0) {
      return static_cast<DimKind>(k);
    }
  }
  raise_value("kind",
              "expected 'batch', 'spatial', 'feature' or 'unspecified', got " + std::string(py::repr(kind)));
}

std::shared_ptr<void> companion_of(py::object object) {
  if (!object || object.is_none()) return nullptr;
  return {object.release().ptr(), [](void* pointer) {
            if (Py_IsInitialized() == 0) return;
            const py::gil_scoped_acquire gil;
            Py_DECREF(static_cast<PyObject*>(pointer));
          }};
}

py::object object_of(const std::shared_ptr<void>& companion) {
  if (companion == nullptr) return py::none();
  return py::reinterpret_borrow<py::object>(static_cast<PyObject*>(companion.get()));
}

void bind_dim(py::module_& m) {
  using namespace dim_bind;
  DimOwner::make(m, "varlen._core.Dim", docs::kDim,
                 py::reinterpret_steal<py::object>(PyCFunction_New(&maker, nullptr)),
                 {{Py_tp_methods, dim_methods},
                  {Py_tp_getset, dim_properties},
                  {Py_tp_repr, reinterpret_cast<void*>(repr)},
                  {Py_tp_hash, reinterpret_cast<void*>(hash)},
                  {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
                  {Py_nb_add, reinterpret_cast<void*>(add)},
                  {Py_nb_subtract, reinterpret_cast<void*>(subtract)},
                  {Py_nb_multiply, reinterpret_cast<void*>(multiply)},
                  {Py_nb_floor_divide, reinterpret_cast<void*>(divide)},
                  {Py_nb_true_divide, reinterpret_cast<void*>(divide)},
                  {Py_nb_negative, reinterpret_cast<void*>(negative)}});
  // An array is no operand: NumPy would add its numbers one by one.
  m.attr("Dim").attr("__array_ufunc__") = py::none();
  if (PyModule_AddFunctions(m.ptr(), dim_functions) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
