// What the core asks of Python. It imports no module of varlen: `register` tells it of each of these, and
// `find` of those that are not there when they are first asked.
#pragma once

#include <pybind11/pybind11.h>

#include <utility>
#include <vector>

namespace varlen::bindings {

namespace py = pybind11;

/// An object that Python registers by a name. It lives until another takes its place.
class Hook {
 public:
  Hook(std::vector<Hook*>& all, const char* name) : name_(name) { all.push_back(this); }

  [[nodiscard]] const char* name() const noexcept { return name_; }
  /// What was registered, borrowed; null where nothing was.
  [[nodiscard]] PyObject* peek() const noexcept { return object_; }
  /// What was registered, or what is found by its name.
  [[nodiscard]] py::handle get();
  template <class... Args>
  py::object operator()(Args&&... args) {
    const auto callee = py::reinterpret_borrow<py::object>(get());
    return callee(std::forward<Args>(args)...);
  }
  /// None takes away what was there.
  void set(const py::object& value);

  /// What a noun does with an object that is registered, before it is kept; null is None. May raise.
  void (*take)(PyObject* value) = nullptr;

 private:
  const char* name_;
  PyObject* object_ = nullptr;
};

struct Hooks {
  std::vector<Hook*> all;

  /// find(name): the object for a hook of this name.
  Hook find{all, "find"};

  // Classes of errors.
  Hook file_format_error{all, "FileFormatError"};
  Hook length_mismatch_error{all, "LengthMismatchError"};
  Hook stale_file_error{all, "StaleFileError"};

  // What dims and levels are made of, and shown as.
  Hook as_lengths{all, "as_lengths"};        ///< as_lengths(container, over): lengths, and the dims over them
  Hook as_vocabulary{all, "as_vocabulary"};  ///< as_vocabulary(labels)
  Hook mask_of_dim{all, "mask_of_dim"};      ///< mask_of_dim(dim, dims)
  Hook backend_of{all, "backend_of"};        ///< backend_of(array): registers the library of its first array

  // Devices.
  Hook load_kernels{all, "load_kernels"};    ///< load_kernels(): registers `kernels`; called once
  Hook kernels{all, "kernels"};              ///< a capsule of the table of kernels for devices
  Hook host_kernels{all, "host_kernels"};    ///< such kernels for the memory of the host, to try them on
  Hook array_library{all, "array_library"};  ///< has `array`, `empty`, `contiguous` and `current`; all stay

  // The library of tensors.
  Hook tensor_types{all, "tensor_types"};    ///< exact types, the base first
  Hook from_numpy{all, "from_numpy"};        ///< from_numpy(array): a tensor, where DLPack cannot make it
  Hook byte_dtypes{all, "byte_dtypes"};      ///< its int8 and uint8
  Hook out_of_memory{all, "out_of_memory"};  ///< its error where a device has no more
  Hook level_tensor{all, "level_tensor"};    ///< level_tensor(offsets): what `Level._tensor` is
  Hook read_tensor{all, "read_tensor"};  ///< read_tensor(tensor, name): numbers of a followed one, or a Level

  // Who follows what is computed of tensors.
  Hook call_modes{all, "call_modes"};            ///< functions that count or say yes where calls are followed
  Hook in_transform{all, "in_transform"};        ///< whether a transform is active
  Hook is_grad_enabled{all, "is_grad_enabled"};  ///< whether autograd records
  Hook forward_ad{all, "forward_ad"};            ///< the module whose `_current_level` says of forward mode

  // What a tracer of Python reads in the place of what it cannot follow into C.
  Hook traced_level{all, "traced_level"};      ///< of Level(lengths)
  Hook traced_getitem{all, "traced_getitem"};  ///< of r[key]
  Hook traced_len{all, "traced_len"};          ///< of len(r)
};

[[nodiscard]] Hooks& hooks();

}  // namespace varlen::bindings
