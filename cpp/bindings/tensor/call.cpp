// A call with tensors in it, made with arrays over their memory.
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "followers.hpp"
#include "rooms.hpp"
#include "support/device.hpp"
#include "support/fastcall.hpp"
#include "support/hooks.hpp"
#include "support/ndarray.hpp"
#include "support/raise.hpp"
#include "tensor.hpp"

namespace varlen::bindings {

namespace {

constexpr std::size_t kMostArguments = 16;

/// The arguments of a call; those of a tensor are arrays, and owned.
class CallArguments {
 public:
  CallArguments() = default;
  CallArguments(const CallArguments&) = delete;
  CallArguments& operator=(const CallArguments&) = delete;
  ~CallArguments() {
    for (std::size_t i = 0; i < count_; ++i) Py_XDECREF(owners_[i]);
  }

  /// False where a tensor shows no memory.
  bool push(PyObject* argument) {
    py::object instead;
    if (!(PyList_CheckExact(argument) ? read_list(argument, instead) : read(argument, instead))) return false;
    PyObject* const replacement = instead.release().ptr();
    arguments_[count_ + 1] = replacement != nullptr ? replacement : argument;
    owners_[count_++] = replacement;
    return true;
  }

  [[nodiscard]] bool has_tensors() const noexcept { return has_tensors_; }

  /// The last arguments are those of the names.
  PyObject* call(PyObject* function, PyObject* names) {
    const std::size_t name_count = names != nullptr ? static_cast<std::size_t>(PyTuple_GET_SIZE(names)) : 0;
    return PyObject_Vectorcall(function, arguments_.data() + 1,
                               (count_ - name_count) | PY_VECTORCALL_ARGUMENTS_OFFSET, names);
  }

 private:
  /// What goes in the place of a tensor, or of an array of a device; nothing for other objects.
  bool read(PyObject* argument, py::object& instead) {
    if (is_tensor(argument)) {
      has_tensors_ = true;
      instead = placed_over(argument);
      return static_cast<bool>(instead);
    }
    if (is_tensor_subclass(argument)) return false;
    instead = placed_array(argument);
    return true;
  }
  bool read_list(PyObject* list, py::object& instead) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
      py::object item;
      if (!read(PyList_GET_ITEM(list, i), item)) return false;
      if (!item) continue;
      if (!instead)
        instead = py::reinterpret_steal<py::object>(PyList_GetSlice(list, 0, PyList_GET_SIZE(list)));
      if (!instead || PyList_SetItem(instead.ptr(), i, item.release().ptr()) != 0) {
        throw py::error_already_set();
      }
    }
    return true;
  }

  std::array<PyObject*, kMostArguments + 1> arguments_;  // the first is room that a call may use
  std::array<PyObject*, kMostArguments> owners_;
  std::size_t count_ = 0;
  bool has_tensors_ = false;
};

/// What a caller of tensors gets: an array as a tensor; the rest as it is.
py::object with_tensor(py::object result, bool has_tensors) {
  if (has_tensors && is_array(result.ptr(), Api::get()))
    return tensor_over(py::reinterpret_borrow<py::array>(result));
  return is_device_array(result.ptr()) ? device_array_in(result.ptr()).owner : result;
}

/// The same, in tuples as well.
py::object with_tensors(py::object result, bool has_tensors) {
  if (!PyTuple_CheckExact(result.ptr())) return with_tensor(std::move(result), has_tensors);
  const Py_ssize_t count = PyTuple_GET_SIZE(result.ptr());
  py::tuple items(count);
  for (Py_ssize_t i = 0; i < count; ++i) {
    auto item = py::reinterpret_borrow<py::object>(PyTuple_GET_ITEM(result.ptr(), i));
    PyTuple_SET_ITEM(items.ptr(), i, with_tensor(std::move(item), has_tensors).release().ptr());
  }
  return items;
}

PyObject* on_tensors(PyObject*, PyObject* const* args, Py_ssize_t positional, PyObject* names) noexcept {
  return guard([&] {
    const Py_ssize_t count = positional + (names != nullptr ? PyTuple_GET_SIZE(names) : 0);
    if (positional < 1 || static_cast<std::size_t>(count) > kMostArguments + 1) {
      raise_type("on_tensors",
                 "expected a function and at most " + std::to_string(kMostArguments) + " arguments");
    }
    CallArguments arguments;
    for (Py_ssize_t i = 1; i < count; ++i) {
      if (!arguments.push(args[i])) return Py_NewRef(Py_NotImplemented);
    }
    auto result = py::reinterpret_steal<py::object>(arguments.call(args[0], names));
    if (!result) throw py::error_already_set();
    return with_tensors(std::move(result), arguments.has_tensors()).release().ptr();
  });
}

/// Null where nobody follows the tensors of a call; None or NotImplemented, borrowed, where somebody does.
PyObject* follower_of(PyObject* const* args, Py_ssize_t count) {
  if (calls_are_followed()) return Py_NotImplemented;
  PyObject* follower = nullptr;
  const auto look = [&](PyObject* argument) {
    if (is_tensor_subclass(argument)) follower = Py_NotImplemented;
    if (follower == nullptr && is_tensor(argument) && wants_gradient(argument)) follower = Py_None;
  };
  for (Py_ssize_t i = 1; i < count; ++i) {
    look(args[i]);
    if (!PyList_CheckExact(args[i])) continue;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(args[i]); ++k) look(PyList_GET_ITEM(args[i], k));
  }
  return follower;
}

PyObject* on_plain_tensors(PyObject* self, PyObject* const* args, Py_ssize_t positional,
                           PyObject* names) noexcept {
  const Py_ssize_t count = positional + (names != nullptr ? PyTuple_GET_SIZE(names) : 0);
  PyObject* follower = nullptr;
  const bool has_result = guard([&] {
                            follower = follower_of(args, count);
                            return Py_True;
                          }) != nullptr;
  if (!has_result) return nullptr;
  return follower != nullptr ? Py_NewRef(follower) : on_tensors(self, args, positional, names);
}

PyObject* is_plain(PyObject*, PyObject* object) noexcept {
  return guard([&] { return Py_NewRef(is_plain_tensor(object) ? Py_True : Py_False); });
}

PyMethodDef call_methods[] = {
    {"on_tensors", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&on_tensors)),
     METH_FASTCALL | METH_KEYWORDS,
     "on_tensors(function, *args, **kwargs)\n--\n\n"
     "function(*args, **kwargs) with arrays over the memory of the tensors among them and in lists, and "
     "tensors for "
     "the "
     "arrays that it gives. NotImplemented, before the call, where a tensor does not show its memory on the "
     "CPU to "
     "NumPy, or is of a subclass."},
    {"on_plain_tensors", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&on_plain_tensors)),
     METH_FASTCALL | METH_KEYWORDS,
     "on_plain_tensors(function, *args, **kwargs)\n--\n\n"
     "`on_tensors` where nobody follows the tensors. None where autograd alone does, NotImplemented where "
     "others "
     "do."},
    {"is_plain_tensor", &is_plain, METH_O,
     "is_plain_tensor(object)\n--\n\n"
     "Whether it is a tensor, and neither autograd nor a transform, a derivative ahead, a mode, a tracer or "
     "a "
     "subclass of tensors follows what is computed of it."},
    {},
};

}  // namespace

void bind_tensor(py::module_& m) {
  hooks().tensor_types.take = &take_tensor_types;
  hooks().call_modes.take = &take_modes;
  hooks().forward_ad.take = &take_forward_ad;
  if (PyModule_AddFunctions(m.ptr(), call_methods) < 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
