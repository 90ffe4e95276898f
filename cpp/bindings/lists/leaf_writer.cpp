#include "leaf_writer.hpp"

#include <algorithm>

#include "support/arrays.hpp"

namespace varlen::bindings {

namespace {

std::byte* bytes_of(const py::object& array) {
  return reinterpret_cast<std::byte*>(fields_of(array.ptr())->data);
}

// bool < int64 < uint64 < float64: what a mixture is carried as. (uint64 with a negative is refused.)
int rank_of(Number carrier) noexcept {
  if (carrier == Number::boolean) return 0;
  if (carrier == Number::i64) return 1;
  return carrier == Number::u64 ? 2 : 3;
}

}  // namespace

LeafWriter::LeafWriter(std::int64_t total, Want want)
    : want_(want), total_(total), direct_(!want.narrow && !want.number) {
  if (want.number) {
    target_ = *want.number;
    has_target_ = true;
    values_ = allocate(target_);
  }
  capacity_ = direct_ ? total : kBlock;
  out_ = scratch_;
}

py::array LeafWriter::allocate(Number number) const {
  const Py_intptr_t shape[] = {static_cast<Py_intptr_t>(total_)};
  return empty(dtype_of(number).ptr(), 1, shape);
}

void LeafWriter::begin(Number carrier) {
  carrier_ = carrier;
  if (!direct_) return;
  values_ = allocate(carrier);
  out_ = bytes_of(values_);
}

void LeafWriter::refuse_rounded(Number from, const std::byte* data, std::int64_t stride, std::int64_t count,
                                std::int64_t place) const {
  if (want_.number) return;
  const std::int64_t bad = first_rounded(from, data, stride, count, want_.narrow ? Number::f32 : Number::f64);
  if (bad >= 0) throw Misfit{place + bad, Misfit::Why::rounding};
}

void LeafWriter::become(Number carrier) {
  if (carrier == carrier_) return;
  if (!direct_) {
    flush();
    carrier_ = carrier;
    return;
  }
  const py::object old_values = values_;
  const Number from = carrier_;
  if (carrier == Number::f64) refuse_rounded(from, bytes_of(old_values), width_of(from), scratch_count_, 0);
  begin(carrier);
  const std::int64_t bad =
      convert_numbers(from, bytes_of(old_values), width_of(from), scratch_count_, carrier, out_);
  if (bad >= 0) throw Misfit{bad, Misfit::Why::signs};
}

void LeafWriter::retarget(Number target) {
  if (has_target_ && target == target_) return;
  py::array new_values = allocate(target);
  if (has_target_ && stored_count_ > 0) {
    if (target == Number::f32)
      refuse_rounded(target_, bytes_of(values_), width_of(target_), stored_count_, 0);
    const std::int64_t bad = convert_numbers(target_, bytes_of(values_), width_of(target_), stored_count_,
                                             target, bytes_of(new_values));
    if (bad >= 0) throw Misfit{bad, Misfit::Why::signs};
  }
  values_ = std::move(new_values);
  target_ = target;
  has_target_ = true;
}

void LeafWriter::flush() {
  if (direct_ || scratch_count_ == 0) return;
  if (want_.narrow) {
    if (carrier_ == Number::boolean) {
      if (!has_target_) retarget(Number::boolean);
    } else if (carrier_ == Number::f64) {
      const std::int64_t bad =
          first_beyond_float32(reinterpret_cast<const double*>(scratch_), scratch_count_);
      if (bad >= 0) throw Misfit{stored_count_ + bad, Misfit::Why::float32};
      retarget(Number::f32);
    } else {
      if (carrier_ == Number::u64) {
        measure(reinterpret_cast<const std::uint64_t*>(scratch_), scratch_count_, extent_);
      } else {
        measure(reinterpret_cast<const std::int64_t*>(scratch_), scratch_count_, extent_);
      }
      if (!(has_target_ && target_ == Number::f32)) retarget(smallest_for(extent_));
    }
  }
  const std::int64_t bad = store_numbers(carrier_, scratch_, scratch_count_, target_,
                                         bytes_of(values_) + stored_count_ * width_of(target_));
  if (bad >= 0) throw Misfit{stored_count_ + bad, want_.narrow ? Misfit::Why::signs : Misfit::Why::target};
  stored_count_ += scratch_count_;
  scratch_count_ = 0;
}

void LeafWriter::put(Number from, const std::byte* data, std::int64_t stride, std::int64_t count) {
  const Number source_carrier = carrier_of(from);
  // A dtype that was asked for takes every kind as it is; otherwise the carrier only grows.
  if (want_.number ? source_carrier != carrier_ : rank_of(source_carrier) > rank_of(carrier_))
    become(source_carrier);
  alignas(64) std::byte block[256 * 8];
  for (std::int64_t start = 0; start < count;) {
    const std::int64_t n = std::min<std::int64_t>(room(count - start), 256);
    std::byte* output = out_ + scratch_count_ * width_of(carrier_);
    if (source_carrier == carrier_) {
      load_numbers(from, data + start * stride, stride, n, output);
    } else {
      if (carrier_ == Number::f64) refuse_rounded(from, data + start * stride, stride, n, position());
      load_numbers(from, data + start * stride, stride, n, block);
      const std::int64_t bad = store_numbers(source_carrier, block, n, carrier_, output);
      if (bad >= 0) throw Misfit{position() + bad, Misfit::Why::signs};
    }
    take(n);
    start += n;
  }
}

py::array LeafWriter::finish() {
  if (direct_) return py::reinterpret_borrow<py::array>(values_);
  flush();
  if (!has_target_) retarget(want_.narrow ? Number::boolean : target_);
  return py::reinterpret_borrow<py::array>(values_);
}

}  // namespace varlen::bindings
