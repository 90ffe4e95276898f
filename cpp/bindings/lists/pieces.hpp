// The arrays of a list as pieces of memory: checked, promoted to one dtype, read field by field.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "support/ndarray.hpp"
#include "varlen/pieces.hpp"

namespace varlen::bindings {

/// Pieces of one dtype and one shape behind axis 0. The arrays are borrowed from the list (or kept here):
/// while pieces are in use, either the GIL is held or `hold` was called.
class Pieces {
 public:
  /// `offsets`, if given, gets count + 1 entries. Errors name the array: "arrays[3]: ...".
  /// `drop_empty`: where they are not alike, arrays without elements do not count.
  Pieces(PyObject* const* items, Py_ssize_t count, const char* name, std::int64_t* offsets = nullptr,
         bool drop_empty = false);

  [[nodiscard]] Piece* data() noexcept { return pieces_; }
  [[nodiscard]] const Piece* data() const noexcept { return pieces_; }
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] std::int64_t total() const noexcept { return total_; }
  [[nodiscard]] std::int64_t longest() const noexcept { return longest_; }
  /// Bytes of a row.
  [[nodiscard]] std::int64_t width() const noexcept { return width_; }
  [[nodiscard]] std::int64_t itemsize() const noexcept;
  [[nodiscard]] PyObject* descr() const noexcept { return descr_; }
  [[nodiscard]] int nd() const noexcept { return nd_; }
  /// Shape of one array; the first entry means nothing.
  [[nodiscard]] const Py_intptr_t* shape() const noexcept { return shape_; }

  /// All rows end to end, in `out` where it is given. `offsets` are those that the pieces were made with.
  [[nodiscard]] py::array flat(const std::int64_t* offsets, PyObject* out);

  /// From now on with `gap` rows of zero bytes before every piece that has rows, and behind the last.
  /// `offsets` become theirs.
  void space(std::int64_t gap, std::vector<std::int64_t>& offsets);

  /// From now on the same rows in `values`, an array that the caller keeps.
  void rebase(const py::object& values);

  /// Takes a reference to every array, so that the GIL can be released.
  void hold();

 private:
  bool collect(PyObject* const* items, std::int64_t* offsets);
  void normalise(PyObject* const* items, const char* name, bool drop_empty);

  static constexpr Py_ssize_t kInPlace = 128;
  PyObject* const* items_;
  std::int64_t input_count_;
  std::int64_t count_;
  std::int64_t total_ = 0;
  std::int64_t longest_ = 0;
  std::int64_t width_ = 0;
  int nd_ = 1;
  PyObject* descr_ = nullptr;
  py::object keep_descr_;
  const Py_intptr_t* shape_ = nullptr;
  std::vector<py::object> keep_;
  std::vector<PyObject*> own_;
  std::vector<std::byte> gap_;
  alignas(Piece) std::byte in_place_[kInPlace * sizeof(Piece)];  // not initialised: 2 KB a call would show
  std::unique_ptr<Piece[]> heap_;
  Piece* pieces_;
};

/// `out` where it is writeable, C-contiguous, of the pieces' dtype and this shape, and not in their memory;
/// `shape[wider]` may be larger in it, and is then set to what it is (no axis if wider is below 0).
py::array checked_out(PyObject* out, const Pieces& pieces, int nd, Py_intptr_t* shape, int wider);

/// Long pieces are worth a reference each to let other threads run meanwhile; many short ones are copied
/// quicker than counted.
inline bool may_unlock(std::int64_t bytes, std::int64_t count) {
  return bytes / 1024 >= count;
}

/// An array, or a scalar of NumPy, in the dtype that it shares with others, C-contiguous. A value that does
/// not come back from it is refused: integers that floats round, times beyond the range of a finer unit,
/// numbers that would become times.
py::object as_common(const py::object& array, const py::object& dtype, const std::string& name);

}  // namespace varlen::bindings
