"""Packed: sequences step by step without padding, the longest first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, cast, overload

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen._hints import PACKED, hint_names
from varlen._methods import adopt_methods
from varlen._restored import by_torch
from varlen.arguments import check_step
from varlen.backends import backend_of
from varlen.backends.values import ArrayT, as_values, copy_of, from_state, is_tensor, to_state
from varlen.errors import index_error, instance_error, type_error, value_error
from varlen.levels import Levels, describe_difference, each_level, resolve_level, same_levels
from varlen.ops.combine import split
from varlen.ops.support.outputs import container, padded_class
from varlen.types import arithmetic
from varlen.types.attributes import reduce_container, with_attributes, with_copied_attributes
from varlen.types.indexing import int_index
from varlen.types.packing import check_table, check_total, from_steps, rank_table, to_steps
from varlen.types.padded import Padded
from varlen.types.ragged import Ragged
from varlen.types.ranks import RankTable
from varlen.types.refusals import NoArray
from varlen.types.tensor_methods import TensorMethods

if TYPE_CHECKING:
    import torch
    from numpy.typing import ArrayLike, NDArray
    from torch.nn.utils.rnn import PackedSequence
    from typing_extensions import Self

    from varlen.backends.values import Lengths, RowsLike, RowsT, SequencesLike
    from varlen.types.dtype import DType

    Ints = NDArray[np.int64]


@adopt_methods
@container("Packed")
class Packed(NoArray, TensorMethods, Generic[ArrayT]):
    """Sequences side by side, step by step and without padding, for recurrent layers.

    It is a list of steps. Step t holds element t of every sequence longer than t, the longest sequence first.
    A step is a view of rows, or a Ragged of whole sub-sequences if the input nests deeper.

    Parameters
    ----------
    values
        (total, ...): the rows of step 0, those of step 1 and so on, of any dtype of fixed width. Shared, not
        copied, if its memory is contiguous. Torch tensors stay tensors.
    lengths
        (n,) integers in the original order, or a `Level`; or a `RankTable`, which replaces all other
        arguments except inner.
    indices
        (n,) integers, a permutation: rank k is sequence indices[k]. None if the sequences are in order
        already.
    size_at_t
        (steps,) integers: the number of sequences longer than t. Only checked against the lengths.
    inner
        Levels below the steps, in packed order: the lengths of the sub-sequences, as `Ragged` takes them.
    outer
        Levels above the sequences, which `to_ragged` restores.

    Raises
    ------
    TypeError
        The values are Python objects, or lengths, sizes or indices are not integers.
    ValueError
        The parts do not fit each other. The error names the part, the place and the number.

    Notes
    -----
    It holds the same rows as torch's `PackedSequence`, and also empty sequences and levels above and below.
    The structure is immutable, but you may write values in place.

    Examples
    --------
    >>> p = vl.Ragged([3, 1, 4, 1, 5, 9], [2, 3, 1]).pack()
    >>> p
    Packed(3 sequences, 3 steps, 6 rows, lengths 1 to 3, int64)
    [[4, 3, 9], [1, 1], [5]]
    >>> p.values, p.size_at_t, p.indices
    (array([4, 3, 9, 1, 1, 5]), array([3, 2, 1]), array([1, 0, 2]))
    >>> p.with_values(p.values * 10).to_ragged().to_list()
    [[30, 10], [40, 10, 50], [90]]
    """

    __slots__ = ("__weakref__", "_inner", "_kind", "_table", "_values")
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None
    _instead = ".values, .steps() or .to_ragged()"

    _values: ArrayT
    _table: RankTable
    _inner: Levels
    _kind: type[Ragged[Any]]  # what `to_ragged` gives

    @overload
    def __init__(
        self, values: ArrayT, lengths: Lengths, indices: SequencesLike | None = None,
        size_at_t: SequencesLike | None = None, *, inner: Any = (),
        outer: Any = (),
    ) -> None: ...  # fmt: skip
    @overload
    def __init__(
        self: Packed[np.ndarray], values: ArrayLike, lengths: Lengths, indices: SequencesLike | None = None,
        size_at_t: SequencesLike | None = None, *, inner: Any = (), outer: Any = (),
    ) -> None: ...  # fmt: skip
    def __init__(
        self, values: Any, lengths: Any, indices: Any = None, size_at_t: Any = None, *, inner: Any = (),
        outer: Any = (),
    ) -> None:  # fmt: skip
        rows: Any = as_values(values)
        self._values = rows
        if isinstance(lengths, RankTable):
            if indices is not None or len(outer):
                raise type_error(
                    "lengths",
                    "a RankTable already has indices and outer levels; leave out indices= and outer=",
                )
            table = lengths
        else:
            table = RankTable(lengths, indices, outer=outer)
        if size_at_t is not None:
            _core.check_padded((table.longest, len(table)), size_at_t, table.lengths, table.indices)
        self._table = table
        self._kind = Ragged
        self._inner = each_level(inner, Level.from_lengths, "inner") if len(inner) else ()
        check_total(len(rows), table, self._inner)

    @classmethod
    def _make(
        cls, values: Any, table: RankTable, inner: Levels = (), kind: type[Ragged[Any]] = Ragged
    ) -> Self:
        """Makes one from parts that are known to fit."""
        result = object.__new__(cls)
        result._values = values
        result._table = table
        result._inner = inner
        result._kind = kind
        return result

    @classmethod
    def from_ragged(
        cls, ragged: Ragged[RowsT], *, level: int = -1, order: RankTable | RowsLike = "stable"
    ) -> Packed[RowsT]:
        """Convert a Ragged of any depth; as `Ragged.pack`.

        Parameters
        ----------
        ragged
            The sequences.
        level
            The level whose sequences to step through; -1 is the innermost.
        order
            The order of equally long sequences: "stable", "reversed" as in Thinc, or "torch". Or a
            permutation of all. Or a `RankTable` that inputs of the same lengths share; it also sets the
            level.

        Returns
        -------
        Packed
            The same rows step by step, of the kind and dtype of the values.

        Raises
        ------
        TypeError
            The argument is not a Ragged.
        IndexError
            There is no such level.
        ValueError
            The levels differ from those of the table.

        Examples
        --------
        >>> r = vl.Ragged([3, 1, 4], [1, 2])
        >>> vl.Packed.from_ragged(r, order="reversed").values
        array([1, 3, 4])
        """
        if not isinstance(ragged, Ragged):
            raise instance_error("ragged", "a Ragged", ragged)
        levels = ragged.levels
        if isinstance(order, RankTable):
            table, place = order, len(order.outer)
            if not same_levels(levels[: place + 1], table.levels):
                difference = describe_difference(levels[: place + 1], table.levels)
                raise value_error("ragged", f"its levels differ from those of the table: {difference}")
        else:
            place = resolve_level(level, levels)
            table = RankTable.of(levels[place], order, levels[:place])
        result: Any = cls._make(*to_steps(ragged.values, table, levels[place + 1 :]), type(ragged))
        return cast("Packed[RowsT]", result)

    @classmethod
    def from_padded(cls, padded: Padded[RowsT] | Any, table: RankTable | None = None) -> Packed[RowsT]:
        """Convert a `Padded`: keep its order, and leave out steps that no sequence reaches.

        Parameters
        ----------
        padded
            A Padded of varlen or Thinc, or another object with the same four fields.
        table
            A table of the same lengths and order. It restores the levels above, which a Padded cannot hold.

        Returns
        -------
        Packed
            Rows of the kind and dtype of the data, without padding.

        Raises
        ------
        TypeError
            An argument is not a Padded, or not a RankTable.
        ValueError
            The table has other lengths or another order.

        Examples
        --------
        >>> vl.Packed.from_padded(vl.Padded.from_list([[1], [2, 3]])).values
        array([2, 1, 3])
        """
        padded = padded if isinstance(padded, Padded) else Padded._from_fields(padded)
        result = rank_table(padded.lengths, padded.indices)
        ranks = result if table is None else check_table(result, table, "padded")
        packed: Any = cls._make(padded.to_packed(), ranks, (), padded._kind)
        return cast("Packed[RowsT]", packed)

    @classmethod
    def from_packed_sequence(
        cls, packed_sequence: PackedSequence, table: RankTable | None = None
    ) -> Packed[torch.Tensor]:
        """Convert a torch `PackedSequence` and keep its order.

        Parameters
        ----------
        packed_sequence
            A PackedSequence. Without a permutation, `table.presorted` of the result is True.
        table
            Restores what a PackedSequence cannot hold: empty sequences and the levels above.

        Returns
        -------
        Packed
            The same rows; the tensors are shared.

        Raises
        ------
        TypeError
            The argument is not a PackedSequence.
        ValueError
            The table has other lengths or another order.

        Examples
        --------
        >>> p = vl.Ragged([1.0, 2.0, 3.0], [1, 0, 2]).pack()
        >>> there = p.to_packed_sequence(empty="drop")
        >>> vl.Packed.from_packed_sequence(there).level.lengths
        array([1, 2])
        >>> vl.Packed.from_packed_sequence(there, p.table).level.lengths
        array([1, 0, 2])
        """
        from varlen.interop.torch_packed import from_packed_sequence

        values, sizes, by_rank, order = from_packed_sequence(packed_sequence)
        has_order = packed_sequence.sorted_indices is not None or packed_sequence.unsorted_indices is not None
        _, lengths, indices = _core.check_padded((len(sizes), len(by_rank)), sizes, by_rank, order)
        result = rank_table(lengths, indices, not has_order)
        check_total(len(values), result, ())
        ranks = result if table is None else check_table(result, table, "packed_sequence")
        packed: Any = cls._make(values, ranks)
        return cast("Packed[torch.Tensor]", packed)

    @property
    def values(self) -> ArrayT:
        """The rows of step 0, then of step 1 and so on: (total, ...), shared with the container."""
        return self._values

    @property
    def table(self) -> RankTable:
        """The order of the sequences. Share it to pack other inputs the same way."""
        return self._table

    @property
    def level(self) -> Level:
        """The lengths of the sequences in their original order."""
        return self._table.level

    @property
    def inner(self) -> Levels:
        """The levels below the steps, in packed order."""
        return self._inner

    @property
    def outer(self) -> Levels:
        """The levels above the sequences, in their original order."""
        return self._table.outer

    @property
    def indices(self) -> Ints:
        """(n,) int64, read-only: the sequence at rank k is indices[k]."""
        return self._table.indices

    @property
    def lengths(self) -> Ints:
        """(n,) int64, read-only: lengths by rank, longest first; `level.lengths` has the original order."""
        return self._table.lengths

    @property
    def size_at_t(self) -> Ints:
        """(steps,) int64, read-only: the number of sequences longer than t."""
        return self._table.size_at_t

    @property
    def total(self) -> int:
        """The number of elements in all steps: rows, or sub-sequences."""
        return self._table.total

    if TYPE_CHECKING:
        dtype = DType()
    else:

        @property
        def dtype(self) -> np.dtype | torch.dtype:
            """The dtype of the values, NumPy's or torch's."""
            return self._values.dtype

    def _rows(self) -> ArrayT:
        return self._values

    def _with_rows(self, rows: SequencesLike) -> Self:
        return with_attributes(self._make(rows, self._table, self._inner, self._kind), self, Packed)

    def _first_axes(self) -> tuple[int, ...]:
        return (self._inner[-1].total if self._inner else self._table.total,)

    def _parts(self) -> tuple[Any, ...]:
        return (self._table, *self._inner, self._kind)

    @overload
    def with_values(self, values: RowsT) -> Packed[RowsT]: ...
    @overload
    def with_values(self, values: ArrayLike) -> Packed[np.ndarray]: ...
    def with_values(self, values: Any) -> Packed[Any]:
        """Replace the values, for example with a layer's output.

        Parameters
        ----------
        values
            (total, ...), of any kind and dtype.

        Returns
        -------
        Packed
            The new values under the same table and levels.

        Raises
        ------
        ValueError
            The number of rows differs.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [1, 2]).pack().with_values([10, 20, 30]).to_ragged().to_list()
        [[20], [10, 30]]
        """
        rows = as_values(values)
        check_total(len(rows), self._table, self._inner)
        return self._make(rows, self._table, self._inner, self._kind)

    def steps(self) -> list[ArrayT | Any]:
        """All steps at once, which is faster than one by one.

        Returns
        -------
        list
            For each step its rows (size, ...), a view, or a Ragged of its sub-sequences.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [1, 2]).pack().steps()
        [array([1, 3]), array([4])]
        """
        if self._inner:
            parts: list[Any] = split(self._kind._make(self._values, self._inner), self.size_at_t)
            return parts
        rows: Any = self._values
        if is_tensor(rows):
            return list(rows.split(self.size_at_t.tolist())) if len(self) else []
        offsets = self._table.steps.offsets
        views: list[Any] = backend_of(rows).views(rows, offsets[:-1], offsets[1:])
        return views

    def to_ragged(self) -> Ragged[ArrayT]:
        """Convert to a Ragged: the sequences end to end in their original order.

        Returns
        -------
        Ragged
            The sequences, under the levels that they had before packing.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [1, 2]).pack().to_ragged().to_list()
        [[3], [1, 4]]
        """
        inner: Levels
        values, inner = from_steps(self._values, self._table, self._inner)
        return self._kind._make(values, (*self._table.levels, *inner))

    def to_padded(self) -> Padded[ArrayT]:
        """Convert to a `Padded`, filled with zeros.

        Returns
        -------
        Padded
            A block (steps, n, ...), without the levels above.

        Raises
        ------
        ValueError
            The steps hold sub-sequences.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [1, 2]).pack().to_padded().data
        array([[1, 3],
               [4, 0]])
        """
        self._flat("a Padded")
        padded: Padded[ArrayT] = padded_class(self._kind).from_packed(self._values, *self._table._fields)
        return padded._cast(self._kind)

    def to_packed_sequence(self, *, empty: str = "raise") -> PackedSequence:
        """Convert to a torch `PackedSequence`; without permutations if `table.presorted`.

        Parameters
        ----------
        empty
            Torch's class cannot hold empty sequences: "raise" refuses them, "drop" leaves them out, and
            `from_packed_sequence(..., table)` restores them.

        Returns
        -------
        torch.nn.utils.rnn.PackedSequence
            The same rows; the values are shared.

        Raises
        ------
        ValueError
            The steps hold sub-sequences, or a sequence is empty and `empty` is "raise". The error names the
            first one.

        Examples
        --------
        >>> vl.Ragged([3.0, 1.0, 4.0], [1, 2]).pack().to_packed_sequence().batch_sizes
        tensor([2, 1])
        """
        from varlen.interop.torch_packed import to_packed_sequence

        self._flat("a PackedSequence")
        sizes, lengths, indices = self._table._fields
        return to_packed_sequence(self._values, sizes, lengths, indices, empty, self._table.presorted)

    def _flat(self, other: str) -> None:
        if self._inner:
            raise value_error(
                "inner", f"steps hold sub-sequences, which {other} cannot store; pack at the innermost level"
            )

    def copy(self) -> Self:
        """Copy the container with its values.

        Returns
        -------
        Packed
            An equal Packed; it shares the table and the levels, which cannot change.

        Examples
        --------
        >>> p = vl.Ragged([3, 1, 4], [1, 2]).pack()
        >>> p.copy().equals(p)
        True
        """
        result = self._make(copy_of(self._values), self._table, self._inner, self._kind)
        return with_attributes(result, self, Packed)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        result = self._make(copy_of(self._values), self._table, self._inner, self._kind)
        return with_copied_attributes(result, self, Packed, memo)

    def __len__(self) -> int:
        return self._table.longest

    def __iter__(self) -> Iterator[ArrayT | Any]:
        return iter(self.steps())

    @overload
    def __getitem__(self, t: SupportsIndex) -> ArrayT | Any: ...
    @overload
    def __getitem__(self, t: slice) -> list[ArrayT | Any]: ...
    def __getitem__(self, t: SupportsIndex | slice) -> ArrayT | list[ArrayT | Any] | Any:
        if isinstance(t, slice):
            check_step(t)
            return self.steps()[t]
        step, count = int_index(t), len(self)
        if step is None or not -count <= step < count:
            raise index_error("", f"step {t} is out of range for {count} steps", number=step)
        a, b = self._table.steps.offsets[step % count :][:2]
        return self._kind._make(self._values, self._inner)[a:b] if self._inner else self._values[a:b]

    def equals(self, other: object, equal_nan: bool = False) -> bool:
        """Whether `other` is a Packed with the same order, levels and values; dtypes may differ.

        Parameters
        ----------
        other
            Any object; only a Packed can be equal.
        equal_nan
            NaN is equal to NaN (and NaT to NaT).

        Returns
        -------
        bool

        Examples
        --------
        >>> r = vl.Ragged([3, 1], [1, 1])
        >>> r.pack().equals(r.pack()), r.pack() == r.pack(order="reversed")
        (True, False)
        """
        if not isinstance(other, Packed) or self._table != other._table:
            return False
        is_same = same_levels(self._inner, other._inner)
        return is_same and arithmetic.equal_values(self._values, other._values, equal_nan)

    def __eq__(self, other: object) -> bool:
        return self.equals(other) if isinstance(other, Packed) else NotImplemented

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        parts = (to_state(self._values, by_torch(protocol)), self._table, self._inner, self._kind)
        return reduce_container(_restore, parts, self, Packed, protocol)

    def _file_parts(self) -> dict[str, Any]:
        return {"values": self._values, "table": self._table, "levels": self._inner, "class": self._kind}

    @classmethod
    def _from_saved(cls, *parts: Any) -> Packed[Any]:
        return _restore(cls, *parts)

    def __repr__(self) -> str:
        from varlen.display.text import packed_steps

        return packed_steps(type(self).__name__, self._values, self.level, self._table.steps, self._inner)

    def _repr_html_(self) -> str:
        from varlen.display.html import packed_steps

        return packed_steps(type(self).__name__, self._values, self.level, self._table.steps, self._inner)


def _restore(
    cls: type[Packed[Any]], values: object, table: RankTable, inner: Levels, kind: type[Ragged[Any]]
) -> Packed[Any]:
    values = from_state(values)
    check_total(len(values), table, inner)
    return cls._make(values, table, inner, kind)


hint_names(Packed, PACKED)
