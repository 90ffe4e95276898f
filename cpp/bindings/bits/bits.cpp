#include "bits.hpp"

#include <memory>
#include <string>

#include "rooms.hpp"
#include "support/dtypes.hpp"
#include "support/raise.hpp"
#include "varlen/batch.hpp"
#include "varlen/file.hpp"
#include "varlen/model/memory.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen::bindings {

namespace bits_bind {

bool is_word(std::int64_t width) noexcept {
  return width == 1 || width == 2 || width == 4 || width == 8;
}

WordKind kind_of(const py::dtype& dtype) {
  const char kind = dtype.kind();
  if (kind == 'f' && dtype.itemsize() >= 4) return WordKind::real;
  return kind == 'i' || kind == 'm' || kind == 'M' ? WordKind::signed_number : WordKind::number;
}

py::tuple encode(py::handle values, std::int64_t place) {
  const py::array array = as_rows(values, "values");
  const std::int64_t width = array.itemsize();
  if (!is_word(width))
    raise_type("values", "expected words of 1, 2, 4 or 8 bytes, got " + type_name(array.dtype()));
  at_least(0, place, "place");
  const std::int64_t count = array.size();
  py::array blocks = empty(py::dtype::of<std::uint8_t>(), {count * width});
  py::array records =
      empty(py::dtype::of<std::uint8_t>(), {BitBlocks{nullptr, 0, count, width}.blocks() * kRecordBytes});
  const WordKind kind = kind_of(array.dtype());
  std::int64_t size = 0;
  {
    std::byte* const to = bytes(blocks);
    std::byte* const record_bytes = bytes(records);
    const std::byte* const from = data_of(array);
    const GilRelease gil_release(count * width * 16);
    size = encode_bits(from, count, width, kind, place, to, record_bytes);
  }
  return py::make_tuple(rows_between(blocks, 0, size), records);
}

}  // namespace bits_bind

BitsObject::BitsObject(py::handle data, std::int64_t count, std::int64_t width) {
  data_ = as_rows(data, "data");
  if (data_.ndim() != 1 || data_.itemsize() != 1) raise_value("data", "expected bytes, of one dimension");
  if (!bits_bind::is_word(width)) raise_value("width", "expected 1, 2, 4 or 8, got " + std::to_string(width));
  at_least(0, count, "count");
  blocks_ = {data_of(data_), data_.size(), count, width};
}

BitsObject::~BitsObject() {
  if (PyGILState_Check() != 0) return;
  const py::gil_scoped_acquire gil;
  data_.release().dec_ref();
}

py::array BitsObject::read(py::handle begins, py::handle ends) const {
  const Ints from = as_own_ints(begins, "begins");
  const Ints to = as_own_ints(ends, "ends");
  if (from.count != to.count) raise_value("ends", "as many as begins are needed");
  std::int64_t sum = 0;
  raise_if(sum_ranges(blocks_.count, from.data, to.data, from.count, sum), "ends");
  Scratch<Range> ranges(from.count);
  Scratch<std::int64_t> run_ends(from.count);
  std::int64_t end = 0;
  for (std::int64_t i = 0; i < from.count; ++i) {
    ranges.data()[i] = {from.data[i], to.data[i]};
    end += to.data[i] - from.data[i];
    run_ends.data()[i] = end;
  }
  std::int64_t size = 0;
  if (!checked_mul(sum, blocks_.width, size)) raise_overflow("ends", "the ranges do not fit 63 bits");
  py::array out = empty(py::dtype::of<std::uint8_t>(), {size});
  Feed feed{{nullptr, blocks_.count, blocks_.width}, 0, {}};
  feed.bits = &blocks_;
  varlen::Place place;
  Status status;
  {
    std::byte* const bytes_out = bytes(out);
    const GilRelease gil_release(size);
    status = batch_rows(&feed, {nullptr, nullptr, from.count}, ranges.data(), run_ends.data(), blocks_.width,
                        bytes_out, place);
  }
  raise_if(status, "");
  return out;
}

void bind_bits(py::module_& m) {
  py::class_<BitsObject, std::shared_ptr<BitsObject>>(
      m, "Bits", "Numbers in blocks of bits; `data` has the blocks and, behind them, their records.")
      .def(py::init<py::handle, std::int64_t, std::int64_t>(), py::arg("data"), py::arg("count"),
           py::arg("width"))
      .def("read", &BitsObject::read, py::arg("begins"), py::arg("ends"),
           "uint8 array: the numbers of all ranges, `width` bytes each, end to end.");
  refuse_pickling(m.attr("Bits"));
  m.def("encode_bits", &bits_bind::encode, py::arg("values"), py::arg("place") = 0,
        "(blocks, records) of the values, uint8; the first block lies at `place` of its entry.");
}

}  // namespace varlen::bindings
