"""Levels under TensorFlow's names."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from varlen._core import Level, RaggedBase
from varlen.backends.values import ArrayT
from varlen.levels import level_from, nested_levels
from varlen.ops.support.inputs import nest_rows
from varlen.tf.levels import level_of_ids
from varlen.types import Ragged

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from varlen.tf.levels import Ints


class DeclaredPartitions(Ragged[ArrayT]):
    """Members of a `RaggedTensor`, which inherits them."""

    __slots__ = ()

    @classmethod
    def from_row_splits(
        cls, values: ArrayT | RaggedBase[ArrayT] | Sequence[Any], row_splits: ArrayLike,
        name: str | None = None, validate: bool = True,
    ) -> Self:
        """Make one from offsets: row i goes from row_splits[i] to row_splits[i + 1].

        Parameters
        ----------
        values
            Rows laid end to end, (total, ...), or a Ragged, whose sequences become the items of a new
            outermost level.
        row_splits
            (n + 1,) integers, which start at 0, never decrease, and end at the number of items.
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
            The splits break one of these rules; the error names the row and the number.

        Notes
        -----
        Like `tf.RaggedTensor.from_row_splits`; `varlen.Ragged.from_offsets` under TensorFlow's name.

        Examples
        --------
        >>> vl.tf.RaggedTensor.from_row_splits([7, 8, 9], [0, 2, 3]).to_list()
        [[7, 8], [9]]
        """
        return cls._make(
            *nest_rows(values, (level_from(row_splits, Level.from_offsets, "row_splits"),), "row_splits")
        )

    @classmethod
    def from_row_lengths(
        cls, values: ArrayT | RaggedBase[ArrayT] | Sequence[Any], row_lengths: ArrayLike,
        name: str | None = None, validate: bool = True,
    ) -> Self:
        """Make one from the length of each row.

        Parameters
        ----------
        values
            As in `from_row_splits`.
        row_lengths
            (n,) integers of 0 or more, which add up to the number of items.
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
            A length is negative, or the lengths do not add up to the items.

        Notes
        -----
        Like `tf.RaggedTensor.from_row_lengths`.

        Examples
        --------
        >>> vl.tf.RaggedTensor.from_row_lengths([7, 8, 9], [2, 1]).to_list()
        [[7, 8], [9]]
        """
        return cls._make(
            *nest_rows(values, (level_from(row_lengths, Level.from_lengths, "row_lengths"),), "row_lengths")
        )

    @classmethod
    def from_row_limits(
        cls, values: ArrayT | RaggedBase[ArrayT] | Sequence[Any], row_limits: ArrayLike,
        name: str | None = None, validate: bool = True,
    ) -> Self:
        """Make one from the end of each row; a row starts where the previous one ends.

        Parameters
        ----------
        values
            As in `from_row_splits`.
        row_limits
            (n,) integers, none below the one before it; the last is the number of items.
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
            The limits decrease, are negative, or do not end at the number of items.

        Notes
        -----
        Like `tf.RaggedTensor.from_row_limits`; `varlen.Level.from_bounds` makes a level from them.

        Examples
        --------
        >>> vl.tf.RaggedTensor.from_row_limits([7, 8, 9], [2, 3]).to_list()
        [[7, 8], [9]]
        """
        return cls._make(
            *nest_rows(values, (level_from(row_limits, Level.from_bounds, "row_limits"),), "row_limits")
        )

    @classmethod
    def from_value_rowids(
        cls, values: ArrayT | RaggedBase[ArrayT] | Sequence[Any], value_rowids: ArrayLike,
        nrows: int | None = None, name: str | None = None, validate: bool = True,
    ) -> Self:
        """Make one from the row number of each item.

        Parameters
        ----------
        values
            As in `from_row_splits`.
        value_rowids
            (items,) integers of 0 or more, none below the one before it.
        nrows
            How many rows there are; by default the last id + 1.
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
            Ids decrease, are below 0 or are not below nrows, or their number is not that of the items.

        Notes
        -----
        Like `tf.RaggedTensor.from_value_rowids`; `varlen.Ragged.from_row_ids` under TensorFlow's name.

        Examples
        --------
        >>> vl.tf.RaggedTensor.from_value_rowids([7, 8, 9], [0, 0, 2], nrows=4).to_list()
        [[7, 8], [], [9], []]
        """
        return cls._make(
            *nest_rows(values, (level_of_ids(value_rowids, nrows, "value_rowids", "nrows"),), "value_rowids")
        )

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: ArrayT | RaggedBase[ArrayT] | Sequence[Any], nested_row_lengths: Any,
        name: str | None = None, validate: bool = True,
    ) -> Self:
        """Make one from lengths per level, outermost first.

        Parameters
        ----------
        flat_values
            Rows laid end to end, (total, ...).
        nested_row_lengths
            A list of (n,) integers, one for each level; each adds up to the number of rows of the next level.
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
            As in `from_nested_row_splits`.

        Examples
        --------
        >>> vl.tf.RaggedTensor.from_nested_row_lengths([7, 8, 9], [[1, 1], [2, 1]]).to_list()
        [[[7, 8]], [[9]]]
        """
        return cls._make(
            *nest_rows(flat_values, nested_levels(nested_row_lengths, Level.from_lengths,
            "nested_row_lengths"), "nested_row_lengths", "flat_values")
        )

    def nrows(self, out_type: Any = None, name: str | None = None) -> int:
        """The number of rows, like `len`.

        Parameters
        ----------
        out_type, name
            Ignored.

        Returns
        -------
        int
            The number of sequences of the outermost level.

        Examples
        --------
        >>> vl.tf.RaggedTensor([3, 1, 4], [2, 1]).nrows()
        2
        """
        return len(self._levels[0])

    def row_starts(self, name: str | None = None) -> Ints:
        """The start of each row.

        Parameters
        ----------
        name
            Ignored.

        Returns
        -------
        numpy.ndarray
            int64 (n,), read-only.

        Examples
        --------
        >>> vl.tf.RaggedTensor([3, 1, 4], [2, 1]).row_starts()
        array([0, 2])
        """
        return self._levels[0].offsets[:-1]

    def row_limits(self, name: str | None = None) -> Ints:
        """The end of each row.

        Parameters
        ----------
        name
            Ignored.

        Returns
        -------
        numpy.ndarray
            int64 (n,), read-only.

        Examples
        --------
        >>> vl.tf.RaggedTensor([3, 1, 4], [2, 1]).row_limits()
        array([2, 3])
        """
        return self._levels[0].bounds

    def value_rowids(self, name: str | None = None) -> Ints:
        """The row number of each item: `varlen.Level.row_ids` of the outermost level.

        Parameters
        ----------
        name
            Ignored.

        Returns
        -------
        numpy.ndarray
            int64, an entry for each item; read-only, cached.

        Examples
        --------
        >>> vl.tf.RaggedTensor([3, 1, 4], [2, 1]).value_rowids()
        array([0, 0, 1])
        """
        return self._levels[0].row_ids

    def nested_row_lengths(self, name: str | None = None) -> tuple[Ints, ...]:
        """Lengths of each level, outermost first.

        Parameters
        ----------
        name
            Ignored.

        Returns
        -------
        tuple[numpy.ndarray, ...]
            int64 (n,) for each level of n rows; read-only, cached.

        Examples
        --------
        >>> vl.tf.RaggedTensor.from_list([[[1, 2], [3]], []]).nested_row_lengths()
        (array([2, 0]), array([2, 1]))
        """
        return tuple(level.lengths for level in self._levels)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Ints, ...]:
        """The row number of each item, per level, outermost first.

        Parameters
        ----------
        name
            Ignored.

        Returns
        -------
        tuple[numpy.ndarray, ...]
            int64, one for each level; read-only, cached.

        Examples
        --------
        >>> vl.tf.RaggedTensor.from_list([[[1, 2], [3]], []]).nested_value_rowids()
        (array([0, 0]), array([0, 0, 1]))
        """
        return tuple(level.row_ids for level in self._levels)
