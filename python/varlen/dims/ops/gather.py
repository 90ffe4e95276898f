"""Gather numbers by position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Shape
from varlen.backends import backend_of
from varlen.dims.axes import describe, place
from varlen.dims.base import check_data, dtype_name
from varlen.dims.errors import names_itself
from varlen.dims.ops.pick import lengths_over, pick, picked_along, position_text
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import spread
from varlen.dims.plan_cache import cached_plan
from varlen.errors import dtype_error, index_error, value_error

if TYPE_CHECKING:
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape


@names_itself
def gather(
    x: Data[Any],
    indices: Data[Any],
    axis: Axis | None = None,
    *,
    clip: bool = False,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Take the numbers or sequences at some positions of a dim; dims that both have are aligned.

    Parameters
    ----------
    x
        Any values.
    indices
        Integers: the positions on `axis` to take. Dims other than `axis` that `x` shares are paired.
    axis
        The dim of `x` that the indices replace. By default the `sparse_dim` of the indices.
    clip
        If True, an index below 0 takes the first position of its row, and an index beyond the row takes the
        last.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The values taken: the new dims of the indices replace `axis`. A dim of `x` whose lengths depend on
        `axis` gets the lengths of the sequences taken.

    Raises
    ------
    IndexError
        An index is out of range for its row, or below 0; the message names the number and the row. With
        `clip`, a row has no positions at all.
    TypeError
        The indices are not integers.
    ValueError
        No axis is given, and the indices have no `sparse_dim`.
    LengthMismatchError
        A shared dim has different lengths in the two.

    Notes
    -----
    As RETURNN's `gather`, whose `clip_to_valid` is called `clip` here.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([7, 8, 9, 4]), [vl.dims.batch_dim, time])
    >>> last = vl.Data(np.array([2, 0]), [vl.dims.batch_dim], sparse_dim=time)
    >>> vl.dims.gather(x, last).values
    array([9, 4])
    >>> words = vl.Data(np.array([[0.0, 0.1], [1.0, 1.1]]), [vl.Dim("words", 2), vl.Dim("model", 2)])
    >>> ids = vl.Data(np.array([1, 0, 1]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
    >>> vl.dims.gather(words, ids, "words").to_list()
    [[[1.0, 1.1], [0.0, 0.1]], [[1.0, 1.1]]]
    """
    numbers = integers(indices, "indices")
    if axis is None:
        axis = indices.sparse_dim
        if axis is None:
            raise value_error(
                "axis",
                f"is not given, and the indices over {describe(indices.dims)} have no sparse_dim",
            )
    k = place(x, axis)
    frame, positions = places_in_rows(numbers, indices._shape, x._shape.dims[k], clip, "indices")
    if frame is indices._shape:
        return check_out_shape(picked_along(x, k, frame, indices._order, positions), out_shape)
    rest = [dim for j, dim in enumerate(x._shape.dims) if j != k]
    new = [dim for dim in indices.dims if dim not in rest]
    return check_out_shape(pick(x, [k], frame, [positions], new), out_shape)


def integers(indices: Data[Any], argument: str) -> Any:
    """The integers of a Data, readable on the host: one for each of its positions."""
    check_data(indices, argument)
    dtype = dtype_name(indices.dtype)
    if not dtype.startswith(("int", "uint")):
        raise dtype_error(argument, "integers", dtype)
    numbers = backend_of(indices._values).readable(indices._values).reshape(-1)
    if dtype == "uint64" and numbers.size and int(numbers.max()) > np.iinfo(np.int64).max:
        i = int(numbers.argmax())
        raise index_error(
            argument,
            f"{numbers[i]} at {position_text(indices._shape, i)} is no position of any dim",
            row=i,
            number=int(numbers[i]),
        )
    return numbers.astype(np.int64, copy=False)


def places_in_rows(numbers: Any, frame: Shape, dim: Dim, clip: bool, argument: str) -> tuple[Shape, Any]:
    """Places along a dim, and the dims that they depend on."""
    level = dim.level if dim.over else None
    shortest = dim.max_size() if level is None else level.shortest if len(level) else 0
    if not numbers.size or (int(numbers.min()) >= 0 and int(numbers.max()) < shortest):
        return frame, numbers
    target, lengths = _lengths(frame, dim)
    if target is not frame:
        numbers = spread(numbers, frame, target)
        frame = target
    wrong = lengths == 0 if clip else (numbers < 0) | (numbers >= lengths)
    if wrong.any():
        i = int(wrong.argmax())
        suffix = f" at {position_text(frame, i)}" if frame.rank else ""
        raise index_error(
            argument,
            f"{numbers[i]}{suffix} is no position of '{dim.name}', which has {lengths[i]} there",
            row=i,
            number=int(numbers[i]),
        )
    return frame, np.clip(numbers, 0, lengths - 1) if clip else numbers


@cached_plan
def _lengths(frame: Shape, dim: Dim) -> tuple[Shape, Any]:
    """How long a dim is at each position of a frame, which gets what the dim is over."""
    target = frame.join(Shape(dim.over)) if dim.over else frame
    return target, lengths_over(dim, target)
