// The shape of nested lists: how deep, how long, and the way back from a place in the values to its path.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <vector>

#include "leaf.hpp"
#include "level/level.hpp"
#include "support/ndarray.hpp"

namespace varlen::bindings {

/// Asks for the line of memory at `address`, which is read later.
inline void ask_for(const void* address) noexcept {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

namespace py = pybind11;

/// Lists nest this deep at most: as many as NumPy has dimensions.
inline constexpr int kMaxDepth = 64;

/// Thrown where going on would need to call Python: the caller makes a private plain copy (see plain_copy)
/// and starts anew, so that no list can change under a walk.
struct NeedsPython {};

/// Levels are outermost first; `total` leaves (rows of arrays) lie below the last.
struct Shape {
  std::vector<NewLevel> levels;
  std::int64_t total = 0;
  bool any_array = false;  ///< rows that are arrays
  bool any_list = false;   ///< rows that are lists and not empty
  bool any_block = false;  ///< arrays of two dimensions and more

  [[nodiscard]] int depth() const noexcept { return static_cast<int>(levels.size()); }
};

/// How many levels lie under `root`, a list, tuple or array: as deep as the first leaf; where there is no
/// leaf, as deep as the lists go.
int depth_of(PyObject* root, const char* name);

/// The lengths of every level, exact allocations, one walk a level. Errors name the first bad node.
Shape shape_of(PyObject* root, int depth, const char* name);

/// "values[3][1]" for the item `place` below the first `levels` levels.
std::string path_of(const Shape& shape, int levels, std::int64_t place, const char* name);

/// A copy of the nesting in which arrays, numbers and private lists are all there is: array-likes become
/// arrays, sequences lists, objects with __index__ or __float__ numbers. Whatever else stays as it is.
py::object plain_copy(PyObject* object, int depth_left = kMaxDepth + 1);

/// Not a number, and not a list, whatever NumPy might think of it: None, text, bytes, dicts and sets.
bool never_a_number(PyObject* object) noexcept;

/// int, float, complex, bool, a NumPy scalar, or a subclass of one.
bool is_number(PyObject* object) noexcept;

[[noreturn]] void raise_deep(const char* name);

}  // namespace varlen::bindings
