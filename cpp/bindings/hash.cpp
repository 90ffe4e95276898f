#include "varlen/hash.hpp"

#include <limits>
#include <string>

#include "gather/gather.hpp"
#include "level/level.hpp"
#include "rooms.hpp"
#include "support/device.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/operands.hpp"
#include "support/raise.hpp"
#include "window/window.hpp"

namespace varlen::bindings {

namespace {

/// Keys of 64 bits: integers of any dtype, none below zero. Those of a device stay what they are, and nobody
/// looks at them.
Numbers keys_of(PyObject* argument, const char* name) {
  const py::object host_array = seen_argument(argument);
  Numbers keys = host_array ? numbers_of(host_array.ptr(), name) : placed_numbers_of(argument, name);
  if (keys.array.ndim() != 1) {
    raise_value(name, "expected one dimension, got " + std::to_string(keys.array.ndim()));
  }
  if (keys.type == Type::b1 || is_float(keys.type)) {
    raise_type(name, "expected integers, got dtype " + str_of(keys.array.dtype()));
  }
  if (!host_array) return keys;
  if (keys.type == Type::u64) return {as_placed_rows(keys.array, name), Type::u64};
  const Fill no_fill;
  const Convert how = convert_of(keys.array, py::dtype::of<std::uint64_t>(), no_fill, name);
  py::array wide = empty(py::dtype::of<std::uint64_t>(), {keys.array.shape(0)});
  cast(how, data_of(keys.array), keys.array.size(), bytes(wide));
  return {as_placed_rows(wide, name), Type::u64};
}

constexpr Signature<3> kNgrams{"ngrams", {"n", "keys", "lengths"}};

py::object ngrams_of(const Arguments<3>& args) {
  const std::int64_t n = whole_of(args[0], "n", 1, 1);
  const Numbers keys = keys_of(args[1], "keys");
  const LevelRef level = level_over(args[2], "keys", keys.array.shape(0));
  NewLevel counts(level->count());
  ngram_counts(level->view(), n, counts.ends());
  const LevelRef grams = std::move(counts).finish();
  const Place place = place_of(keys.array);
  py::array result = empty_at(place, py::dtype::of<std::uint64_t>(), {grams->total()});
  auto* const to = static_cast<std::uint64_t*>(result.mutable_data());
  launch(place, "ngrams", 4 * result.nbytes(), &cuda::Kernels::ngrams,
         offsets_at(place, LevelRef::unwrap(level)), offsets_at(place, LevelRef::unwrap(grams)),
         grams->total(), n, keys.type, data_of(keys.array), level->total(), to);
  return py::make_tuple(result, grams);
}

constexpr Signature<2> kHash{"hash", {"ids", "seed"}};

py::object hash_of(const Arguments<2>& args) {
  const Numbers ids = keys_of(args[0], "ids");
  const std::int64_t seed = whole_of(args[1], "seed", 0, 0);
  if (seed > std::numeric_limits<std::uint32_t>::max()) {
    raise_overflow("seed", std::to_string(seed) + " does not fit 32 bits");
  }
  const std::int64_t count = ids.array.shape(0);
  const Place place = place_of(ids.array);
  py::array result = empty_at(place, py::dtype::of<std::uint32_t>(), {count, 4});
  auto* const to = static_cast<std::uint32_t*>(result.mutable_data());
  launch(place, "hash", result.nbytes(), &cuda::Kernels::hash, ids.type, data_of(ids.array), count,
         static_cast<std::uint32_t>(seed), to);
  return result;
}

PyMethodDef hash_methods[] = {
    method<kNgrams, ngrams_of>("ngrams(n, keys, lengths)\n--\n\n"
                               "A hash of every n consecutive keys of a sequence, and the level of them."),
    method<kHash, hash_of>("hash(ids, seed)\n--\n\nFour hashes of 32 bits for each id."),
    {},
};

}  // namespace

void bind_hash(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), hash_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
