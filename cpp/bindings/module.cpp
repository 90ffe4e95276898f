#include <pybind11/pybind11.h>

#include "rooms.hpp"
#include "support/raise.hpp"

PYBIND11_MODULE(_core, m) {
  using namespace varlen::bindings;
  m.doc() = "The compiled core of varlen.";
  m.attr("__version__") = VARLEN_VERSION;
  pybind11::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const varlen::Error& error) {
      set_error(error);
    }
  });
  bind_batch(m);
  bind_cast(m);
  bind_concat(m);
  bind_erase(m);
  bind_expand(m);
  bind_hash(m);
  bind_header(m);
  bind_file(m);  // needs Header
  bind_gather(m);
  bind_joint(m);
  bind_level(m);
  bind_lists(m);
  bind_mask(m);
  bind_maxout(m);
  bind_lstm(m);
  bind_outputs(m);
  bind_pack(m);
  bind_pack_rows(m);
  bind_pad(m);
  bind_lists_words(m);
  bind_pool(m);
  bind_ragged(m);
  bind_reduce(m);
  bind_scan(m);
  bind_shift(m);
  bind_scatter(m);
  bind_softmax(m);
  bind_sort(m);
  bind_span(m);
  bind_window(m);
}
