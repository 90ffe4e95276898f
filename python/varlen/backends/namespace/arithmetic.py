"""Plain arithmetic by the functions of a library's namespace: ufuncs, choices, counts, products, images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level, on_tensors
from varlen.backends.blocks import Blocks, multiply_blocks
from varlen.backends.namespace.library import LibraryVerbs, at_device
from varlen.backends.numpy.activations import ACTIVATIONS
from varlen.backends.numpy.count import FROM_THE_SECOND, TO_THE_LAST_BUT_ONE
from varlen.backends.numpy.norm import layer_norm
from varlen.errors import dtype_error, type_error

if TYPE_CHECKING:
    from collections.abc import Callable


class Arithmetic(LibraryVerbs):
    """Arithmetic on the arrays of a library."""

    if TYPE_CHECKING:
        gather: Callable[..., Any]
        gather_window: Callable[..., Any]
        level_array: Callable[..., Any]

    def ufunc(self, function: np.ufunc | str, inputs: list[Any], kwargs: dict[str, Any]) -> Any:
        """A ufunc of NumPy, or the name of one, by the function of that name."""
        name = function if isinstance(function, str) else function.__name__
        first = self.first(*inputs, *(kwargs.get("out") or ()))
        operands = [self.operand(x, first) for x in inputs]
        with self.library.device_of(first):
            if name in ACTIVATIONS:
                return ACTIVATIONS[name](*operands, self.xp)
            implementation = getattr(self.xp, name, None)
            if implementation is None:
                library = self.xp.__name__
                raise type_error(
                    "", f"{library} has no {name}", "use .values, or values that are a NumPy array"
                )
            out = kwargs.get("out")
            if isinstance(out, tuple) and len(out) == 1:
                kwargs = {**kwargs, "out": out[0]}
            return implementation(*operands, **kwargs)

    @at_device
    def equal(self, a: Any, b: Any, equal_nan: bool) -> bool:
        """Whether arrays of one shape have equal entries, which is waited for."""
        first = self.first(a, b)
        x, y = (self.like(item, first) for item in (a, b))
        matches = x == y
        if equal_nan:
            matches = matches | ((x != x) & (y != y))
        return bool(matches.all())

    def where(self, mask: Any, values: Any, others: Any) -> Any:
        """A number, or values, where a mask is true, others where it is not."""
        first = self.first(mask, values, others)
        with self.library.device_of(first):
            return self.xp.where(*(self.operand(x, first) for x in (mask, values, others)))

    @at_device
    def diff(self, values: Any, level: Level, n: int = 1) -> tuple[Any, Level]:
        """Each row less the one before it in its sequence, n times over, and their level."""
        subtract = self.xp.not_equal if values.dtype == np.bool_ else self.xp.subtract
        if not level.is_on_host:
            level.sync()  # how many rows are left only its numbers say
        for _ in range(min(n, max(level.longest, 1))):  # once at least, for the dtype
            later, (new_level,) = self.gather_window(values, (level,), FROM_THE_SECOND)
            sooner = self.gather_window(values, (level,), TO_THE_LAST_BUT_ONE)[0]
            values, level = subtract(later, sooner), new_level
        return values, level

    def bincount(self, cells: Any, weights: Any, size: int) -> Any:
        """The sum of the weights of each of `size` cells, float64; in order, without atomics."""
        if weights.dtype.kind not in "biuf":
            raise dtype_error("weights", "numbers", weights.dtype)
        with self.library.device_of(weights):
            sums = self.xp.zeros(size, np.float64)
            numbers = weights.astype(np.float64, copy=False)
        return on_tensors(_core.scatter_added, sums, cells, numbers)

    @at_device
    def layer_norm(self, values: Any, axes: int, scale: Any, bias: Any, eps: float) -> Any:
        """Each row less its mean, over its standard deviation; a row is the last `axes` axes."""
        return layer_norm(values, axes, scale, bias, eps, self.xp)

    @at_device
    def order_with_nan_first(self, values: Any, level: Level) -> Any:
        """The rows of each sequence, the largest first and NaN before all; ties in their order."""
        wide = values.astype(np.float32) if values.dtype.itemsize == 2 else values
        rows = self.xp.argsort(-wide, kind="stable")
        for key in (~self.xp.isnan(wide), self.level_array(level, "row_ids", values)):
            rows = rows[self.xp.argsort(key[rows], kind="stable")]
        return rows

    @at_device
    def in_parts(self, values: Any, add: Any) -> Any:
        """The result of `add`, which adds rows up; complex numbers are passed as two columns."""
        if values.dtype.kind != "c":
            return add(values)
        result = add(values.view(values.real.dtype).reshape(*values.shape, 2))
        return result.view(np.result_type(result.dtype, np.complex64))[..., 0]

    @at_device
    def product(self, a: Any, A: Blocks, b: Any, B: Blocks) -> Any:
        """The products of matrices that lie end to end."""
        return multiply_blocks(a, A, b, B, self._empty, self.xp.matmul, self.gather)

    def _empty(self, count: int, like: Any) -> Any:
        return self.xp.empty(count, like.dtype)

    @at_device
    def promote_pair(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Both as arrays of the library and of one dtype, on the device of the first."""
        first = self.first(a, b)
        x, y = (self.like(item, first) for item in (a, b))
        dtype = np.result_type(x.dtype, y.dtype)
        return x.astype(dtype, copy=False), y.astype(dtype, copy=False)

    @at_device
    def pad_images(self, images: Any, padding: tuple[int, int, int, int]) -> Any:
        """Images (n, channels, height, width) with zeros around them: up, left, below, right."""
        top, left, bottom, right = padding
        n, channels, height, width = images.shape
        result = self.xp.zeros((n, channels, top + height + bottom, left + width + right), images.dtype)
        result[:, :, top : top + height, left : left + width] = images
        return result

    @at_device
    def patches(self, images: Any, size: tuple[int, int], stride: tuple[int, int]) -> Any:
        """(n, down, across, channels, *size): the patches of images."""
        windows = self.xp.lib.stride_tricks.sliding_window_view(images, size, (2, 3))
        return windows[:, :, :: stride[0], :: stride[1]].transpose(0, 2, 3, 1, 4, 5)
