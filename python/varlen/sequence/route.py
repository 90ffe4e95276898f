"""Split sequences into parts, by position or by a mask, and merge them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen._core import Level
from varlen.arguments import SMALLEST, as_int
from varlen.backends.values import as_values, take
from varlen.errors import index_error, type_error, value_error
from varlen.levels import counted_before, describe_difference, mask_level, resolve_level, same_levels
from varlen.ops.combine import concatenate, join_raggeds, parts_of, split
from varlen.ops.support.inputs import as_bools
from varlen.sequence.inputs import array_of, select, sequences
from varlen.types import Ragged

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from varlen.backends.values import SameT, SequencesLike
    from varlen.levels import Levels

    Bools = NDArray[np.bool_]


def split_lod(x: Ragged[Any], num: int) -> list[Ragged[Any]]:
    """Split into consecutive parts of equally many outermost sequences, as Paddle's `SplitLoDTensor`.

    Parameters
    ----------
    x
        A Ragged of any depth.
    num
        The number of parts. Each has ceil(n / num) sequences; the last ones have the rest, or none.

    Returns
    -------
    list of Ragged
        `num` parts, which share the rows of x.

    Raises
    ------
    TypeError
        x is not a Ragged.
    ValueError
        `num` is below 1.

    Examples
    --------
    >>> [part.to_list() for part in split_lod(vl.Ragged([3, 1, 4, 1], [1, 2, 1]), 2)]
    [[[3], [1, 4]], [[1]]]
    """
    n, count = len(sequences(x, "x")), as_int(num, "num", 1)
    size = -(-n // count)
    return split(x, np.clip(n - size * np.arange(count), 0, size))


def merge_lod(parts: Iterable[Ragged[Any]]) -> Ragged[Any]:
    """Join parts, as Paddle's `MergeLoDTensor`: the inverse of `split_lod`; same as `vl.concatenate`.

    Parameters
    ----------
    parts
        Raggeds with the same number of levels, and rows of one shape. Parts may have no sequences.

    Returns
    -------
    Ragged
        The joined parts, in the class of the first one. The values are a copy.

    Raises
    ------
    TypeError, ValueError
        There are no parts, or a part does not fit the first one; the message names it.

    Examples
    --------
    >>> x = vl.Ragged([3, 1, 4, 1], [1, 2, 1])
    >>> merge_lod(split_lod(x, 5)).equals(x)
    True
    """
    return join_raggeds(parts_of(parts, "parts"), "parts")


def split_lod_tensor(
    input: SameT | Sequence[Any], mask: SequencesLike, level: int = 0
) -> tuple[SameT, SameT]:
    """Split sequences by a mask: one part for True, one for False.

    This moves whole sequences of `level`. The levels above stay, and hold the remaining sequences; Paddle's
    `split_lod_tensor` drops them. Autograd follows; `merge_lod_tensor` of the two gradients is the gradient.

    Parameters
    ----------
    input
        A Ragged, or rows (n, ...), each of which goes to one part.
    mask
        Bools, (n,) or (n, 1), one for each sequence of `level`.
    level
        Counts from the outermost level; a negative one counts from the innermost.

    Returns
    -------
    tuple of Ragged, numpy.ndarray or torch.Tensor
        The part for True and the part for False, both of the kind of `input`. `merge_lod_tensor` joins them
        again.

    Raises
    ------
    TypeError
        The mask does not hold bools.
    ValueError
        The mask has more or fewer bools than there are sequences.
    IndexError
        There is no such level.

    Examples
    --------
    >>> x = vl.Ragged.from_list([[3, 1], [], [4], [1, 5]])
    >>> yes, no = split_lod_tensor(x, [True, True, False, True])
    >>> yes.to_list(), no.to_list()
    ([[3, 1], [], [1, 5]], [[4]])
    """
    if not isinstance(input, Ragged):
        rows = as_values(input, "input")
        _no_level(level)
        is_true = _bools(mask, len(rows), "rows")
        return cast("tuple[SameT, SameT]", (_take(rows, is_true), _take(rows, ~is_true)))
    index = resolve_level(level, input.levels)
    is_true = _bools(mask, len(input.levels[index]), f"sequences of level {index}")
    return cast(
        "tuple[SameT, SameT]", (_select_where(input, index, is_true), _select_where(input, index, ~is_true))
    )


def merge_lod_tensor(
    in_true: SameT | Sequence[Any], in_false: Any, x: SequencesLike, mask: SequencesLike, level: int = 0
) -> SameT:
    """Join the two parts of `split_lod_tensor` again, in the original order.

    The rows and the levels below `level` may differ from those of the split. Autograd follows;
    `split_lod_tensor` of the gradient gives both gradients.

    Parameters
    ----------
    in_true, in_false
        The sequences for True and for False, of one kind and depth.
    x
        The input of `split_lod_tensor`, or None. Its number of sequences and its levels above `level` must
        be those of the result.
    mask, level
        The arguments of `split_lod_tensor`.

    Returns
    -------
    Ragged, numpy.ndarray or torch.Tensor
        The joined sequences, of the kind of in_true and in_false. The rows are a copy.

    Raises
    ------
    TypeError
        One part is a Ragged and the other is not, or the mask does not hold bools.
    ValueError
        The mask counts more or fewer sequences than in_true or in_false has, in all or inside a sequence of
        the level above; or rows, or the levels above, do not fit each other or x.

    Examples
    --------
    >>> x = vl.Ragged.from_list([[3, 1], [], [4], [1, 5]])
    >>> mask = [True, True, False, True]
    >>> yes, no = split_lod_tensor(x, mask)
    >>> merge_lod_tensor(yes * 10, no, x, mask).to_list()
    [[30, 10], [], [4], [10, 50]]
    """
    if isinstance(in_true, Ragged) != isinstance(in_false, Ragged):
        kinds = f"{type(in_true).__name__} and {type(in_false).__name__}"
        raise type_error("", f"in_true, in_false: expected two of one kind, got {kinds}")
    if not isinstance(in_true, Ragged):
        return cast("SameT", _merged_rows(in_true, in_false, x, mask, level))
    a, b = in_true.levels, in_false.levels
    if len(a) != len(b):
        raise value_error("in_false", f"has {len(b)} levels, in_true has {len(a)}")
    index = resolve_level(level, a)
    is_true = _mask_of(mask, len(a[index]), len(b[index]), f"sequences of level {index}")
    outer_levels = _outer_levels(a[:index], b[:index], is_true)
    if x is not None:
        _check_against(sequences(x, "x").levels, outer_levels, index, len(is_true))
    result = _merge(
        in_true._make(in_true.values, a[index:]), in_false._make(in_false.values, b[index:]), is_true
    )
    return cast("SameT", in_true._make(result.values, (*outer_levels, *result.levels[1:])))


def _bools(mask: SequencesLike, count: int, what: str) -> Bools:
    bools: Bools = as_bools(array_of(mask, "mask"), mask, "mask")
    if bools.ndim == 2 and bools.shape[1] == 1:
        bools = bools[:, 0]
    if bools.shape != (count,):
        raise value_error(
            "mask", f"expected {count} bools, one for each of the {what}, got shape {bools.shape}"
        )
    return bools


def _mask_of(mask: SequencesLike, true: int, false: int, what: str) -> Bools:
    """A mask that is True `true` times, and False `false` times."""
    is_true = _bools(mask, true + false, f"{what} of in_true and in_false")
    trues = int(np.count_nonzero(is_true))
    if trues != true:
        raise value_error("mask", f"is True for {trues} of the {what}, but in_true has {true}")
    return is_true


def _no_level(level: int) -> None:
    if as_int(level, "level", SMALLEST) not in (0, -1):
        raise index_error("level", f"{level} is out of range for rows without levels")


def _take(rows: Any, index: Any) -> Any:
    return take(rows, np.arange(len(rows))[index])


def _select_where(x: Ragged[Any], index: int, is_true: Bools) -> Ragged[Any]:
    values, levels = select(x, index, is_true)
    outer_levels = x.levels[:index]
    if index:
        outer_levels = (*outer_levels[:-1], mask_level(outer_levels[-1], is_true))
    return x._make(values, (*outer_levels, *levels))


def _merge(true: Ragged[Any], false: Ragged[Any], is_true: Bools) -> Ragged[Any]:
    """Sequences of both in the order of the mask, under one more level."""
    if true.values.shape[1:] != false.values.shape[1:]:
        raise value_error(
            "in_false",
            f"has rows of shape {tuple(false.values.shape[1:])}, "
            f"in_true of shape {tuple(true.values.shape[1:])}",
        )
    groups = Level.from_lengths(is_true.view(np.uint8)), Level.from_lengths((~is_true).view(np.uint8))
    parts = [
        part._make(part.values, (level, *part.levels))
        for part, level in zip((true, false), groups, strict=True)
    ]
    return concatenate(parts, axis=1)


def _outer_levels(a: Levels, b: Levels, is_true: Bools) -> Levels:
    """The levels above those that are merged: the innermost of them holds what both hold."""
    if not a:
        return ()
    if not same_levels(a[:-1], b[:-1]) or len(a[-1]) != len(b[-1]):
        what = describe_difference(a[:-1], b[:-1])
        if len(a[-1]) != len(b[-1]):
            what = f"level {len(a) - 1} has {len(a[-1])} sequences in one and {len(b[-1])} in the other"
        raise value_error("", f"in_true, in_false: nest differently above level {len(a)}: {what}")
    level = Level.from_offsets(a[-1].offsets + b[-1].offsets)
    trues = counted_before(is_true)[level.offsets]
    if not np.array_equal(trues, a[-1].offsets):
        i = int((np.diff(trues) != a[-1].lengths).argmax())
        raise value_error(
            "mask",
            f"is True for {trues[i + 1] - trues[i]} sequences in sequence {i} of level {len(a) - 1}, "
            f"but in_true has {a[-1].lengths[i]}",
            row=i,
            number=int(trues[i + 1] - trues[i]),
        )
    return (*a[:-1], level)


def _check_against(levels: Levels, outer_levels: Levels, index: int, count: int) -> None:
    if len(levels) <= index:
        raise value_error("x", f"has {len(levels)} levels, in_true has more")
    if len(levels[index]) != count:
        raise value_error(
            "x", f"has {len(levels[index])} sequences of level {index}, the mask is for {count}"
        )
    if not same_levels(levels[:index], outer_levels):
        raise value_error(
            "x", f"nests differently above level {index}: {describe_difference(levels[:index], outer_levels)}"
        )


def _merged_rows(in_true: object, in_false: object, x: Any, mask: Any, level: int) -> Any:
    _no_level(level)
    a, b = as_values(in_true, "in_true"), as_values(in_false, "in_false")
    is_true = _mask_of(mask, len(a), len(b), "rows")
    if x is not None and len(x) != len(is_true):
        raise value_error("x", f"has {len(x)} rows, the mask is for {len(is_true)}")
    return _merge(Ragged._make(a, ()), Ragged._make(b, ()), is_true).values
