#include <pybind11/stl.h>

#include <vector>

#include "cast.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/dtypes.hpp"
#include "varlen/cast.hpp"

namespace varlen::bindings {

void bind_cast(py::module_& m) {
  m.attr("bfloat16") = bfloat16_stand_in();
  m.def(
      "cast",
      [](py::handle input, py::handle dtype, py::handle nan) {
        py::array values = as_placed_rows(input, "values");
        const Place place = place_of(values);
        const py::dtype to = dtype_of(dtype, values.dtype());
        refuse_unseen(place, values.dtype(), to, !nan.is_none(), "values");
        values = convertible(values, to, !nan.is_none());
        const Fill instead = fill_of(nan, to, {}, "nan");
        if (!place.is_host()) {  // the host finds what does not fit on the way
          if (is_seen_at(place)) (void)convert_of(values, to, instead, "values", nullptr);
          const py::array result = cast_at(place, values, to, instead);
          return export_result(result.is(values) ? copy_at(place, values) : result);
        }
        std::atomic<bool> loss{false};
        const Convert how = convert_of(values, to, instead, "values", &loss);
        py::array out = empty(to.ptr(), static_cast<int>(values.ndim()), values.shape());
        const std::int64_t count = how.run == nullptr ? values.nbytes() : values.size();
        auto* target = static_cast<std::byte*>(out.mutable_data());
        const auto* source = data_of(values);
        {
          const GilRelease gil_release(out.nbytes() + values.nbytes());
          cast(how, source, count, target);
        }
        raise_if_lost(loss, values, to, "values");
        return py::object(out);
      },
      py::arg("values"), py::arg("dtype"), py::arg("nan") = py::none(),
      "A copy in another dtype. What does not fit is refused; `nan` takes the place of NaN.");
  m.def(
      "fill_row",
      [](py::handle value, const py::dtype& dtype, const std::vector<py::ssize_t>& row,
         const char* argument) {
        return fill_row(value, dtype, Extents(row.data(), row.data() + row.size()), argument);
      },
      py::arg("value"), py::arg("dtype"), py::arg("row") = py::tuple(), py::arg("argument") = "fill",
      "A (1, *row) array of a value that the dtype holds; None is zero.");
}

}  // namespace varlen::bindings
