"""Replace levels, or add one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from varlen._core import Level
from varlen.backends.values import as_values
from varlen.errors import as_record, naming, type_error, value_error
from varlen.levels import check_levels, each_level
from varlen.tracing import eager_only
from varlen.types import Ragged

if TYPE_CHECKING:
    from varlen.backends.values import RaggedT, SequencesLike
    from varlen.levels import Levels


@eager_only()
def lod_reset(x: SequencesLike, y: SequencesLike | None = None, target_lod: Any = None) -> Ragged[Any]:
    """Give the same rows other levels, as Paddle's `lod_reset`.

    Rows are shared, and so is their gradient.

    Parameters
    ----------
    x
        Rows, or a Ragged, whose levels are all replaced.
    y
        A Ragged, all of whose levels are taken and shared; or integers, read as `target_lod`. It takes
        precedence over `target_lod`.
    target_lod
        A `Level`, or integers: lengths, as in Paddle's documentation, or offsets, as its op takes them,
        whichever fits the rows; or a list of either for several levels.

    Returns
    -------
    Ragged
        The rows under the new levels; of the class of x if it is a Ragged.

    Raises
    ------
    ValueError
        Neither y nor target_lod is given; or integers fit neither as lengths nor as offsets, or fit as both
        ([0, 0, 5] over 5 rows): pass a `Level` then.

    Examples
    --------
    >>> x = vl.Ragged(np.arange(10), [3, 2, 5])
    >>> lod_reset(x, target_lod=[7, 3]).lengths, lod_reset(x, target_lod=[0, 7, 10]).lengths
    (array([7, 3]), array([7, 3]))
    """
    values = _rows(x)
    if isinstance(y, Ragged):
        check_levels(len(values), y.levels, "y")
        return (x if isinstance(x, Ragged) else y)._make(values, y.levels)
    if y is None and target_lod is None:
        raise value_error("", "y, target_lod: pass one of them, got neither")
    value, argument = (target_lod, "target_lod") if y is None else (y, "y")
    make = x._make if isinstance(x, Ragged) else Ragged._make
    return make(values, _read(value, len(values), argument))


@eager_only()
def lod_append(x: RaggedT, level: Any, *, empty: str | None = None) -> RaggedT:
    """Add an innermost level, as Paddle's `lod_append`.

    Parameters
    ----------
    x
        A Ragged, which gets one more level, or rows, which get their first.
    level
        Cuts the rows, in the forms that `target_lod` of `lod_reset` takes. If it has as many sequences as
        x has rows, the levels of x stay as they are and count the new sequences, as in Paddle. Otherwise it
        cuts the rows of each innermost sequence of x, which keeps its rows and counts its parts.
    empty
        The sequence of x that takes a new empty sequence between two: "before" or "after".

    Returns
    -------
    Ragged
        The rows of x, shared, with one level more; of the class of x if it is a Ragged.

    Raises
    ------
    ValueError
        A new sequence spans two sequences of x, or is empty and lies between two without `empty`; or as in
        `lod_reset`.

    Examples
    --------
    >>> x = vl.Ragged(np.arange(6), [2, 3, 1])
    >>> lod_append(x, [1, 1, 2, 1, 1]).to_list()
    [[[0], [1]], [[2, 3], [4]], [[5]]]
    >>> lod_append(x, [2, 0, 1, 1, 1, 1]).to_list()
    [[[0, 1], []], [[2], [3], [4]], [[5]]]
    """
    values = _rows(x)
    if isinstance(level, Ragged):
        raise type_error(
            "level", "expected lengths, offsets or a Level, got a Ragged; lod_reset takes its levels"
        )
    levels = _read(level, len(values), "level")
    if len(levels) != 1:
        raise value_error("level", f"expected one level, got {len(levels)}")
    if not isinstance(x, Ragged):
        return cast("RaggedT", Ragged._make(values, levels))
    if len(levels[0]) == x.total:
        return cast("RaggedT", x._make(values, (*x.levels, levels[0])))
    with naming(lengths="level"):
        return cast("RaggedT", x.add_level(levels[0], -1, empty=empty))


def _rows(x: SequencesLike) -> Any:
    return x.values if isinstance(x, Ragged) else as_values(x, "x")


def _read(value: object, rows: int, argument: str) -> Levels:
    """Levels from lengths or from offsets, whichever fits the number of rows."""
    readings, reasons = [], []
    for make in (Level.from_lengths, Level.from_offsets):
        try:
            levels = each_level(_flatten_level(value), make, argument)
            check_levels(rows, levels, argument)
        except ValueError as error:
            reasons.append(vars(as_record(error, ValueError))["reason"])
        else:
            readings.append(levels)
    if len(readings) == 2 and readings[0] != readings[1]:
        raise value_error(
            argument, f"is ambiguous: it fits {rows} rows both as lengths and as offsets", "pass a Level"
        )
    if not readings and reasons[0] == reasons[1]:
        raise value_error(argument, f"{reasons[0]}")
    if not readings:
        raise value_error(argument, f"as lengths: {reasons[0]}; as offsets: {reasons[1]}")
    return readings[0]


def _flatten_level(value: Any) -> Any:
    """One level's integers of any shape with one axis longer than 1, as data may come; levels as they are."""
    if isinstance(value, (list, tuple, Level)):
        return value
    return value.reshape(-1) if getattr(value, "ndim", 1) == 2 and 1 in value.shape else value
