#include "pad.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "cast/cast.hpp"
#include "joint/joint.hpp"
#include "level/level.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/index.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/gather.hpp"
#include "varlen/model/memory.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen::bindings {

namespace {

/// False: no such output. True: a fresh one. An array: that one, checked.
py::object make_output(const Place& place, py::handle request, std::string_view name, const Extents& shape,
                       Inputs inputs, std::int64_t max_bytes, std::int64_t& total_bytes) {
  if (request.ptr() == Py_False || request.is_none()) return py::none();
  const py::dtype dtype = py::dtype::of<bool>();
  if (request.ptr() != Py_True) return checked_out_at(place, name, request, dtype, shape, inputs);
  padded_bytes(name, dtype, shape, max_bytes, total_bytes);
  return empty_at(place, dtype, shape);
}

py::array array_in(const py::object& output) {
  return py::reinterpret_borrow<py::array>(output);
}

std::byte* bytes_of(const py::object& output) {
  return static_cast<std::byte*>(array_in(output).mutable_data());
}

/// The rectangle, with what else there is behind it.
py::object outputs_of(const py::object& out, const py::object& marks, const py::object& nans,
                      const py::object& places) {
  if (!places.is_none()) return py::make_tuple(out, marks, places);
  if (marks.is_none() && nans.is_none()) return out;
  if (nans.is_none()) return py::make_tuple(out, marks);
  if (marks.is_none()) return py::make_tuple(out, nans);
  return py::make_tuple(out, marks, nans);
}

/// Sequences of the values as the rows of a rectangle, each as often as it is named.
struct Selection {
  Levels from;                ///< those of the values
  PlacedInts placed_indices;  ///< on a device, where they may have been made
  Scratch<Range> ranges;
  std::int64_t count = 0;

  /// Their rows, of values that are laid out as those were.
  [[nodiscard]] Scratch<Segment> segments(const Rows& rows) const {
    Scratch<Segment> result(static_cast<std::int64_t>(ranges.size()));
    pad_segments_of(ranges.data(), count, from.views.data() + 1, rows, result.data());
    return result;
  }
};

Selection selection_of(const Place& place, PyObject* given_source, PyObject* given_indices,
                       const py::array& values) {
  Selection result;
  const py::object host_indices = seen_argument(given_indices);
  result.from = levels_of(given_source, values.shape(0), host_indices ? Place{} : place);
  if (!host_indices) {
    result.placed_indices = ints_of_device(place, given_indices, "indices");
    result.count = result.placed_indices.count;
    return result;
  }
  const Offsets& level = result.from.views[0];
  const Ints indices = index_of(host_indices, level.count);
  result.count = indices.count;
  result.ranges.make(indices.count);
  Scratch<std::int64_t> ends(indices.count);
  refuse(gather_sequences(level, indices.data, indices.count, result.ranges.data(), ends.data()), level.count,
         "sequences");
  result.placed_indices = ints_at(place, indices);
  return result;
}

/// What becomes of the values on their way into a rectangle of another dtype, or without NaN, on a device;
/// null where they go there as they are.
std::optional<cuda::BatchArray> change_of(const Place& place, py::array& values, const py::dtype& to,
                                          const Fill& instead) {
  const std::optional<Type> from = type_of(values.dtype());
  const bool replaces = instead.data() != nullptr && from && is_float(*from);
  if (!replaces && values.dtype().equal(to)) return {};
  values = aligned_at(place, values);
  cuda::BatchArray change;
  change.kind = cuda::BatchKind::cast;
  change.from = *from;
  change.to = *type_of(to);
  change.rows = rows_of(values);
  change.replaces_nan = replaces;
  if (replaces) std::memcpy(&change.nan, instead.data(), static_cast<std::size_t>(to.itemsize()));
  return change;
}

/// The rectangle alone, whose elements change on their way: no array of the size of the values is made.
void convert_at(const Place& place, const cuda::BatchArray& change, const Offsets* levels, int depth,
                std::int64_t count, const std::int64_t* sizes, const Padding& how,
                const std::int64_t* sequences) {
  cuda::BatchAxis axes[cuda::kMostDepth];
  for (int d = 0; d < depth; ++d) {
    axes[d] = {levels[d], sizes[d], how.keeps != nullptr ? how.keeps[d] : sizes[d]};
  }
  cuda::BatchJob job;
  job.axes = axes;
  job.depth = depth;
  job.n = count;
  job.sequences = sequences;
  job.side = how.side;
  job.cut = how.cut;
  job.arrays = &change;
  job.count = 1;
  place.check(place.kernels->batch(place.stream, job), "pad");
}

/// The arguments of `pad`, then `source`, `indices` and `positions`.
py::object pad_rows(const Arguments<18>& args) {
  const auto [given_values, given_levels, side, given_fill, given_mask, max_len, truncate, given_out,
              given_dtype, multiple, given_max_bytes, exact, given_nan, given_nan_mask, given_past,
              given_source, given_indices, given_positions] = args;
  py::array values = as_placed_rows(given_values, "values");
  const Place place = place_of(values);
  const bool picks = is_given(given_indices);
  const Levels levels = levels_of(given_levels, picks ? -1 : values.shape(0), place);
  Padding how;
  how.side = side_or_right(side, "padding_side");
  how.cut = side_or_right(truncate, "truncate");
  const Slots slot_plan = slots_of(levels, exact, max_len, multiple, how.cut);
  const Sizes& sizes = slot_plan.sizes;
  how.keeps = slot_plan.keeps.data();
  std::optional<Selection> selection;
  if (picks) selection = selection_of(place, given_source, given_indices, values);
  const std::int64_t count = picks ? selection->count : levels.views[0].count;
  Extents slots{count};
  slots.append(sizes.begin(), sizes.end());
  const Extents row(values.shape() + 1, values.shape() + values.ndim());
  Extents shape = slots;
  shape.append(row.begin(), row.end());

  const py::dtype to = dtype_of(or_none(given_dtype), values.dtype());
  const bool wants_nan = is_given(given_nan_mask) && given_nan_mask != Py_False;
  refuse_unseen(place, values.dtype(), to, is_given(given_nan) || wants_nan, "values");
  values = convertible(values, to, is_given(given_nan) || wants_nan);
  const Fill pattern = fill_of(or_none(given_fill), to, row, "fill");
  const Fill instead = fill_of(or_none(given_nan), to, {}, "nan");
  how.fill = pattern.data();
  how.period = pattern.period();
  // Where all of the values go into fresh memory, what does not fit is found on the way.
  std::atomic<bool> loss{false};
  const bool looks_on_the_way = !slot_plan.cuts && !is_given(given_out) && place.is_host();
  how.convert = is_seen_at(place)
                    ? convert_of(values, to, instead, "values", looks_on_the_way ? &loss : nullptr)
                    : Convert{};
  Convert is_nan;
  if (wants_nan) {
    const auto from = type_of(values.dtype());
    if (!from || !is_float(*from)) {
      raise_type("nan_mask", "expected values of a float dtype, got " + str_of(values.dtype()));
    }
    is_nan = nan_mask_of(*from);
  }

  const std::int64_t max_bytes = max_bytes_of(given_max_bytes);
  std::int64_t total_bytes = 0;
  const Inputs inputs{given_values, values, given_fill, given_nan};
  if (!is_given(given_out)) padded_bytes("values", to, shape, max_bytes, total_bytes);
  py::object out = is_given(given_out) ? checked_out_at(place, "out", given_out, to, shape, inputs)
                                       : empty_at(place, to, shape);
  py::object marks = make_output(place, or_none(given_mask), "mask", slots, inputs, max_bytes, total_bytes);
  py::object nans =
      make_output(place, or_none(given_nan_mask), "nan_mask", shape, inputs, max_bytes, total_bytes);
  py::object places = py::none();  // beside a mask
  if (is_given(given_positions) && truth_of(given_positions, "positions")) {
    const py::dtype dtype = py::dtype::of<std::int64_t>();
    padded_bytes("positions", dtype, slots, max_bytes, total_bytes);
    places = empty_at(place, dtype, slots);
  }
  if (!marks.is_none()) refuse_shared("mask", array_in(marks), array_in(out));
  if (!nans.is_none()) {
    refuse_shared("nan_mask", array_in(nans), array_in(out));
    if (!marks.is_none()) refuse_shared("nan_mask", array_in(nans), array_in(marks));
  }

  const Rows rows = rows_of(values);
  const Range all{0, count};
  std::int64_t bytes = 0;
  for (const py::object* one : {&out, &marks, &nans, &places}) {
    if (!one->is_none()) bytes += array_in(*one).nbytes();
  }
  how.stores = !is_given(given_past)   ? stores_for(bytes)
               : given_past == Py_True ? Stores::past_caches
                                       : Stores::cached;
  {
    std::byte* const to_out = bytes_of(out);
    std::byte* const to_marks = marks.is_none() ? nullptr : bytes_of(marks);
    std::byte* const to_nans = nans.is_none() ? nullptr : bytes_of(nans);
    auto* const to_places = places.is_none() ? nullptr : reinterpret_cast<std::int64_t*>(bytes_of(places));
    if (!place.is_host()) {  // the host converts on the way, and goes by segments
      const auto level_ends = offsets_at(place, picks ? selection->from : levels);
      cuda::PadMore extras;
      if (picks) extras.sequences = selection->placed_indices.data;
      extras.positions = to_places;
      extras.mask = to_marks;
      const int depth = levels.depth();
      py::object keep;
      const std::int64_t width = row_bytes(values) / values.itemsize() * to.itemsize();
      const auto [fill, period] = fill_at(place, how.fill, how.period > 0 ? how.period : width, width, keep);
      how.fill = fill;
      how.period = period;
      const auto padded = [&](Rows from, std::byte* block) {
        place.check(place.kernels->pad(place.stream, level_ends.data(), depth, all, from, sizes.data(), how,
                                       extras, block),
                    "pad");
      };
      if (std::optional<cuda::BatchArray> change = change_of(place, values, to, instead)) {
        change->fill = {fill, period};
        change->depth = depth;
        change->out = to_out;
        convert_at(place, *change, level_ends.data(), depth, count, sizes.data(), how, extras.sequences);
        if (to_marks != nullptr || to_places != nullptr) padded({nullptr, 0, 0}, nullptr);
      } else {
        padded(rows_of(values), to_out);
      }
      if (to_nans != nullptr) {
        const py::array are_nan = nan_mask_at(place, values);
        how.fill = nullptr;
        extras.mask = nullptr;
        extras.positions = nullptr;
        padded(rows_of(are_nan), to_nans);
      }
      return outputs_of(out, marks, nans, places);
    }
    const int depth = levels.depth();
    const Scratch<Segment> segments = picks ? selection->segments(rows) : Scratch<Segment>();
    const GilRelease gil_release(bytes);
    const auto write = [&](std::byte* block) {
      if (picks) return pad_segments(segments.data(), 1, count, depth, sizes.data(), how, block);
      pad(levels.views.data(), depth, all, rows, sizes.data(), how, block);
    };
    write(to_out);
    if (to_marks != nullptr && picks) {
      pad_segments_mask(segments.data(), 1, count, depth, sizes.data(), how, to_marks);
    } else if (to_marks != nullptr) {
      pad_mask(levels.views.data(), depth, all, sizes.data(), how, to_marks);
    }
    if (to_places != nullptr && picks) {
      pad_picked_positions(selection->ranges.data(), count, selection->from.views.data() + 1, depth,
                           sizes.data(), how, to_places);
    } else if (to_places != nullptr) {
      pad_positions(levels.views.data(), depth, all, sizes.data(), how, to_places);
    }
    if (to_nans != nullptr) {
      how.fill = nullptr;
      how.convert = is_nan;
      write(to_nans);
    }
  }
  raise_if_lost(loss, values, to, "values");
  return outputs_of(out, marks, nans, places);
}

constexpr Signature<15> kPad{
    "pad",
    {"values", "levels", "padding_side", "fill", "mask", "max_len", "truncate", "out", "dtype",
     "pad_to_multiple", "max_bytes", "sizes", "nan", "nan_mask", "past_caches"},
    2,
    15};

py::object pad_arrays(const Arguments<15>& args) {
  Arguments<18> all{};
  std::copy(args.begin(), args.end(), all.begin());
  return pad_rows(all);
}

constexpr Signature<12> kGatherDense{"gather_dense",
                                     {"values", "levels", "source", "indices", "positions", "padding_side",
                                      "fill", "max_len", "truncate", "dtype", "pad_to_multiple", "max_bytes"},
                                     2,
                                     12};

py::object gather_dense(const Arguments<12>& args) {
  const auto [values, levels, source, indices, positions, side, fill, max_len, truncate, dtype, multiple,
              max_bytes] = args;
  return pad_rows({values, levels, side, fill, Py_True, max_len, truncate, nullptr, dtype, multiple,
                   max_bytes, nullptr, nullptr, nullptr, nullptr, source, indices, positions});
}

/// ValueError for a sequence of which more than `width` rows are kept. Of lengths on a device the bound has
/// to fit, or is the width from here on.
void check_width(Level& level, std::int64_t keep, std::int64_t width) {
  if (keep <= width) return;
  if (level.is_hidden()) {
    const std::int64_t max_len = level.bound() > width ? level.bound() : width;
    if (max_len == width && level.keeps_to(width)) return;
    raise_value("width", "expected at least " + std::to_string(std::min(keep, level.length_limit())) +
                             ", the bound of lengths on a device, got " + std::to_string(width));
  }
  if (level.stats().longest <= width) return;
  const Offsets view = level.view();
  std::int64_t i = 0;
  while (view.length(i) <= width) ++i;
  const std::int64_t length = std::min(keep, view.length(i));
  raise_value("lengths",
              "sequence " + std::to_string(i) + " has " + std::to_string(length) +
                  " rows, over width=" + std::to_string(width),
              i, length);
}

constexpr Signature<7> kMask{
    "mask", {"level", "padding_side", "max_len", "pad_to_multiple", "max_bytes", "width", "beside"}, 1, 7};

/// The mask alone, for which nobody has to know how many rows there are.
py::object mask_of(const Arguments<7>& args) {
  const auto [given_level, side, max_len, multiple, given_max_bytes, width, neighbour] = args;
  const Place place = place_of_any({neighbour});
  const Levels levels = levels_of(given_level, -1, place);
  Padding how;
  how.side = side_or_right(side, "padding_side");
  const std::int64_t keep = is_given(max_len) ? int_of(max_len, "max_len") : INT64_MAX;
  if (is_given(width)) check_width(*levels.objects[0], keep, int_of(width, "width"));
  const Slots slot_plan = slots_of(levels, width, max_len, multiple, how.cut);
  how.keeps = slot_plan.keeps.data();
  const Range all{0, levels.views[0].count};
  const Extents shape{all.end, slot_plan.sizes[0]};
  const py::dtype dtype = py::dtype::of<bool>();
  const std::int64_t limit = max_bytes_of(given_max_bytes);
  std::int64_t total_bytes = 0;
  padded_bytes("mask", dtype, shape, limit, total_bytes);
  py::array mask = empty_at(place, dtype, shape);
  const Offsets level_ends = offsets_at(place, *levels.objects[0]);
  launch(place, "pad_mask", mask.nbytes(), &cuda::Kernels::pad_mask, &level_ends, 1, all,
         slot_plan.sizes.data(), how, bytes(mask));
  return mask;
}

PyMethodDef pad_methods[] = {
    method<kPad, pad_arrays>(
        "pad(values, levels, padding_side='right', fill=None, mask=False, max_len=None, truncate='right',\n"
        "    out=None, dtype=None, pad_to_multiple=1, max_bytes=None, sizes=None, nan=None, nan_mask=False,\n"
        "    past_caches=None)\n--\n\n"
        "Ragged values to a rectangle (n, sizes..., ...); with masks a tuple of it and them."),
    method<kGatherDense, gather_dense>(
        "gather_dense(values, levels, source=None, indices=None, positions=False, padding_side='right',\n"
        "    fill=None, max_len=None, truncate='right', dtype=None, pad_to_multiple=1, "
        "max_bytes=None)\n--\n\n"
        "A rectangle and its mask; the places of rows in their sequences behind them, if asked.\n\n"
        "With indices the values lie under `source`, of which they name sequences; the levels are those of\n"
        "these, or of all where a device alone knows the indices."),
    method<kMask, mask_of>(
        "mask(level, padding_side='right', max_len=None, pad_to_multiple=1, max_bytes=None, width=None,\n"
        "     beside=None)\n--\n\n"
        "True where a rectangle of the sequences holds data: bool (n, width). On the device of `beside`, if "
        "that is an array of one."),
    {},
};

}  // namespace

void bind_pad(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), pad_methods) != 0) throw py::error_already_set();
  add_unpad(m);
}

}  // namespace varlen::bindings
