// The ways back of reductions that depend on the values.
#include <optional>
#include <string>

#include "level/level.hpp"
#include "reduce.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/operands.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

constexpr Signature<7> kBackpropReduce{
    "backprop_reduce", {"op", "d", "X", "level", "result", "ddof", "out"}, 4, 7};

/// Rows for the sequences, of the dtype of the values and beside them.
Numbers rows_for(PyObject* argument, const char* name, const Numbers& values, std::int64_t count) {
  Numbers rows = numbers_at(place_of(values.array), argument, name);
  const Extents shape = values.rows(count);
  const Extents has = shape_of(rows.array);
  if (text_of(has) != text_of(shape)) {
    raise_value(name, "expected " + text_of(shape) + ", a row for each sequence, got " + text_of(has));
  }
  if (rows.type != values.type) {
    raise_type(name, "expected " + str_of(values.array.dtype()) + " as X, got " + str_of(rows.array.dtype()));
  }
  return rows;
}

py::object backprop_reduced(const Arguments<7>& args) {
  const auto [given_op, d, x, given_level, given_result, ddof, given_out] = args;
  ReduceBackJob job;
  job.op = op_named(given_op);
  job.ddof = ddof_of(ddof);
  const Numbers values = placed_numbers_of(x, "X");
  if (!is_float(values.type)) {
    raise_type("X", "expected floats, got " + str_of(values.array.dtype()));
  }
  const LevelRef level_ref = level_over(given_level, "X", values.array.shape(0));
  Level& level = LevelRef::unwrap(level_ref);
  const Numbers gradients = rows_for(d, "d", values, level.count());
  std::optional<Numbers> result;
  if (is_given(given_result)) result = rows_for(given_result, "result", values, level.count());
  const Place place = place_of(values.array);
  const Extents shape = values.rows(values.array.shape(0));
  const py::dtype dtype = values.array.dtype();
  py::array out = out_at(place, given_out, dtype, shape, {x, values.array, d, given_result});
  job.type = values.type;
  job.level = offsets_at(place, level);
  job.longest = level.length_limit();
  job.columns = values.columns();
  job.values = data_of(values.array);
  job.gradients = data_of(gradients.array);
  if (result) job.result = data_of(result->array);
  const ScratchAt scratch(place, place.kernels->reduce_back_scratch(job, level.total()));
  launch(place, "backprop_reduce", values.array.nbytes(), &cuda::Kernels::reduce_back, job, level.total(),
         scratch.data(), bytes(out));
  return out;
}

void refuse_blocks(const Status& status, std::int64_t groups, const Offsets& blocks) {
  if (status.ok()) return;
  if (status.where == groups) {
    raise_value("groups", "there are " + std::to_string(groups) + ", but " + std::to_string(status.value) +
                              " sequences");
  }
  raise_value("groups", std::to_string(status.value) + " rows are no repeats of sequence " +
                            std::to_string(status.where) + ", which has " +
                            std::to_string(blocks.length(status.where)));
}

constexpr Signature<3> kBlocks{"reduce_blocks", {"d", "groups", "blocks"}, 3, 3};

py::object blocks_added(const Arguments<3>& args) {
  const Numbers d = placed_numbers_of(args[0], "d");
  const LevelRef given_groups = level_over(args[1], "d", d.array.shape(0));
  const LevelRef given_blocks = level_over(args[2], "blocks", -1);
  Level& groups = LevelRef::unwrap(given_groups);
  Level& blocks = LevelRef::unwrap(given_blocks);
  BlocksJob job;
  job.groups = groups.view();
  job.blocks = blocks.view();
  refuse_blocks(reduce_blocks_check(job.groups, job.blocks), job.groups.count, job.blocks);
  job.columns = d.columns();
  job.values = data_of(d.array);
  const Place place = place_of(d.array);
  py::array out = empty_at(place, summed_dtype(d), d.rows(blocks.total()));
  job.type = d.type;
  job.groups = offsets_at(place, groups);
  job.blocks = offsets_at(place, blocks);
  const cuda::BlocksSizes sizes{groups.total(), blocks.total(), groups.length_limit()};
  const ScratchAt scratch(place, place.kernels->reduce_blocks_scratch(job, sizes));
  launch(place, "reduce_blocks", d.array.nbytes(), &cuda::Kernels::reduce_blocks, job, sizes, scratch.data(),
         bytes(out));
  return out;
}

PyMethodDef reduce_back_methods[] = {
    method<kBlocks, blocks_added>("reduce_blocks(d, groups, blocks)\n--\n\n"
                                  "The repeats of each sequence of `blocks`, group by group, added up."),
    method<kBackpropReduce, backprop_reduced>(
        "backprop_reduce(op, d, X, level, result=None, ddof=0, out=None)\n--\n\n"
        "The gradient of prod, norm, logsumexp, var or std; `result` is what norm and std gave."),
    {},
};

}  // namespace

void add_reduce_back(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), reduce_back_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
