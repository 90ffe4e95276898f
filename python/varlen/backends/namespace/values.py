"""Arrays of a library as rows: where they lie, what they share, and parts of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from varlen import _core
from varlen._core import Level, on_tensors
from varlen.arguments import as_dtype, as_ints, refuse_gradient, scalar_error
from varlen.backends import arrays
from varlen.backends.namespace.library import LibraryVerbs, at_device
from varlen.backends.numpy.rows import as_rows as rows_of_array
from varlen.errors import type_error, value_error

T = TypeVar("T")


class Values(LibraryVerbs):
    """Rows of a library: moved, cut, copied and cast."""

    if TYPE_CHECKING:
        take_rows: Callable[..., Any]

    def as_rows(self, x: Any, argument: str = "values") -> Any:
        """Rows that the core can move: the array itself where its memory is contiguous, else a copy."""
        if not isinstance(x, self.type):
            return rows_of_array(x, argument)
        if x.ndim == 0:
            raise scalar_error(argument)
        return self.contiguous(x)

    def as_array(self, x: Any, argument: str) -> Any:
        """An array of any strides: itself."""
        return x

    def as_numpy(self, values: Any) -> np.ndarray:
        """Refused: NumPy does not see the memory of a device."""
        raise type_error(
            "", f"expected an array on the CPU, got one on {self.library.name_of_device(values)}"
        )

    def apply_rows(self, values: Any, call: Callable[[Any], tuple[Any, T]]) -> tuple[Any, T]:
        """The result of `call`, a call of the core, on rows that it only moves; they come first in it."""
        result: tuple[Any, T] = on_tensors(call, values)
        return result

    def is_contiguous(self, x: Any) -> bool:
        """Whether the memory of an array is in C order."""
        return bool(x.flags.c_contiguous)

    def contiguous(self, x: Any) -> Any:
        """An array in C order, copied only where it was not."""
        return x if x.flags.c_contiguous else self._contiguous(x)

    @at_device
    def _contiguous(self, x: Any) -> Any:
        return self.xp.ascontiguousarray(x)

    @at_device
    def copy(self, values: Any) -> Any:
        """Values in memory of their own."""
        return values.copy()

    def device_of(self, values: Any) -> str:
        """Where values are."""
        return self.library.name_of_device(values)

    def to_device(self, values: Any, device: Any, non_blocking: bool = False) -> Any:
        """Values on a device: themselves where they lie there; an array of NumPy on the CPU."""
        return self.library.to_device(values, device, non_blocking)

    def pin(self, values: Any) -> Any:
        """Refused: what lies on a device is not pinned."""
        raise type_error(
            "pin_memory", f"the values lie on {self.library.name_of_device(values)}, not on the CPU"
        )

    def readable(self, values: Any) -> np.ndarray:
        """Values as numbers that NumPy can print, on the host."""
        return self.library.to_host(values)

    def row_as(self, value: Any, values: Any, argument: str) -> Any:
        """A number, or what broadcasts to a row, as one row (1, ...) of the dtype of the values."""
        row = _core.fill_row(self.on_host(value), values.dtype, values.shape[1:], argument)
        return self.like(row, values)

    def to_state(self, values: Any) -> Any:
        """What a pickle holds of values: themselves."""
        return values

    def take(self, values: Any, rows: Any) -> Any:
        """Some rows, in any order."""
        if getattr(rows, "ndim", 0) == 1 and rows.dtype == np.int64 and isinstance(values, self.type):
            return self.take_rows(self.contiguous(values), rows)
        return self._index_rows(values, rows)

    @at_device
    def _index_rows(self, values: Any, rows: Any) -> Any:
        return values[self.like(rows, values)]

    @at_device
    def true_places(self, marks: Any) -> Any:
        """The places of the bools that are True, which is waited for."""
        return self.xp.flatnonzero(marks)

    def from_memory(self, array: Any, values: Any) -> Any:
        """What the core made of the memory of `values`, as values of their kind."""
        return self.like(array, values)

    def assign(self, out: Any, result: Any) -> Any:
        """`out` with the numbers of a result, of whose dtype and shape it has to be."""
        with self.library.device_of(result):
            return arrays.assign(out, result, self.type, f"an array of {self.xp.__name__}")

    @at_device
    def astype(self, values: Any, dtype: Any) -> Any:
        """Values of another dtype, always copied."""
        return values.astype(as_dtype(dtype, "dtype"))

    @at_device
    def to_dtype(self, values: Any, dtype: Any) -> Any:
        """Values in a dtype; themselves where they have it."""
        return values.astype(as_dtype(dtype, "dtype"), copy=False)

    @at_device
    def cast(self, values: Any, dtype: Any, argument: str) -> Any:
        """Numbers of another dtype, each of which it has to hold; floats round. What may not fit is seen."""
        kind = as_dtype(dtype, "dtype")
        if values.dtype == kind:
            return values
        if values.dtype.kind == "c" and kind.kind != "c":
            raise value_error(argument, f"complex numbers do not fit {kind}")
        result = values.astype(kind)
        if always_fits(values.dtype, kind):
            return result
        if kind.kind in "fcV":
            unfit = self.xp.isfinite(values) & ~self.xp.isfinite(result.astype(np.result_type(kind, "f4")))
        else:
            unfit = result.astype(values.dtype) != values
            if values.dtype.kind == "i" and kind.kind == "u":
                unfit |= values < 0
            elif values.dtype.kind == "u" and kind.kind == "i":
                unfit |= result < 0
        places = self.xp.flatnonzero(unfit)
        if places.size:
            place = int(places[0])
            value = self.library.to_host(values.reshape(-1)[place])
            raise value_error(
                argument, f"element {place} is {value}, which does not fit {kind}", row=place, number=value
            )
        return result

    def split(self, values: Any, level: Level) -> list[Any]:
        """The rows of each sequence, sharing memory."""
        offsets = level.offsets
        return self.views(values, offsets[:-1], offsets[1:])

    def views(self, values: Any, begins: Any, ends: Any) -> list[Any]:
        """Rows from each begin to its end, sharing memory."""
        return [values[a:b] for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]

    @at_device
    def take_columns(self, x: Any, columns: Any) -> Any:
        """Some columns, in any order."""
        return x.take(self.like(columns, x), axis=1)

    def zeros(self, values: Any, shape: tuple[int, ...]) -> Any:
        """Zeros of the dtype of values, beside them."""
        with self.library.device_of(values):
            return self.xp.zeros(shape, values.dtype)

    @at_device
    def tile(self, values: Any, multiples: tuple[int, ...]) -> Any:
        """What lies along each axis, so many times."""
        return self.xp.tile(values, multiples)

    def transpose(self, values: Any, axes: tuple[int, ...]) -> Any:
        """Axes in another order; a view."""
        return values.transpose(axes)

    @at_device
    def put_rows(self, values: Any, places: Any, rows: Any) -> Any:
        """A copy of values with some of its rows replaced."""
        result = values.copy()
        result[self.like(places, values)] = rows
        return result

    @at_device
    def fill_where(self, values: Any, gaps: Any, fill: Any) -> Any:
        """Values with a number where a mask is true."""
        exact = _core.fill_row(self.on_host(fill), values.dtype, (), "fill").reshape(())[()]
        return self.xp.where(self.like(gaps, values), exact, values)

    def insert_rows(self, values: Any, places: Any, rows: Any = None, max_bytes: int | None = None) -> Any:
        """New rows, zeros by default, each in front of the row of `values` that it names."""
        if rows is not None and not isinstance(rows, (self.type, np.ndarray)):
            refuse_gradient(rows, "rows")
            new_rows = rows_of_array(as_ints(rows), "rows")
            rows = self.like(_core.fill_row(new_rows, values.dtype, new_rows.shape, "rows")[0], values)
        return on_tensors(_core.insert_rows, values, places, rows, max_bytes)

    @at_device
    def insert_row(self, values: Any, places: Any, row: Any) -> Any:
        """One row (1, ...), in front of each of the rows that are named."""
        rows = self.xp.broadcast_to(row, (len(places), *row.shape[1:]))
        return on_tensors(_core.insert_rows, values, places, self.xp.ascontiguousarray(rows))


def always_fits(source: np.dtype, dtype: np.dtype) -> bool:
    """Whether a dtype holds all numbers of another; floats round."""
    if source.kind in "biu" and dtype.kind in "fc":
        return bool(dtype.itemsize > 2 or source.itemsize == 1 or source.kind == "b")
    return bool(np.can_cast(source, dtype))
