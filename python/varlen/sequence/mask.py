"""Turn lengths into masks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Level
from varlen.arguments import as_dtype, as_int
from varlen.backends import backend_of
from varlen.backends.values import is_array, like
from varlen.errors import naming, type_error, value_error
from varlen.ops.mask import mask
from varlen.ops.reduce import wrap_units
from varlen.ops.support.inputs import units_of
from varlen.sequence.inputs import array_of
from varlen.tracing import eager_only
from varlen.types import Ragged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen._core import RaggedBase
    from varlen.backends.values import DTypes, RowsT


@eager_only()
def sequence_mask(
    x: RaggedBase[RowsT] | RowsT | Sequence[Any] | int,
    maxlen: int | None = None,
    dtype: DTypes = "int64",
    name: str | None = None,
    *,
    level: int = -1,
) -> RowsT | Any:
    """The mask of lengths x, padded to `maxlen`: out[..., j] = j < x[...].

    Parameters
    ----------
    x
        Lengths, an array or a tensor of any shape, 0 and more. Or a `Ragged`, for those of its sequences.
    maxlen
        The number of places; by default the longest length, or 0 if there are no lengths. Longer ones are
        cut.
    dtype
        The dtype of the result: one of NumPy, or of torch for tensors, or its name.
    name
        Accepted for compatibility with Paddle, and ignored.
    level
        For a Ragged, the level whose lengths are used; levels below it are merged. -1 is the innermost.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (*x.shape, maxlen), a tensor for a tensor. Of a Ragged (n, maxlen); under more levels a `Ragged` of
        those above.

    Raises
    ------
    ValueError
        A length or maxlen is below 0, or a length is not a number; the message names its position.
    TypeError
        The lengths are not numbers.
    IndexError
        There is no such level.

    Notes
    -----
    As `paddle.nn.functional.sequence_mask`, where any maxlen below 0 means None and 0 is refused.

    Examples
    --------
    >>> vl.sequence_mask([3, 1, 1, 0], maxlen=4)
    array([[1, 1, 1, 0],
           [1, 0, 0, 0],
           [1, 0, 0, 0],
           [0, 0, 0, 0]])
    >>> vl.sequence_mask(vl.Ragged.from_list([[[1, 2], [3]], [[]]]), dtype=bool).to_list()
    [[[True, True], [True, False]], [[False, False]]]
    """
    if isinstance(x, Ragged):
        values, units, outer_levels = units_of(x, None, level)
        return wrap_units(x, _marks(units, (len(units),), maxlen, dtype, values), outer_levels)
    numbers = array_of(x, "x")
    if numbers.dtype.kind not in "iuf":
        if numbers.size:
            raise type_error("x", f"expected lengths, got {numbers.dtype}")
        numbers = numbers.astype(np.int64)
    flat = numbers.reshape(-1)
    if flat.dtype.kind == "f":
        flat = flat.astype(np.promote_types(flat.dtype, np.float64), copy=False)  # 2**63 has to fit
    bad = ~(flat >= 0) | (flat >= 2**63)
    if bad.any():
        index = int(bad.argmax())
        place = tuple(int(k) for k in np.unravel_index(index, numbers.shape))
        raise value_error(
            "x", f"the length at {place} is {flat[index]}", row=index, number=flat[index].item()
        )
    level_of = Level.from_lengths(np.ceil(flat).astype(np.int64))
    return _marks(level_of, numbers.shape, maxlen, dtype, x if is_array(x) else flat)


def _marks(units: Level, shape: tuple[int, ...], maxlen: object, dtype: Any, values: Any) -> Any:
    width = units.longest if maxlen is None else as_int(maxlen, "maxlen")
    with naming("x" if maxlen is None else "maxlen", advice="take fewer rows, or keep them ragged"):
        marks = mask(units, width, width=width).reshape(*shape, width)
    if type(dtype).__name__ != "dtype" or not type(dtype).__module__.startswith("torch"):
        return like(marks.astype(as_dtype(dtype, "dtype"), copy=False), values)
    return backend_of(values).to_dtype(like(marks, values), dtype)
