// Each noun's bindings, one function a file.
#pragma once

#include <pybind11/pybind11.h>

namespace varlen::bindings {

void bind_batch(pybind11::module_& m);
void bind_bins(pybind11::module_& m);
void bind_cast(pybind11::module_& m);
void bind_concat(pybind11::module_& m);
void bind_ctc(pybind11::module_& m);
void bind_device(pybind11::module_& m);
void bind_dim(pybind11::module_& m);
void bind_dim_shape(pybind11::module_& m);
void bind_edit(pybind11::module_& m);
void bind_einsum(pybind11::module_& m);
void bind_einsum_nest(pybind11::module_& m);
void bind_erase(pybind11::module_& m);
void bind_expand(pybind11::module_& m);
void bind_file(pybind11::module_& m);
void bind_gather(pybind11::module_& m);
void bind_hash(pybind11::module_& m);
void bind_header(pybind11::module_& m);
void bind_hooks(pybind11::module_& m);
void bind_instructions(pybind11::module_& m);
void bind_joint(pybind11::module_& m);
void bind_level(pybind11::module_& m);
void bind_lists(pybind11::module_& m);
void bind_lists_words(pybind11::module_& m);
void bind_lstm(pybind11::module_& m);
void bind_mask(pybind11::module_& m);
void bind_maxout(pybind11::module_& m);
void bind_outputs(pybind11::module_& m);
void bind_pack(pybind11::module_& m);
void bind_pack_rows(pybind11::module_& m);
void bind_pad(pybind11::module_& m);
void bind_pool(pybind11::module_& m);
void bind_ragged(pybind11::module_& m);
void bind_reduce(pybind11::module_& m);
void bind_scan(pybind11::module_& m);
void bind_scatter(pybind11::module_& m);
void bind_shift(pybind11::module_& m);
void bind_softmax(pybind11::module_& m);
void bind_sort(pybind11::module_& m);
void bind_span(pybind11::module_& m);
void bind_tensor(pybind11::module_& m);
void bind_window(pybind11::module_& m);

}  // namespace varlen::bindings
