"""`LoDTensor`: a Ragged with Paddle's members, such as lengths and offsets as nested lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from varlen._core import Level, RaggedBase
from varlen.arguments import as_int
from varlen.backends.values import ArrayT, as_values
from varlen.errors import index_error, value_error
from varlen.levels import check_levels, levels_over_rows, nest_levels, nested_levels, resolve_level
from varlen.lod import seq_pos
from varlen.ops.support.inputs import nest_rows
from varlen.types import Ragged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self

    from varlen.backends.values import DTypes, RowsT

    Ints = NDArray[np.int64]


class LoDTensor(Ragged[ArrayT]):
    """A `varlen.Ragged` with the members of Paddle's `LoDTensor`, at any depth.

    Make one like a `varlen.Ragged`, by `create_lod_tensor`, or by one of its own constructors. Members that
    return nested lists in Paddle return nested lists here; all others return read-only arrays.

    Parameters
    ----------
    values
        Rows laid end to end, (total, ...), of any dtype of fixed width: an array or a tensor, shared where
        its memory is contiguous, or what `np.asarray` reads.
    lengths
        (n,) integers, how many rows each sequence has; or a list of these, one for each level, outermost
        first.
    data
        In place of values, under Thinc's name.
    offsets
        In place of lengths: (n + 1,) integers, or a list of these.
    levels
        Instead of lengths: `Level` objects, outermost first, which are shared.

    Examples
    --------
    >>> from varlen.lod import LoDTensor
    >>> r = LoDTensor.from_recursive_sequence_lengths(np.arange(6), [[2, 1], [3, 1, 2]])
    >>> r.to_list()
    [[[0, 1, 2], [3]], [[4, 5]]]
    >>> r.lod(), r.recursive_sequence_lengths()
    ([[0, 2, 3], [0, 3, 4, 6]], [[2, 1], [3, 1, 2]])
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @overload
        @classmethod
        def from_list(
            cls: type[LoDTensor[Any]],
            data: Sequence[RowsT] | Sequence[Sequence[RowsT]] | Sequence[Sequence[Sequence[RowsT]]],
            dtype: DTypes | None = None,
        ) -> LoDTensor[RowsT]: ...
        @overload
        @classmethod
        def from_list(
            cls: type[LoDTensor[Any]], data: Sequence[Any], dtype: DTypes | None = None
        ) -> LoDTensor[np.ndarray]: ...
        @classmethod
        def from_list(cls, data: Any, dtype: DTypes | None = None) -> Any: ...

    @classmethod
    def from_recursive_sequence_lengths(
        cls, values: RowsT | RaggedBase[RowsT] | Sequence[Any], recursive_sequence_lengths: Any
    ) -> LoDTensor[RowsT]:
        """Make one from lengths per level, outermost first; Paddle's `set_recursive_sequence_lengths`.

        Parameters
        ----------
        values
            Rows laid end to end, (total, ...).
        recursive_sequence_lengths
            One list or array of lengths for each level, or `Level` objects, which are shared.

        Returns
        -------
        LoDTensor
            An LoDTensor with a level for each list. The values are shared.

        Raises
        ------
        TypeError
            The argument is one list of lengths instead of a list of lists.
        ValueError
            There is no level, a length is negative, or the levels do not fit each other or the rows.

        Examples
        --------
        >>> LoDTensor.from_recursive_sequence_lengths([7, 8, 9], [[2, 1]]).to_list()
        [[7, 8], [9]]
        """
        name = "recursive_sequence_lengths"
        levels = nested_levels(recursive_sequence_lengths, Level.from_lengths, name)
        result: Any = cls._make(*nest_rows(values, levels, name))
        return cast("LoDTensor[RowsT]", result)

    @classmethod
    def from_lod(cls, values: RowsT | RaggedBase[RowsT] | Sequence[Any], lod: Any) -> LoDTensor[RowsT]:
        """Make one from offsets per level, which count the next level's sequences; Paddle's `set_lod`.

        Parameters
        ----------
        values
            Rows laid end to end, (total, ...).
        lod
            A list of offsets for each level, outermost first: integers that start at 0 and never decrease.
            The offsets of a level end at the number of sequences of the next level; the last ones end at the
            number of rows.

        Returns
        -------
        LoDTensor
            An LoDTensor with a level for each list. The values are shared.

        Raises
        ------
        TypeError
            The argument is one list of offsets instead of a list of lists.
        ValueError
            There is no level, offsets decrease or do not start at 0, or levels do not fit.

        Examples
        --------
        >>> LoDTensor.from_lod(np.arange(6), [[0, 2, 3], [0, 3, 4, 6]]).to_list()
        [[[0, 1, 2], [3]], [[4, 5]]]
        """
        result: Any = cls._make(*nest_rows(values, nested_levels(lod, Level.from_offsets, "lod"), "lod"))
        return cast("LoDTensor[RowsT]", result)

    @classmethod
    def from_absolute_offsets(
        cls, values: RowsT | RaggedBase[RowsT] | Sequence[Any], offsets: Any, *, empty: str | None = None
    ) -> LoDTensor[RowsT]:
        """Make one from offsets per level that count rows, as `absolute_offsets` gives them.

        Parameters
        ----------
        values
            Rows laid end to end, (total, ...).
        offsets
            One list or array for each level, outermost first; all end at the number of rows.
        empty
            The neighbour that holds empty sequences between two others, which row offsets do not determine:
            "before" or "after". None refuses such offsets.

        Returns
        -------
        LoDTensor
            An LoDTensor with a level for each list. The values are shared.

        Raises
        ------
        ValueError
            As in `from_lod`, or a sequence ends inside one of the next level, or next to an empty one.

        Examples
        --------
        >>> LoDTensor.from_absolute_offsets(np.arange(6), [[0, 4, 6], [0, 3, 4, 6]]).to_list()
        [[[0, 1, 2], [3]], [[4, 5]]]
        """
        levels = nested_levels(offsets, Level.from_offsets, "offsets")
        result: Any = cls._make(*nest_rows(values, nest_levels(levels, "offsets", empty), "offsets"))
        return cast("LoDTensor[RowsT]", result)

    @classmethod
    def from_seq_pos(
        cls, values: RowsT | RaggedBase[RowsT] | Sequence[Any], start_poses: Any, dim: int | None = None
    ) -> LoDTensor[RowsT]:
        """Make one from the start of each sequence, in rows of the enclosing sequence, without ends.

        Parameters
        ----------
        values
            Rows laid end to end, (total, ...).
        start_poses
            A list of lists: first the starts of the outermost sequences, then for each of these the starts of
            its own, then for each of those, and so on. Every list starts at 0; a sequence without sequences
            has an empty one. Or a Ragged, as `seq_pos` gives it.
        dim
            The number of levels; by default as many as the lists reach, which omits innermost levels that
            have no sequence above them.

        Returns
        -------
        LoDTensor
            The values are shared.

        Raises
        ------
        TypeError
            The starts are not integers.
        ValueError
            Starts decrease or lie beyond their sequence, or there are too few or too many lists; the error
            names the list.

        Examples
        --------
        >>> LoDTensor.from_seq_pos(np.arange(6), [[0, 4], [0, 3], [0]]).to_list()
        [[[0, 1, 2], [3]], [[4, 5]]]
        """
        rows = values if isinstance(values, RaggedBase) else as_values(values)
        result: Any = cls._make(
            *nest_rows(rows, seq_pos.levels_of(start_poses, len(rows), dim), "start_poses")
        )
        return cast("LoDTensor[RowsT]", result)

    def recursive_sequence_lengths(self) -> list[list[int]]:
        """The lengths of each level, outermost first. `levels` has them as arrays.

        Returns
        -------
        list of list of int
            One list for each level.

        Examples
        --------
        >>> LoDTensor.from_list([[[1, 2], [3]], []]).recursive_sequence_lengths()
        [[2, 0], [2, 1]]
        """
        return [level.lengths.tolist() for level in self._levels]

    def lod(self) -> list[list[int]]:
        """The offsets of each level, outermost first; they count the sequences of the next level.

        Returns
        -------
        list of list of int
            A list for each level, with one number more than the level has sequences.

        Examples
        --------
        >>> LoDTensor.from_list([[[1, 2], [3]], []]).lod()
        [[0, 2, 2], [0, 2, 3]]
        """
        return [level.offsets.tolist() for level in self._levels]

    def set_recursive_sequence_lengths(self, recursive_sequence_lengths: Any) -> None:
        """Give the same rows other levels, in place, from a list of lengths for each level.

        Earlier slices keep their levels.

        Parameters
        ----------
        recursive_sequence_lengths
            One list or array of lengths for each level, outermost first, or `Level` objects, which are
            shared.

        Raises
        ------
        TypeError
            The argument is one list of lengths instead of a list of lists.
        ValueError
            There is no level, a length is negative, or the levels do not fit each other or the rows. Nothing
            is changed.

        Examples
        --------
        >>> r = LoDTensor([7, 8, 9], [2, 1])
        >>> r.set_recursive_sequence_lengths([[1, 1], [1, 2]])
        >>> r.to_list()
        [[[7]], [[8, 9]]]
        """
        self._set_levels(recursive_sequence_lengths, Level.from_lengths, "recursive_sequence_lengths")

    def set_lod(self, lod: Any) -> None:
        """Give the same rows other levels, in place, from offsets for each level.

        Parameters
        ----------
        lod
            A list of offsets for each level, outermost first, as `from_lod` takes them.

        Raises
        ------
        TypeError, ValueError
            As in `from_lod`. Nothing is changed.

        Examples
        --------
        >>> r = LoDTensor([7, 8, 9], [2, 1])
        >>> r.set_lod([[0, 1, 3]])
        >>> r.to_list()
        [[7], [8, 9]]
        """
        self._set_levels(lod, Level.from_offsets, "lod")

    def _set_levels(self, value: Any, make: Any, argument: str) -> None:
        levels = nested_levels(value, make, argument)
        check_levels(len(self._values), levels, argument)
        self._levels = levels

    def absolute_offsets(self) -> tuple[Ints, ...]:
        """The offsets of each level in rows, outermost first; Paddle's `ToAbsOffset`.

        Returns
        -------
        tuple of numpy.ndarray
            int64 (n + 1,) for each level of n sequences, read-only.

        Examples
        --------
        >>> LoDTensor.from_list([[[1, 2], [3]], []]).absolute_offsets()
        (array([0, 3, 3]), array([0, 2, 3]))
        """
        return tuple(level.offsets for level in levels_over_rows(self._levels))

    def seq_pos(self) -> Self | Any:
        """The start of each sequence inside its enclosing sequence, counted in rows.

        Returns
        -------
        LoDTensor
            One level of int64: a list of starts for the outermost sequences, then one for each sequence that
            holds others. `from_seq_pos` reads it.

        Examples
        --------
        >>> LoDTensor.from_list([[[1, 2], [3]], [[4]]]).seq_pos().to_list()
        [[0, 3], [0, 2], [0]]
        """
        starts, vectors = seq_pos.starts_of(self._levels)
        return self._make(starts, (vectors,))

    def has_valid_recursive_sequence_lengths(self) -> bool:
        """Whether the levels fit the values. Only resized tensors may not fit.

        Returns
        -------
        bool
            True if the innermost level has as many rows as the values.

        Examples
        --------
        >>> LoDTensor([3, 1, 4], [2, 1]).has_valid_recursive_sequence_lengths()
        True
        """
        return self._levels[-1].total == len(self._values)

    def slice_in_level(self, level: int, begin: int, end: int) -> Self:
        """Slice sequences begin to end of a level, without the levels above; Paddle's `SliceInLevel`.

        Parameters
        ----------
        level
            The level, counted from the outermost; negative ones count from the innermost.
        begin, end
            The first sequence, and the one after the last. They may be equal.

        Returns
        -------
        LoDTensor
            An LoDTensor with the levels from `level` on, each counted from 0 again. The values are shared.

        Raises
        ------
        IndexError
            There is no such level, or `end` is beyond its sequences.
        ValueError
            `begin` is below 0 or after `end`.

        Examples
        --------
        >>> LoDTensor.from_list([[[1, 2], [3]], [[4]]]).slice_in_level(1, 1, 3).to_list()
        [[3], [4]]
        """
        index = resolve_level(level, self._levels)
        n = len(self._levels[index])
        first, last = as_int(begin, "begin"), as_int(end, "end")
        if last > n:
            raise index_error(
                "end", f"{last} is out of range for {n} sequences of level {index}", number=last
            )
        if first > last:
            raise value_error("begin", f"{first} is after end, {last}", number=first)
        part: Self = self._make(self._values, self._levels[index:])[first:last]
        return part

    def sub_lod(self, level: int, begin: int, end: int) -> tuple[list[list[int]], tuple[int, int]]:
        """The lengths and the rows of sequences begin to end of a level.

        Parameters
        ----------
        level
            The level, counted from the outermost; negative ones count from the innermost.
        begin, end
            The first sequence, and the one after the last. They may be equal.

        Returns
        -------
        lengths : list of list of int
            The lengths of the levels from `level` on.
        rows : tuple of int
            The first row, and the row after the last.

        Raises
        ------
        IndexError, ValueError
            As in `slice_in_level`.

        Notes
        -----
        Like Paddle's `GetSubLoDAndAbsoluteOffset`, which takes the level after the LoD.

        Examples
        --------
        >>> LoDTensor.from_list([[[1, 2], [3]], [[4]]]).sub_lod(0, 1, 2)
        ([[1], [1]], (3, 4))
        """
        part = self.slice_in_level(level, begin, end)
        rows = [as_int(begin, "begin"), as_int(end, "end")]
        for sub_level in self._levels[resolve_level(level, self._levels) :]:
            rows = sub_level.offsets[rows].tolist()
        return [sub_level.lengths.tolist() for sub_level in part._levels], (rows[0], rows[1])
