"""TensorFlow's row partitions: constructors of a Ragged, and views of its levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen._core import Level, RaggedBase
from varlen.arguments import as_int, as_list, axis_of, fits_memory
from varlen.backends.values import ArrayT, as_values
from varlen.errors import value_error
from varlen.levels import level_from, nested_levels
from varlen.ops.support.inputs import nest_rows
from varlen.tf.faces import DeclaredPartitions
from varlen.tf.levels import level_of_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from varlen.backends.values import SequencesLike
    from varlen.tf.levels import Ints


class RowPartitions(DeclaredPartitions[ArrayT]):
    """The row partitions of a `RaggedTensor`: its levels, under TensorFlow's names.

    A constructor takes values, or a Ragged, whose sequences become the rows of a new outermost level. Members
    named `nested_...` describe all levels, outermost first; the others describe the outermost level. Arrays
    are int64 and read-only, even if values are tensors.

    Examples
    --------
    >>> r = RowPartitions.from_row_lengths([3, 1, 4, 1, 5], [3, 0, 2])
    >>> r.row_splits, r.row_starts(), r.row_limits(), r.value_rowids()
    (array([0, 3, 3, 5]), array([0, 3, 3]), array([3, 3, 5]), array([0, 0, 0, 2, 2]))
    >>> RowPartitions.from_row_splits(r, [0, 2, 3]).to_list()
    [[[3, 1, 4], []], [[1, 5]]]
    """

    __slots__ = ()

    @classmethod
    def from_row_starts(
        cls,
        values: ArrayT | RaggedBase[ArrayT] | Sequence[Any],
        row_starts: ArrayLike,
        name: str | None = None,
        validate: bool = True,
    ) -> Self:
        """Make one from the start of each row; a row ends where the next one starts.

        Parameters
        ----------
        values
            As in `from_row_splits`.
        row_starts
            (n,) integers; the first is 0, and none is below the one before it.
        name, validate
            Accepted for compatibility with TensorFlow: names have no effect, and partitions are always
            checked.

        Returns
        -------
        RaggedTensor
            One level, or one more than the Ragged has. The values are shared.

        Raises
        ------
        ValueError
            Starts decrease, do not begin at 0, or lie beyond the items.

        Notes
        -----
        Like `tf.RaggedTensor.from_row_starts`.

        Examples
        --------
        >>> RowPartitions.from_row_starts([7, 8, 9], [0, 2, 2]).to_list()
        [[7, 8], [], [9]]
        """
        values = _rows(values)
        try:
            begins = level_from(row_starts, Level.from_bounds, "row_starts").bounds
        except ValueError as error:
            raise _start_error(error) from None
        if len(begins) and begins[0] != 0:
            raise value_error(
                "row_starts",
                f"the first sequence starts at {begins[0]}, not at 0",
                row=0,
                number=int(begins[0]),
            )
        rows = len(values)
        if len(begins) and begins[-1] > rows:
            raise value_error(
                "row_starts",
                f"the last sequence starts at {begins[-1]}, but there are {rows} values",
                row=len(begins) - 1,
                number=int(begins[-1]),
            )
        ends = np.append(begins[1:], rows)[: len(begins)]
        return cls._with_level(values, Level.from_bounds(ends), "row_starts")

    @classmethod
    def from_uniform_row_length(
        cls,
        values: ArrayT | RaggedBase[ArrayT] | Sequence[Any],
        uniform_row_length: int,
        nrows: int | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Self:
        """Make one from the length that all rows share.

        Parameters
        ----------
        values
            As in `from_row_splits`.
        uniform_row_length
            The number of items in each row, 0 or more.
        nrows
            The number of rows; by default as many as the items fill, none if the length is 0.
        name, validate
            Accepted for compatibility with TensorFlow: names have no effect, and partitions are always
            checked.

        Returns
        -------
        RaggedTensor
            One level, or one more than the Ragged has. The values are shared.

        Raises
        ------
        ValueError
            The length is below 0, or nrows rows of that length are not all the items.

        Notes
        -----
        Like `tf.RaggedTensor.from_uniform_row_length`.

        Examples
        --------
        >>> RowPartitions.from_uniform_row_length([7, 8, 9, 1], 2).to_list()
        [[7, 8], [9, 1]]
        >>> RowPartitions.from_uniform_row_length(vl.Ragged([7, 8, 9], [2, 0, 1, 0]), 2).to_list()
        [[[7, 8], []], [[9], []]]
        """
        values = _rows(values)
        length, rows = as_int(uniform_row_length, "uniform_row_length"), len(values)
        count = rows // max(length, 1) if nrows is None else as_int(nrows, "nrows")
        count = 0 if nrows is None and length == 0 else count
        if count * length != rows:
            raise value_error(
                "uniform_row_length",
                f"{count} sequences of {length} make {count * length}, but there are {rows} values",
            )
        level = Level.from_lengths(np.full(fits_memory(count, "nrows"), length))
        return cls._with_level(values, level, "uniform_row_length")

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: ArrayT | RaggedBase[ArrayT] | Sequence[Any],
        nested_row_splits: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> Self:
        """Make one from offsets per level, outermost first.

        Parameters
        ----------
        flat_values
            Rows laid end to end, (total, ...).
        nested_row_splits
            A list of (n + 1,) integers, one for each level; each ends at the number of rows of the next
            level.
        name, validate
            Accepted for compatibility with TensorFlow: names have no effect, and partitions are always
            checked.

        Returns
        -------
        RaggedTensor
            One level for each entry. The values are shared.

        Raises
        ------
        TypeError
            The argument is one array instead of a list of arrays.
        ValueError
            There is no level, or the levels do not fit each other or the values.

        Examples
        --------
        >>> RowPartitions.from_nested_row_splits([7, 8, 9], [[0, 1, 2], [0, 2, 3]]).to_list()
        [[[7, 8]], [[9]]]
        """
        argument = "nested_row_splits"
        return cls._make(
            *nest_rows(
                flat_values,
                nested_levels(nested_row_splits, Level.from_offsets, argument),
                argument,
                "flat_values",
            )
        )

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: ArrayT | RaggedBase[ArrayT] | Sequence[Any],
        nested_value_rowids: Any,
        nested_nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Self:
        """Make one from the row numbers of each level's items, outermost first.

        Parameters
        ----------
        flat_values
            Rows laid end to end, (total, ...).
        nested_value_rowids
            A list of arrays, one for each level: integers that never decrease, the row of each item of the
            next level.
        nested_nrows
            The number of rows of each level, including empty ones at the end; an entry may be None. By
            default a level has as many rows as the level above holds, and the outermost has its last id + 1.
        name, validate
            Accepted for compatibility with TensorFlow: names have no effect, and partitions are always
            checked.

        Returns
        -------
        RaggedTensor
            One level for each entry. The values are shared.

        Raises
        ------
        TypeError, ValueError
            As in `from_nested_row_splits`, or `nested_nrows` does not have one entry per level.

        Examples
        --------
        >>> RowPartitions.from_nested_value_rowids([7, 8, 9], [[0, 1, 1], [0, 0, 1]]).to_list()
        [[[7, 8]], [[9], []]]
        """
        argument, counts_name = "nested_value_rowids", "nested_nrows"
        ids = as_list(nested_value_rowids, argument, "arrays, one a level")
        counts = [None] * len(ids) if nested_nrows is None else as_list(nested_nrows, counts_name, "numbers")
        if len(counts) != len(ids):
            raise value_error(counts_name, f"{len(counts)} numbers for {len(ids)} levels")
        levels: list[Any] = []
        for d, (item, count) in enumerate(zip(ids, counts, strict=True)):
            nrows = levels[-1].total if levels and nested_nrows is None else count
            levels.append(level_of_ids(item, nrows, f"{argument}[{d}]", f"{counts_name}[{d}]"))
        return cls._make(
            *nest_rows(
                flat_values, nested_levels(levels, Level.from_lengths, argument), argument, "flat_values"
            )
        )

    @classmethod
    def _with_level(cls, values: SequencesLike, level: Level, argument: str) -> Self:
        return cls._make(*nest_rows(values, (level,), argument))

    @property
    def flat_values(self) -> ArrayT:
        """The rows laid end to end, varlen's `values`. TensorFlow's `values` drop only one level."""
        return self._values

    @property
    def ragged_rank(self) -> int:
        """The number of levels."""
        return len(self._levels)

    @property
    def row_splits(self) -> Ints:
        """`offsets`: int64 (n + 1,), read-only, the first is 0."""
        return self._levels[0].offsets

    @property
    def nested_row_splits(self) -> tuple[Ints, ...]:
        """Offsets of each level: int64, read-only."""
        return tuple(level.offsets for level in self._levels)

    @property
    def uniform_row_length(self) -> int | None:
        """The length that all outermost sequences share; None if they differ or there are none."""
        level = self._levels[0]
        return level.longest if len(level) and level.shortest == level.longest else None

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Ints | Any:
        """The lengths of the sequences along an axis of `shape`.

        Parameters
        ----------
        axis
            1 is the outermost level and gives int64 (n,), read-only. 0 gives `nrows()`. A deeper level gives
            a Ragged of its lengths, nested like its sequences. An axis of the rows gives a Ragged of that one
            size.
        name
            Ignored.

        Returns
        -------
        numpy.ndarray, RaggedTensor or int
            int64, depending on `axis`.

        Raises
        ------
        ValueError
            There is no such axis.

        Examples
        --------
        >>> r = RowPartitions.from_list([[[1, 2], [3]], []])
        >>> r.row_lengths(), r.row_lengths(axis=2).to_list()
        (array([2, 0]), [[2, 1], []])
        """
        depth, rows = len(self._levels), self._values.shape
        place = axis_of(axis, depth + len(rows))
        if place == 0:
            return self.nrows()
        if place == 1:
            return self._levels[0].lengths
        if place <= depth:
            return self._make(self._levels[place - 1].lengths, self._levels[: place - 1])
        inner_shape: tuple[int, ...] = tuple(rows[1 : place - depth])
        return self._make(np.full((len(self._values), *inner_shape), rows[place - depth]), self._levels)


def _rows(values: SequencesLike) -> Any:
    return values if isinstance(values, RaggedBase) else as_values(values)


def _start_error(error: Any) -> Exception:
    """An error about where sequences end, of which the starts were given."""
    if getattr(error, "code", "") != "decreasing":
        return cast("Exception", error)
    reason = f"row {error.row} starts at {error.number}, before the row in front of it"
    return value_error("row_starts", reason)
