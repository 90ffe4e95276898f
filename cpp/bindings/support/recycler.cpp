// Large arrays: their memory is the model's, which uses again what died lately.
#include <new>
#include <string>

#include "keep.hpp"
#include "ndarray.hpp"
#include "outputs.hpp"
#include "raise.hpp"
#include "varlen/model/memory.hpp"

namespace varlen::bindings {

py::array large_empty(const py::dtype& dtype, const Extents& shape, std::int64_t bytes) {
  try {
    Buffer memory(bytes);
    void* data = memory.data();
    return make_array(dtype.ptr(), static_cast<int>(shape.size()), shape.data(), nullptr, data,
                      owner_of(std::move(memory)).ptr());
  } catch (const std::bad_alloc&) {
    raise_memory("an array of " + std::to_string(bytes) + " bytes does not fit into memory");
  }
}

}  // namespace varlen::bindings
