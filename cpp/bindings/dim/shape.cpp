// `_core.Shape`: dims in the order in which values lie, and the plans of ops on them.
#include "varlen/model/shape.hpp"

#include <pybind11/stl.h>

#include <deque>
#include <map>
#include <tuple>

#include "dim/dim.hpp"
#include "dim/docs.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/fastcall.hpp"
#include "support/keep.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace shape_bind {
namespace {

struct ShapeObject {
  ShapeRef shape;
  py::tuple dims;  ///< as they are in Python

  ShapeObject(ShapeRef model, py::tuple objects) : shape(std::move(model)), dims(std::move(objects)) {}
  ShapeObject(const ShapeObject&) = delete;
  ShapeObject& operator=(const ShapeObject&) = delete;
  ShapeObject(ShapeObject&&) noexcept = default;
  ShapeObject& operator=(ShapeObject&&) = delete;
  ~ShapeObject() {
    if (shape != nullptr) shape->set_companion(nullptr);
  }
};

using ShapeOwner = Own<ShapeObject>;

ShapeObject& shape_of(PyObject* object, const char* argument) {
  if (!ShapeOwner::is(object)) {
    raise_type(argument, "expected a Shape, got " + type_name(object));
  }
  return ShapeOwner::unwrap(object);
}

Axis axis_of(py::handle object, const char* argument) {
  const DimObject& dim = dim_of(object, argument);
  return {dim.dim, dim.match_priority};
}

std::vector<Axis> axes_of(PyObject* dims) {
  if (!PyTuple_Check(dims) && !PyList_Check(dims)) {
    raise_type("dims", "expected a sequence of dims, got " + type_name(dims));
  }
  std::vector<Axis> axes;
  for (const py::handle item : py::handle(dims)) axes.push_back(axis_of(item, "dims"));
  return axes;
}

/// The one Python object of a shape; `dims` gives its dims where there is none yet.
template <class Dims>
py::object object_of(const ShapeRef& shape, Dims dims) {
  if (void* const entry = shape->companion(); entry != nullptr) {
    return py::reinterpret_borrow<py::object>(static_cast<PyObject*>(entry));
  }
  PyObject* const new_shape = ShapeOwner::create({shape, dims()});
  shape->set_companion(new_shape);
  return py::reinterpret_steal<py::object>(new_shape);
}

/// The dims of a shape that was made of others: as they are there, under their names where lengths changed.
py::object object_from(const ShapeRef& shape, std::initializer_list<const ShapeObject*> origins) {
  return object_of(shape, [&] {
    py::tuple dims(shape->rank());
    for (std::size_t k = 0; k < shape->rank(); ++k) {
      const Axis& axis = shape->axes()[k];
      py::object match;
      py::object name;
      for (const ShapeObject* origin : origins) {
        const std::size_t position = origin->shape->find(axis);
        if (position == origin->shape->rank()) continue;
        const py::object dim = origin->dims[position];
        DimObject& entry = DimOwner::unwrap(dim.ptr());
        if (!name) name = entry.name;
        if (entry.dim.bindings() == axis.dim.bindings() && entry.match_priority == axis.priority) match = dim;
        if (match) break;
      }
      dims[k] = match ? match : new_dim(axis.dim, name, axis.priority);
    }
    return dims;
  });
}

/// Plans that were made lately. What is no longer kept is made again.
class Plans {
 public:
  using Key = std::tuple<const Shape*, const Shape*, std::uint64_t>;

  static Plans& all() {
    static Plans* const plans = new Plans();  // outlives the interpreter
    return *plans;
  }

  template <class Make>
  py::object get(const ShapeObject& a, const ShapeObject& b, std::uint64_t what, Make make) {
    if (const std::uint64_t epoch = Expression::epoch(); epoch != epoch_) {
      const std::map<Key, Plan> dead = std::move(plans_);  // what was declared since may have made dims equal
      plans_.clear();
      keys_.clear();
      bytes_ = 0;
      epoch_ = epoch;
    }
    const Key key{a.shape.get(), b.shape.get(), what};
    if (const auto position = plans_.find(key); position != plans_.end()) return position->second.plan;
    std::int64_t bytes = 0;
    py::object plan = make(bytes);
    if (bytes > kMostBytes / 4) return plan;
    keys_.push_back(key);
    bytes_ += bytes;
    plans_.insert_or_assign(key, Plan{plan, a.shape, b.shape, bytes});
    while (keys_.size() > kMaxPlans || bytes_ > kMostBytes) {
      const auto oldest = plans_.find(keys_.front());
      keys_.pop_front();
      if (oldest == plans_.end()) continue;
      const Plan dead = std::move(oldest->second);  // dies when the table is whole again
      bytes_ -= dead.bytes;
      plans_.erase(oldest);
    }
    return plan;
  }

 private:
  static constexpr std::size_t kMaxPlans = 256;
  static constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;

  struct Plan {
    py::object plan;
    ShapeRef a;
    ShapeRef b;
    std::int64_t bytes;
  };
  std::map<Key, Plan> plans_;
  std::deque<Key> keys_;
  std::uint64_t epoch_ = 0;
  std::int64_t bytes_ = 0;
};

template <class Numbers>
py::object tuple_or_none(const Numbers& numbers) {
  if (numbers.empty()) return py::none();
  return py::tuple(py::cast(numbers));
}

py::object places_object(Scratch<std::int64_t>&& places, std::int64_t& bytes) {
  Buffer memory = std::move(places).memory();
  bytes += memory.size();
  const py::ssize_t count = memory.size() / static_cast<py::ssize_t>(sizeof(std::int64_t));
  void* const data = memory.data();
  return frozen(make_array(py::dtype::of<std::int64_t>().ptr(), 1, &count, nullptr, data,
                           owner_of(std::move(memory)).ptr()));
}

constexpr Signature<1> kShape{"Shape", {"dims"}};

py::object new_shape(const Arguments<1>& args) {
  const ShapeRef shape = Shape::of(axes_of(args[0]));
  return object_of(shape, [&] { return py::tuple(py::reinterpret_borrow<py::object>(args[0])); });
}

PyMethodDef maker = method<kShape, new_shape>(nullptr);

constexpr Signature<2> kArrange{"arranged", {"dims", "static_last"}, 1};

py::object arrange_dims(const Arguments<2>& args) {
  const bool is_static_last = is_given(args[1]) && truth_of(args[1], "static_last");
  return py::tuple(py::cast(Shape::arrange(axes_of(args[0]), is_static_last)));
}

PyObject* find(PyObject* self, PyObject* dim) noexcept {
  return guard([&] {
    const Shape& shape = *ShapeOwner::unwrap(self).shape;
    const std::size_t position = shape.place_of(axis_of(dim, "dim"));
    return PyLong_FromLongLong(position == shape.rank() ? -1 : static_cast<long long>(position));
  });
}

std::size_t index_in(const Shape& shape, PyObject* object, std::size_t end, const char* argument) {
  const std::int64_t k = int_of(object, argument);
  if (k < 0 || k >= static_cast<std::int64_t>(end)) {
    raise_index(argument,
                std::to_string(k) + " is out of range for " + std::to_string(shape.rank()) + " dims",
                std::nullopt, k);
  }
  return static_cast<std::size_t>(k);
}

PyObject* count(PyObject* self, PyObject* k) noexcept {
  return guard([&] {
    const Shape& shape = *ShapeOwner::unwrap(self).shape;
    return PyLong_FromLongLong(shape.count(index_in(shape, k, shape.rank() + 1, "k")));
  });
}

PyObject* extent(PyObject* self, PyObject* k) noexcept {
  return guard([&] {
    const Shape& shape = *ShapeOwner::unwrap(self).shape;
    return PyLong_FromLongLong(shape.extent(index_in(shape, k, shape.rank(), "k")));
  });
}

PyObject* is_ragged(PyObject* self, PyObject* k) noexcept {
  return guard([&] {
    const Shape& shape = *ShapeOwner::unwrap(self).shape;
    return PyBool_FromLong(shape.is_ragged(index_in(shape, k, shape.rank(), "k")) ? 1 : 0);
  });
}

constexpr Signature<2> kSpan{"span", {"first", "end"}};

py::object span(PyObject* self, const Arguments<2>& args) {
  const Shape& shape = *ShapeOwner::unwrap(self).shape;
  const std::size_t first = index_in(shape, args[0], shape.rank() + 1, "first");
  const std::size_t end = index_in(shape, args[1], shape.rank() + 1, "end");
  if (end < first) raise_value("end", "expected at least first");
  return LevelRef(shape.span(first, end));
}

PyObject* align(PyObject* self, PyObject* other_object) noexcept {
  return guard([&]() -> PyObject* {
    ShapeObject& target = ShapeOwner::unwrap(self);
    ShapeObject& other = shape_of(other_object, "other");
    if (target.shape == other.shape) Py_RETURN_NONE;
    return Plans::all()
        .get(target, other, 0,
             [&](std::int64_t& bytes) -> py::object {
               Shape::Alignment plan = target.shape->alignment_of(*other.shape);
               py::object rows = py::none();
               if (plan.repeats) rows = LevelRef(*plan.repeats);
               if (plan.places) rows = places_object(std::move(*plan.places), bytes);
               return py::make_tuple(tuple_or_none(plan.permutation), tuple_or_none(plan.flat), rows,
                                     tuple_or_none(plan.shape));
             })
        .release()
        .ptr();
  });
}

PyObject* join(PyObject* self, PyObject* other_object) noexcept {
  return guard([&] {
    ShapeObject& a = ShapeOwner::unwrap(self);
    ShapeObject& b = shape_of(other_object, "other");
    if (a.shape == b.shape) return Py_NewRef(self);
    return Plans::all()
        .get(a, b, 1,
             [&](std::int64_t&) {
               return object_from(Shape::union_of(a.shape, b.shape), {&a, &b});
             })
        .release()
        .ptr();
  });
}

constexpr Signature<1> kGroup{"group", {"places"}};

py::object group(PyObject* object, const Arguments<1>& args) {
  ShapeObject& self = ShapeOwner::unwrap(object);
  const Shape& shape = *self.shape;
  std::vector<bool> is_reduced(shape.rank(), false);
  std::uint64_t mask = 0;
  for (const py::handle place : py::reinterpret_borrow<py::object>(args[0])) {
    const std::size_t k = index_in(shape, place.ptr(), shape.rank(), "places");
    is_reduced[k] = true;
    if (k < 62) mask |= std::uint64_t{1} << k;
  }
  const auto make = [&](std::int64_t& bytes) -> py::object {
    Shape::Group plan = shape.group(is_reduced);
    py::object order = py::none();
    if (plan.order) order = places_object(std::move(*plan.order), bytes);
    return py::make_tuple(tuple_or_none(plan.permutation), plan.front, LevelRef(plan.level), order,
                          object_from(plan.rest, {&self}));
  };
  std::int64_t bytes = 0;
  if (shape.rank() > 60) return make(bytes);
  return Plans::all().get(self, self, 2 + mask, make);
}

PyObject* reduce(PyObject* self, PyObject*) noexcept {
  return guard([&] {
    const py::handle type(reinterpret_cast<PyObject*>(ShapeOwner::type));
    return py::make_tuple(type, py::make_tuple(ShapeOwner::unwrap(self).dims)).release().ptr();
  });
}

PyObject* epoch(PyObject*, PyObject*) noexcept {
  return PyLong_FromUnsignedLongLong(Expression::epoch());
}

PyObject* repr(PyObject* self) noexcept {
  return guard(
      [&] { return py::str("Shape{}").format(py::repr(ShapeOwner::unwrap(self).dims)).release().ptr(); });
}

template <auto body>
PyGetSetDef property(const char* name, const char* doc) {
  return {name, ShapeOwner::get<body>, nullptr, doc, nullptr};
}

PyGetSetDef shape_properties[] = {
    property<[](ShapeObject& s) -> py::object { return s.dims; }>(
        "dims", "The dims in the order in which values lie, a tuple."),
    property<[](ShapeObject& s) { return static_cast<std::int64_t>(s.shape->rank()); }>("rank",
                                                                                        "How many dims."),
    property<[](ShapeObject& s) { return static_cast<std::int64_t>(s.shape->ragged()); }>(
        "ragged", "How many dims are counted by rows: all up to the last whose lengths differ."),
    property<[](ShapeObject& s) -> py::object { return py::tuple(py::cast(s.shape->array_shape())); }>(
        "array_shape", "The shape of an array of values."),
    {},
};

PyMethodDef shape_methods[] = {
    {"find", find, METH_O,
     "find($self, dim, /)\n--\n\nWhere a dim is, -1 where it is not; of two that are equal the one of its "
     "priority, else the one of the greater."},
    {"count", count, METH_O, "count($self, k, /)\n--\n\nHow many positions the first k dims have."},
    {"extent", extent, METH_O,
     "extent($self, k, /)\n--\n\nHow many positions the dim k has; of a ragged one the most."},
    {"is_ragged", is_ragged, METH_O,
     "is_ragged($self, k, /)\n--\n\nWhether dims before the dim k say how many positions it has."},
    method_on<kSpan, span>(
        "span($self, first, end)\n--\n\nThe Level of the positions of the dims from `first` up "
        "to `end`, in each position of those before."),
    {"align", align, METH_O,
     "align($self, other, /)\n--\n\nHow values of another shape, whose dims are all here, broadcast against "
     "those "
     "of this one: (axes to transpose, shape with one axis of rows, Level to repeat them by or places to "
     "take, "
     "shape then), of which each may be None; None where nothing is to be done."},
    {"join", join, METH_O,
     "join($self, other, /)\n--\n\nThe Shape of the dims of both: one of the two where that has all."},
    method_on<kGroup, group>(
        "group($self, places)\n--\n\nPositions that differ only in the dims at these places: "
        "(axes to transpose or None, how many dims are rows then, Level, order of the rows or "
        "None, Shape of the rest)."),
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {"epoch", epoch, METH_NOARGS | METH_STATIC,
     "epoch()\n--\n\nA number that grows when dims are declared the same, which makes plans out of date."},
    method<kArrange, arrange_dims>(
        "arranged(dims, static_last=False)\n--\n\nThe nearest order in which a Shape can "
        "have these dims, as places among them.",
        METH_STATIC),
    {},
};

}  // namespace
}  // namespace shape_bind

void bind_dim_shape(py::module_& m) {
  using namespace shape_bind;
  ShapeOwner::make(
      m, "varlen._core.Shape",
      "Shape(dims)\n--\n\nDims in the order in which values of them lie in memory: those that others "
      "are over first.\n",
      py::reinterpret_steal<py::object>(PyCFunction_New(&maker, nullptr)),
      {{Py_tp_methods, shape_methods},
       {Py_tp_getset, shape_properties},
       {Py_tp_repr, reinterpret_cast<void*>(repr)}});
}

}  // namespace varlen::bindings
