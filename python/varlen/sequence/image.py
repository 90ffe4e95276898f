"""Cut images into sequences of patches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen._core import Level
from varlen.arguments import as_int, as_list, is_listed
from varlen.backends import backend_of
from varlen.backends.values import as_values, like, take
from varlen.errors import value_error
from varlen.sequence.inputs import array_of, gradient_rows
from varlen.tracing import eager_only
from varlen.types import Ragged

if TYPE_CHECKING:
    from varlen.backends.values import RowsLike, RowsT, SequencesLike
    from varlen.levels import Levels

Sizes = int | Sequence[int]


@eager_only()
def im2sequence(
    input: RowsT | Sequence[Any],
    filter_size: Sizes = 1,
    stride: Sizes = 1,
    padding: Sizes = 0,
    input_image_size: Any = None,
    out_stride: Sizes = 1,
    name: str | None = None,
) -> Ragged[RowsT]:
    """Cut each image into patches, left to right and top to bottom, as the rows of a sequence.

    Parameters
    ----------
    input
        (n, C, H, W) of any dtype, an array or a tensor; or a `Ragged` of images, whose levels are kept.
    filter_size
        The height and width of a patch: one number for both, or two.
    stride
        The step from one patch to the next, down and across: one number for both, or two.
    padding
        The zeros around each image: one number; two, for above and below, and for left and right; or four,
        for above, left, below and right.
    input_image_size
        (n, 2) integers, the used height and width of each image; by default the whole image. The number of
        patches follows from this size, divided by `out_stride` and rounded up.
    out_stride
        One number for both, or two; only used with `input_image_size`.
    name
        Accepted for compatibility with Paddle, and ignored.

    Returns
    -------
    Ragged
        One sequence for each image, with a patch (C * filter height * filter width,) in each row.

    Raises
    ------
    ValueError
        The input has another shape, a size or stride is below 1, a padding is below 0, a patch is larger than
        an image with its padding, or an image size exceeds the image.

    Notes
    -----
    As Paddle's `im2sequence`, which returns no rows if a patch is larger than the image, and kills the
    process if a stride is 0. The new level is the innermost, so there is no `level`.

    Examples
    --------
    >>> image = np.arange(9).reshape(1, 1, 3, 3)
    >>> vl.im2sequence(image, filter_size=2).to_list()
    [[[0, 1, 3, 4], [1, 2, 4, 5], [3, 4, 6, 7], [4, 5, 7, 8]]]
    """
    images = _images(input)
    grid = _Grid(images.shape, filter_size, stride, padding)
    down, across = grid.down, grid.across
    padded = _padded(images, grid.padding)
    (fh, fw), (sh, sw) = grid.filter, grid.stride
    patches = backend_of(images).patches(padded, (fh, fw), (sh, sw))
    rows = patches.reshape(len(images) * down * across, images.shape[1] * fh * fw)
    level, which = grid.select(input_image_size, out_stride)
    values = rows if which is None else take(rows, which)
    return Ragged._make(values, (*(input.levels if isinstance(input, Ragged) else ()), level))


def backprop_im2sequence(
    dY: SequencesLike,
    input: RowsT | Sequence[Any],
    filter_size: Sizes = 1,
    stride: Sizes = 1,
    padding: Sizes = 0,
    input_image_size: Any = None,
    out_stride: Sizes = 1,
) -> RowsT:
    """The gradient of `im2sequence`: each number of an image sums the gradients of its patches.

    Parameters
    ----------
    dY
        The gradient of the patches: a `Ragged`, or its rows.
    input, filter_size, stride, padding, input_image_size, out_stride
        The arguments of `im2sequence`.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        The gradient, in the shape of `input` and the dtype of dY.

    Examples
    --------
    >>> image = np.zeros((1, 1, 2, 2))
    >>> vl.sequence.backprop_im2sequence(np.ones((1, 4)), image, filter_size=2).ravel()
    array([1., 1., 1., 1.])
    """
    images = _images(input)
    n, channels, height, width = images.shape
    grid = _Grid(images.shape, filter_size, stride, padding)
    level, which = grid.select(input_image_size, out_stride)
    (fh, fw), (sh, sw), (top, left, bottom, right) = grid.filter, grid.stride, grid.padding
    outer_levels: Levels = input.levels if isinstance(input, Ragged) else ()
    d = gradient_rows(dY, level.total, (*outer_levels, level), inner=(channels * fh * fw,))
    backend = backend_of(d)
    if which is not None:
        all_rows = backend.zeros(d, (n * grid.down * grid.across, d.shape[1]))
        all_rows[like(which, d)] = d
        d = all_rows
    d = d.reshape(n, grid.down, grid.across, channels, fh, fw)
    d = backend.transpose(d, (0, 3, 1, 2, 4, 5))
    result = backend.zeros(d, (n, channels, top + height + bottom, left + width + right))
    for y in range(fh):
        for x in range(fw):
            result[:, :, y : y + sh * grid.down : sh, x : x + sw * grid.across : sw] += d[..., y, x]
    result = result[:, :, top : top + height, left : left + width]
    return cast(
        "RowsT",
        input._make(as_values(result), input.levels) if isinstance(input, Ragged) else as_values(result),
    )


class _Grid:
    """How many patches an image has, down and across, and what makes them."""

    def __init__(self, shape: Any, filter_size: Any, stride: Any, padding: RowsLike) -> None:
        self.count = int(shape[0])
        self.image = (int(shape[2]), int(shape[3]))
        self.filter = _pair(filter_size, "filter_size", 1)
        self.stride = _pair(stride, "stride", 1)
        self.padding = _four_sides(padding)
        self.down, self.across = (self._patch_count(axis, self.image[axis]) for axis in (0, 1))

    def _patch_count(self, axis: int, size: int) -> int:
        steps_left = size + self.padding[axis] + self.padding[axis + 2] - self.filter[axis]
        if steps_left < 0:
            padded = tuple(self.image[k] + self.padding[k] + self.padding[k + 2] for k in (0, 1))
            raise value_error("filter_size", f"{self.filter} is larger than an image with padding, {padded}")
        return steps_left // self.stride[axis] + 1

    def select(self, sizes: object, out_stride: object) -> tuple[Level, Any]:
        """The level of the patches, and which patches it takes; None for all."""
        steps = _pair(out_stride, "out_stride", 1)
        if sizes is None:
            return Level.from_lengths(np.full(self.count, self.down * self.across)), None
        numbers = array_of(sizes, "input_image_size")
        if numbers.shape != (self.count, 2) or numbers.dtype.kind not in "iu":
            raise value_error(
                "input_image_size", f"expected ({self.count}, 2) integers, got {numbers.dtype}{numbers.shape}"
            )
        patch_counts = []
        for axis in (0, 1):
            size = -(-numbers[:, axis].astype(np.int64) // steps[axis])
            steps_left = size + self.padding[axis] + self.padding[axis + 2] - self.filter[axis]
            bad = (numbers[:, axis] < 1) | (size > self.image[axis]) | (steps_left < 0)
            if bad.any():
                i = int(bad.argmax())
                raise value_error(
                    "input_image_size",
                    f"image {i} is {tuple(numbers[i].tolist())}, with out_stride {steps} no "
                    f"patches of {self.filter} in {self.image}",
                )
            patch_counts.append(steps_left // self.stride[axis] + 1)
        is_inside = (np.arange(self.down) < patch_counts[0][:, None])[:, :, None] & (
            np.arange(self.across) < patch_counts[1][:, None]
        )[:, None, :]
        return Level.from_lengths(patch_counts[0] * patch_counts[1]), np.flatnonzero(is_inside)


def _images(input: SequencesLike) -> Any:
    images = input.values if isinstance(input, Ragged) else as_values(input, "input")
    if images.ndim != 4:
        raise value_error("input", f"expected images (n, C, H, W), got shape {tuple(images.shape)}")
    return images


def _padded(images: object, padding: tuple[int, int, int, int]) -> Any:
    if not any(padding):
        return images
    return backend_of(images).pad_images(images, padding)


def _pair(value: Any, argument: str, minimum: int) -> tuple[int, int]:
    sizes = as_list(value, argument, "numbers") if is_listed(value) else [value] * 2
    if len(sizes) != 2:
        raise value_error(argument, f"expected one number or two, got {len(sizes)}")
    return as_int(sizes[0], argument, minimum), as_int(sizes[1], argument, minimum)


def _four_sides(value: Any) -> tuple[int, int, int, int]:
    sizes = as_list(value, "padding", "numbers") if is_listed(value) else []
    if len(sizes) == 4:
        top, left, bottom, right = (as_int(x, "padding") for x in sizes)
        return top, left, bottom, right
    down, across = _pair(value, "padding", 0)
    return down, across, down, across
