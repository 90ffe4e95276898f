// Each noun's bindings, one function a file: `bind_<noun>`.
#pragma once

#include <pybind11/pybind11.h>

namespace varlen::bindings {

// In the order in which they are called: files need Header, all else goes by the alphabet.
#define VARLEN_ROOMS(ROOM) \
  ROOM(arrow)              \
  ROOM(batch)              \
  ROOM(bins)               \
  ROOM(bits)               \
  ROOM(cast)               \
  ROOM(concat)             \
  ROOM(ctc)                \
  ROOM(device)             \
  ROOM(dim)                \
  ROOM(dim_shape)          \
  ROOM(edit)               \
  ROOM(einsum)             \
  ROOM(einsum_nest)        \
  ROOM(erase)              \
  ROOM(expand)             \
  ROOM(footprint)          \
  ROOM(gather)             \
  ROOM(hash)               \
  ROOM(header)             \
  ROOM(file)               \
  ROOM(hooks)              \
  ROOM(instructions)       \
  ROOM(joint)              \
  ROOM(level)              \
  ROOM(lists)              \
  ROOM(lists_words)        \
  ROOM(lstm)               \
  ROOM(mask)               \
  ROOM(maxout)             \
  ROOM(mix)                \
  ROOM(outputs)            \
  ROOM(pack)               \
  ROOM(pack_rows)          \
  ROOM(pad)                \
  ROOM(pool)               \
  ROOM(ragged)             \
  ROOM(reduce)             \
  ROOM(scan)               \
  ROOM(scatter)            \
  ROOM(shift)              \
  ROOM(softmax)            \
  ROOM(sort)               \
  ROOM(span)               \
  ROOM(tensor)             \
  ROOM(window)             \
  ROOM(words)

// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define VARLEN_DECLARE(noun) void bind_##noun(pybind11::module_& m);
VARLEN_ROOMS(VARLEN_DECLARE)
#undef VARLEN_DECLARE

}  // namespace varlen::bindings
