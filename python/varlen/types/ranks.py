"""The order in which sequences of different lengths take steps together: the longest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.arguments import as_array, as_int, is_listed
from varlen.backends.values import as_ints
from varlen.errors import error_of, instance_error, naming, value_error
from varlen.levels import Levels, each_level
from varlen.types.attributes import reduce_container, with_attributes, with_copied_attributes

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from varlen.backends.values import Lengths, SequencesLike

    Ints = NDArray[np.int64]
    Fields = tuple[Ints, Ints, Ints]

ORDERS = ("stable", "reversed", "torch")


class RankTable:
    """Sequences ranked by length, longest first: the sequences that reach a step come first.

    Rank k is sequence indices[k]. The permutation is stored, never computed again. Several inputs of the same
    lengths can share one table, and anything derived from it is computed once.

    Parameters
    ----------
    lengths
        (n,) integers in the original order, or a `Level`.
    indices
        (n,) integers, a permutation under which the lengths never increase. None if the sequences are in
        order already; torch then gets no permutation either.
    outer
        The levels above, outermost first: `Level` objects or arrays of lengths. Unpacking restores them.

    Raises
    ------
    TypeError
        Lengths or indices are not integers.
    ValueError
        The indices are no permutation, lengths increase under them, or levels do not fit.

    Notes
    -----
    Like Paddle's LoDRankTable. `sort_by_length` makes one from a Ragged.

    Examples
    --------
    >>> table = vl.RankTable([2, 0, 3], [2, 0, 1])
    >>> table
    RankTable(3 sequences, 3 steps, 5 rows, lengths 0 to 3)
    >>> table.size_at_t, table.lengths, table.inverse
    (array([2, 2, 1]), array([3, 2, 0]), array([1, 2, 0]))
    """

    __slots__ = (
        "__weakref__",
        "_fields",
        "_inverse",
        "_is_presorted",
        "_level",
        "_outer",
        "_places",
        "_rows",
        "_steps",
        "_tensors",
    )  # fmt: skip
    __hash__ = None  # type: ignore[assignment]

    _level: Level
    _outer: Levels
    _fields: Fields
    _is_presorted: bool
    _places: Ints | None
    _inverse: Ints | None
    _rows: Ints | None
    _steps: Level | None
    _tensors: tuple[Any, Any] | None

    def __init__(self, lengths: Lengths, indices: Any = None, *, outer: Any = ()) -> None:
        level = lengths if type(lengths) is Level else Level.from_lengths(as_ints(lengths))
        has_lengths = type(outer) is Level or is_listed(outer)
        if not has_lengths:
            raise instance_error("outer", "a list of lengths", outer)
        outer_levels = each_level(outer, Level.from_lengths, "outer") if len(outer) else ()
        for d, (one, inner_level) in enumerate(zip(outer_levels, (*outer_levels, level)[1:], strict=True)):
            if not one._fits(len(inner_level)):
                raise value_error(
                    "outer",
                    f"the lengths of level {d} add up to {one.total}, "
                    f"but the level below has {len(inner_level)} sequences",
                )
        self._set(level, fields_of(level, indices), outer_levels, indices is None)

    def _set(self, level: Level, fields: Fields, outer: Levels, is_sorted: bool) -> None:
        self._level = level
        self._fields = fields
        self._outer = outer
        self._is_presorted = is_sorted
        self._places = self._inverse = self._rows = self._steps = self._tensors = None

    @classmethod
    def _make(cls, level: Level, fields: Fields, outer: Levels = (), is_sorted: bool = False) -> Self:
        """Makes one from parts that are known to fit."""
        result = object.__new__(cls)
        result._set(level, fields, outer, is_sorted)
        return result

    @classmethod
    def of(cls, level: Level, order: Any = "stable", outer: Levels = ()) -> Self:
        """Make the table of a level.

        Parameters
        ----------
        level
            The sequences in their original order.
        order
            The order of equally long sequences: "stable" keeps it; "reversed" reverses it, as Thinc does;
            "torch" calls `torch.sort`. Or the whole permutation, (n,) integers.
        outer
            The levels above, which unpacking restores.

        Returns
        -------
        RankTable

        Raises
        ------
        ValueError
            The order is unknown, the indices are no permutation, or lengths increase under them.

        Examples
        --------
        >>> level = vl.Level([5, 1, 1])
        >>> vl.RankTable.of(level).items
        [(0, 5), (1, 1), (2, 1)]
        >>> vl.RankTable.of(level, "reversed").indices
        array([0, 2, 1])
        """
        if not isinstance(order, str):
            with naming("order"):
                return cls._make(level, fields_of(level, order), outer)
        if order not in ORDERS:
            raise value_error("order", f"expected one of {', '.join(ORDERS)} or a permutation, got {order!r}")
        if order == "torch":
            from varlen.interop.torch_packed import order_of

            return cls._make(level, fields_of(level, order_of(level)), outer)
        return cls._make(level, _core.pack_order(level, order), outer)

    @property
    def level(self) -> Level:
        """The lengths of the sequences in their original order."""
        return self._level

    @property
    def outer(self) -> Levels:
        """The levels above the ranked one, outermost first."""
        return self._outer

    @property
    def levels(self) -> Levels:
        """The levels above and the ranked level, outermost first."""
        return (*self._outer, self._level)

    @property
    def presorted(self) -> bool:
        """Whether the table was made without a permutation."""
        return self._is_presorted

    @property
    def size_at_t(self) -> Ints:
        """(steps,) int64, read-only: the number of sequences longer than t."""
        return self._fields[0]

    @property
    def lengths(self) -> Ints:
        """(n,) int64, read-only: lengths by rank, the longest first."""
        return self._fields[1]

    @property
    def indices(self) -> Ints:
        """(n,) int64, read-only: the sequence at rank k is indices[k]."""
        return self._fields[2]

    @property
    def items(self) -> list[tuple[int, int]]:
        """Pairs of index and length, by rank, as in Paddle's table."""
        return list(zip(self.indices.tolist(), self.lengths.tolist(), strict=True))

    @property
    def inverse(self) -> Ints:
        """(n,) int64, read-only: sequence i has rank inverse[i]."""
        if self._inverse is None:
            # Packing sequences of one row each permutes them; unpacking applies the inverse.
            count = len(self)
            sizes = [count] if count else []
            ranks = np.arange(count)
            self._inverse = _freeze(_core.packed2ragged(ranks, sizes, np.ones(count, int), self.indices)[0])
        return self._inverse

    @property
    def steps(self) -> Level:
        """The level of the steps: its offsets say where each step begins in packed rows."""
        if self._steps is None:
            self._steps = Level.from_lengths(self.size_at_t)
        return self._steps

    @property
    def rows(self) -> Ints:
        """(total,) int64, read-only: packed row j is row rows[j] of the sequences laid end to end."""
        if self._rows is None:
            numbers = np.arange(self._level.total)
            self._rows = _freeze(_core.ragged2packed(numbers, self._level, "stable", self._fields)[0])
        return self._rows

    @property
    def places(self) -> Ints:
        """(total,) int64, read-only: row i is packed row places[i]."""
        if self._places is None:
            self._places = _freeze(_core.packed2ragged(np.arange(self._level.total), *self._fields)[0])
        return self._places

    @property
    def longest(self) -> int:
        """The number of steps; 0 without sequences."""
        return self._level.longest

    @property
    def total(self) -> int:
        """The number of rows in all sequences."""
        return self._level.total

    def active(self, t: int) -> int:
        """The number of sequences longer than t.

        Parameters
        ----------
        t
            A step, 0 or more; the result is 0 beyond the last.

        Returns
        -------
        int

        Examples
        --------
        >>> [vl.RankTable([3, 1]).active(t) for t in range(4)]
        [2, 1, 1, 0]
        """
        step = as_int(t, "t")
        return int(self.size_at_t[step]) if step < len(self.size_at_t) else 0

    def __len__(self) -> int:
        return len(self._level)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RankTable):
            return NotImplemented
        return other is self or (self.levels == other.levels and np.array_equal(self.indices, other.indices))

    def __copy__(self) -> Self:
        return self if type(self) is RankTable else with_attributes(self._twin(), self, RankTable)

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return (
            self if type(self) is RankTable else with_copied_attributes(self._twin(), self, RankTable, memo)
        )

    def _twin(self) -> Self:
        return self._make(self._level, self._fields, self._outer, self._is_presorted)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        indices = None if self._is_presorted else self.indices
        return reduce_container(_restore, (self._level, indices, self._outer), self, RankTable, protocol)

    def _file_parts(self) -> dict[str, Any]:
        indices = None if self._is_presorted else self.indices
        return {"level": self._level, "indices": indices, "outer": self._outer}

    @classmethod
    def _from_saved(cls, *parts: Any) -> RankTable:
        return _restore(cls, *parts)

    def __repr__(self) -> str:
        from varlen.display.text import table

        return table(type(self).__name__, self.level)


def fields_of(level: Level, indices: object) -> Fields:
    """size_at_t, lengths and indices of a level under a permutation; None keeps the order."""
    order = np.arange(len(level)) if indices is None else as_array(indices, "indices")
    order = order if order.size else order.astype(np.int64)
    if order.ndim != 1 or order.dtype.kind not in "iu":
        raise error_of(
            TypeError, "indices", f"expected integers of one dimension, got {order.dtype}{order.shape}"
        )
    if len(order) != len(level):
        raise value_error("indices", f"{len(order)} entries for {len(level)} sequences")
    lengths = level.lengths
    is_outside = (order < 0) | (order >= len(level))
    if is_outside.any():
        k = int(is_outside.argmax())
        raise value_error(
            "indices",
            f"column {k} holds {order[k]}, but there are {len(level)} sequences",
            row=k,
            number=int(order[k]),
        )
    by_rank = lengths[order]
    return _core.check_padded((level.longest, len(level)), None, by_rank, order)


def _freeze(array: Any) -> Any:
    array.flags.writeable = False
    return array


def _restore(kind: type[RankTable], level: Level, indices: SequencesLike, outer: Levels) -> RankTable:
    return kind(level, indices, outer=outer)
