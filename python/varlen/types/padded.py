"""Padded: a time-major block of sequences side by side, the longest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, cast, overload

import numpy as np

from varlen import _core
from varlen._hints import BLOCK, hint_names
from varlen._methods import adopt_methods
from varlen._restored import by_torch
from varlen.arguments import check_step, index_array, is_listed, over_limit, raise_index
from varlen.backends import backend_of
from varlen.backends.values import ArrayT, as_ints, as_values, copy_of, from_state, to_state
from varlen.errors import index_error, instance_error, type_error, value_error
from varlen.interop.arrow_nodes import Leaf, Node
from varlen.interop.frames import ColumnMethods
from varlen.ops.support.inputs import one_level
from varlen.ops.support.outputs import container
from varlen.types import arithmetic
from varlen.types.attributes import reduce_container, with_attributes, with_copied_attributes
from varlen.types.indexing import int_index
from varlen.types.ragged import Ragged
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
    Fields = tuple[Ints, Ints, Ints]


@adopt_methods
@container("Padded")
class Padded(NoArray, TensorMethods, ColumnMethods, Generic[ArrayT]):
    """Sequences side by side in one time-major block, sorted by length, for recurrent layers.

    Parameters
    ----------
    data
        (L, B, ...) of any dtype of fixed width: data[t, k] is step t of column k. Shared, not copied, if its
        memory is contiguous. Torch tensors stay tensors.
    size_at_t
        (L,) integers that never increase: the number of sequences longer than t.
    lengths
        (B,) integers: the lengths of the columns, longest first, none above L.
    indices
        (B,) integers, a permutation: column k is sequence indices[k].

    Raises
    ------
    TypeError
        The data are Python objects, or lengths, sizes or indices are not integers.
    ValueError
        The fields do not fit each other. The error names the field, the place and the number.

    Notes
    -----
    Unlike Thinc's `Padded`, it is checked at construction, immutable except for its data, and correct under
    every index. The three small arrays are read-only int64. `data` beyond the end of a column is padding:
    zeros, if `list2padded` made it.

    Items are columns: `p[key]` is a Padded of the columns that an int, a slice, integers or a mask select,
    without steps that none of them reaches. Its `to_list` keeps the order of p's sequences.

    Examples
    --------
    >>> p = vl.Padded.from_list([np.array([1, 2]), np.array([3, 4, 5])])
    >>> p.data
    array([[3, 1],
           [4, 2],
           [5, 0]])
    >>> p.size_at_t, p.lengths, p.indices
    (array([2, 2, 1]), array([3, 2]), array([1, 0]))
    >>> p.to_list()
    [array([1, 2]), array([3, 4, 5])]
    """

    __slots__ = ("__weakref__", "_data", "_indices", "_kind", "_lengths", "_size_at_t")
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None
    _instead = ".data, .to_list() or .to_ragged()"

    # What `to_ragged` gives by default; a dialect names its own.
    _ragged: type[Ragged[Any]] = Ragged
    _kind: type[Ragged[Any]]
    _data: ArrayT
    _size_at_t: Ints
    _lengths: Ints
    _indices: Ints

    @overload
    def __init__(
        self, data: ArrayT, size_at_t: SequencesLike, lengths: Lengths, indices: SequencesLike
    ) -> None: ...
    @overload
    def __init__(
        self: Padded[np.ndarray],
        data: ArrayLike,
        size_at_t: SequencesLike,
        lengths: Lengths,
        indices: SequencesLike,
    ) -> None: ...
    def __init__(self, data: Any, size_at_t: SequencesLike, lengths: Lengths, indices: SequencesLike) -> None:
        self._kind = self._ragged
        block: Any = as_values(data, "data")
        self._data = block
        shape = tuple(block.shape)
        if len(shape) < 2:
            raise value_error("data", f"expected (steps, columns, ...), got shape {shape}")
        fields = (as_ints(size_at_t), as_ints(lengths), as_ints(indices))
        self._size_at_t, self._lengths, self._indices = _core.check_padded(shape, *fields)

    @classmethod
    def _make(cls, data: Any, size_at_t: Ints, lengths: Ints, indices: Ints) -> Self:
        """Makes one from parts that are known to fit."""
        result = object.__new__(cls)
        result._data = data
        result._size_at_t = size_at_t
        result._lengths = lengths
        result._indices = indices
        result._kind = cls._ragged
        return result

    def _cast(self, kind: type[Ragged[Any]]) -> Self:
        """Remember the class that `to_ragged` gives; a dialect's Padded gives the dialect's own."""
        self._kind = kind if issubclass(kind, self._ragged) else self._ragged
        return self

    @overload
    @classmethod
    def from_list(
        cls: type[Padded[Any]], seqs: Sequence[RowsT], *, ties: str = "reversed",
        fill: RowsLike | None = None,
        max_bytes: int | None = None,
    ) -> Padded[RowsT]: ...  # fmt: skip
    @overload
    @classmethod
    def from_list(
        cls: type[Padded[Any]], seqs: Sequence[Any], *, ties: str = "reversed", fill: RowsLike | None = None,
        max_bytes: int | None = None,
    ) -> Padded[np.ndarray]: ...  # fmt: skip
    @classmethod
    def from_list(
        cls,
        seqs: Sequence[Any],
        *,
        ties: str = "reversed",
        fill: RowsLike | None = None,
        max_bytes: int | None = None,
    ) -> Padded[Any]:
        """Convert n arrays, tensors or lists that differ only in length; as `ops.list2padded`.

        Parameters
        ----------
        seqs
            Sequences (length, ...) of the same dtype and trailing shape.
        ties
            The order of equally long sequences: "reversed" puts the later one first, as Thinc does; "stable"
            puts the earlier one first.
        fill
            The fill after the end of a sequence: a number or a row; None for zeros.
        max_bytes
            Refuse a larger block; by default half of the machine's memory.

        Returns
        -------
        Padded
            A block (longest, n, ...), a tensor for tensors.

        Raises
        ------
        TypeError
            An item is not an array, or arrays and tensors are mixed.
        ValueError
            Trailing shapes differ, `ties` is unknown, the dtype cannot hold the fill, or the block exceeds
            `max_bytes`.

        Examples
        --------
        >>> vl.Padded.from_list([[1, 2], [3, 4]], ties="stable").indices
        array([0, 1])
        """
        first = seqs[0] if isinstance(seqs, (list, tuple)) and seqs else None
        try:
            return cls._make(*backend_of(first).list2padded(seqs, ties, fill, max_bytes))
        except ValueError as error:
            raise over_limit(error) from None

    @classmethod
    def _from_fields(cls, padded: object) -> Self:
        """Makes one from an object with the four fields, such as Thinc's; shares the data."""
        names = ("data", "size_at_t", "lengths", "indices")
        for name in names:
            if not hasattr(padded, name):
                raise type_error(
                    "padded", f"expected {', '.join(names)}, but a {type(padded).__name__} has no {name}"
                )
        return cls(*(getattr(padded, name) for name in names))

    @classmethod
    def from_ragged(
        cls,
        ragged: Ragged[RowsT],
        *,
        ties: str = "reversed",
        fill: RowsLike | None = None,
        max_bytes: int | None = None,
    ) -> Padded[RowsT]:
        """Convert a Ragged of one level; as `ops.ragged2padded`.

        Parameters
        ----------
        ragged
            The sequences.
        ties, fill, max_bytes
            As in `from_list`.

        Returns
        -------
        Padded
            A block (longest, n, ...) of the kind and dtype of the values.

        Raises
        ------
        TypeError
            The argument is not a Ragged.
        ValueError
            There is more than one level, `ties` is unknown, or the block exceeds `max_bytes`.

        Examples
        --------
        >>> vl.Padded.from_ragged(vl.Ragged([3, 1, 4], [1, 2])).data
        array([[1, 3],
               [4, 0]])
        """
        level = one_level(ragged)
        values = ragged._values
        try:
            parts = backend_of(values).ragged2padded(values, level, ties, fill, max_bytes)
        except ValueError as error:
            raise over_limit(error) from None
        result: Any = cls._make(*parts)._cast(type(ragged))
        return cast("Padded[RowsT]", result)

    @classmethod
    def from_packed(
        cls, rows: RowsT | Sequence[Any], size_at_t: SequencesLike, lengths: Lengths, indices: SequencesLike
    ) -> Padded[RowsT]:
        """Convert packed rows.

        Parameters
        ----------
        rows
            (total, ...): the rows of step 0, those of step 1 and so on.
        size_at_t, lengths, indices
            As in `Padded`.

        Returns
        -------
        Padded
            The block, filled with zeros after the end of each column.

        Raises
        ------
        ValueError
            The fields do not fit each other or the rows.

        Examples
        --------
        >>> vl.Padded.from_packed([3, 1, 4], [2, 1], [2, 1], [1, 0]).data
        array([[3, 1],
               [4, 0]])
        """
        values: Any = as_values(rows, "rows")
        for name, value in {"size_at_t": size_at_t, "lengths": lengths, "indices": indices}.items():
            if not is_listed(value):
                raise instance_error(name, "integers", value)
        sizes, small, order = as_ints(size_at_t), as_ints(lengths), as_ints(indices)
        steps, columns = len(sizes), len(small)
        fields = _core.check_padded((steps, columns), sizes, small, order)
        level = _core.Level(fields[0])
        if level.total != len(values):
            raise value_error(
                "rows", f"there are {len(values)} rows, but the lengths add up to {level.total}"
            )
        if level.total == 0:
            shape = (steps, columns, *values.shape[1:])
            result: Any = cls._make(backend_of(values).zeros(values, shape), *fields)
            return cast("Padded[RowsT]", result)
        result = cls._make(Ragged._make(values, (level,)).to_dense(pad_to_multiple_of=columns), *fields)
        return cast("Padded[RowsT]", result)

    @property
    def data(self) -> ArrayT:
        """(L, B, ...), time-major, shared with the container."""
        return self._data

    @property
    def size_at_t(self) -> Ints:
        """(L,) int64, read-only: the number of sequences longer than t."""
        return self._size_at_t

    @property
    def lengths(self) -> Ints:
        """(B,) int64, read-only: the lengths of the columns, the longest first."""
        return self._lengths

    @property
    def indices(self) -> Ints:
        """(B,) int64, read-only: column k holds sequence indices[k]."""
        return self._indices

    @property
    def _fields(self) -> Fields:
        return self._size_at_t, self._lengths, self._indices

    @property
    def total(self) -> int:
        """The number of rows in all sequences."""
        return int(self._lengths.sum())

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the data."""
        return tuple(self._data.shape)

    if TYPE_CHECKING:
        dtype = DType()
    else:

        @property
        def dtype(self) -> np.dtype | torch.dtype:
            """The dtype of the data, NumPy's or torch's."""
            return self._data.dtype

    def _rows(self) -> ArrayT:
        return self._data

    def _with_rows(self, rows: SequencesLike) -> Self:
        return with_attributes(self._make(rows, *self._fields)._cast(self._kind), self, Padded)

    def _first_axes(self) -> tuple[int, ...]:
        return len(self._size_at_t), len(self._lengths)

    def _leaves(self) -> dict[str, Any]:
        return {"data": self._data}

    def _parts(self) -> tuple[Any, ...]:
        return (*self._fields, self._kind)

    @property
    def nbytes(self) -> int:
        """The size of all four arrays in bytes."""
        return int(self._data.nbytes) + sum(field.nbytes for field in self._fields)

    def to_ragged(self) -> Ragged[ArrayT]:
        """Convert to a Ragged, in the original order; as `ops.padded2ragged`.

        Returns
        -------
        Ragged
            A Ragged of one level; values of the kind and dtype of the data, without padding.

        Examples
        --------
        >>> vl.Padded.from_list([[1], [2, 3]]).to_ragged().to_list()
        [[1], [2, 3]]
        """
        values, level = backend_of(self._data).padded2ragged(self._data, *self._fields)
        return self._kind._make(values, (level,))

    def _arrow_node(self, leaf: Leaf | None = None) -> Node:
        return self.to_ragged()._arrow_node(leaf)

    def to_list(self) -> list[ArrayT]:
        """Convert to a list of sequences, in the original order; as `ops.padded2list`.

        Returns
        -------
        list of arrays or tensors
            The sequences, (length, ...) each; all are views of one array.

        Examples
        --------
        >>> vl.Padded.from_list([[1], [2, 3]]).to_list()
        [array([1]), array([2, 3])]
        """
        r = self.to_ragged()
        return backend_of(r._values).ragged2list(r._values, r._levels)

    def to_packed(self) -> ArrayT:
        """Convert to packed rows: step by step, without padding. The inverse of `from_packed`.

        Returns
        -------
        array or tensor
            (total, ...): the rows of step 0, those of step 1 and so on, in the order of the columns.

        Examples
        --------
        >>> vl.Padded.from_list([[1], [2, 3]]).to_packed()
        array([2, 1, 3])
        """
        level = _core.Level(self._size_at_t)
        return Ragged.from_dense(self._data, level).values

    def to_packed_sequence(self, *, empty: str = "raise") -> PackedSequence:
        """Convert to a torch `PackedSequence` with all four fields. The inverse of `from_packed_sequence`.

        Parameters
        ----------
        empty
            Torch's class cannot hold empty sequences: "raise" refuses them, "drop" leaves them out.

        Returns
        -------
        torch.nn.utils.rnn.PackedSequence
            The rows as a copy; autograd follows them.

        Raises
        ------
        ValueError
            A sequence is empty, and `empty` is "raise". The error names the first one's column.

        Examples
        --------
        >>> vl.Padded.from_list([[1.0], [2.0, 3.0]]).to_packed_sequence().batch_sizes
        tensor([2, 1])
        """
        from varlen.interop.torch_packed import to_packed_sequence

        return to_packed_sequence(self.to_packed(), *self._fields, empty)

    @classmethod
    def from_packed_sequence(cls, packed_sequence: PackedSequence) -> Padded[torch.Tensor]:
        """Convert a torch `PackedSequence` and keep its order.

        Parameters
        ----------
        packed_sequence
            A PackedSequence, with or without a permutation.

        Returns
        -------
        Padded
            The block, in the order of the PackedSequence; its data are a tensor.

        Raises
        ------
        TypeError
            The argument is not a PackedSequence.

        Examples
        --------
        >>> from torch.nn.utils.rnn import pack_sequence
        >>> import torch
        >>> vl.Padded.from_packed_sequence(pack_sequence([torch.tensor([1, 2]), torch.tensor([3])])).data
        tensor([[1, 3],
                [2, 0]])
        """
        from varlen.interop.torch_packed import from_packed_sequence

        return cast("Padded[torch.Tensor]", cls.from_packed(*from_packed_sequence(packed_sequence)))

    def copy(self) -> Self:
        """Copy the container with its data.

        Returns
        -------
        Padded
            An equal Padded; it shares the small arrays, which cannot change.

        Examples
        --------
        >>> p = vl.Padded.from_list([[1], [2, 3]])
        >>> p.copy().equals(p)
        True
        """
        return with_attributes(self._make(copy_of(self._data), *self._fields)._cast(self._kind), self, Padded)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        result = self._make(copy_of(self._data), *self._fields)._cast(self._kind)
        return with_copied_attributes(result, self, Padded, memo)

    def __len__(self) -> int:
        return len(self._lengths)

    def __iter__(self) -> Iterator[Self]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, key: Any) -> Self:
        columns = _columns(key, len(self))
        lengths = self._lengths[columns]
        steps = int(lengths[0]) if len(lengths) else 0
        # Where each of the chosen is among them, in the original order.
        ranks = np.empty(len(columns), np.int64)
        ranks[np.argsort(self._indices[columns], kind="stable")] = np.arange(len(columns))
        data = backend_of(self._data).take_columns(self._data[:steps], columns)
        fields = _core.check_padded((steps, len(columns)), None, lengths, ranks)
        return self._make(data, *fields)._cast(self._kind)

    def equals(self, other: object, equal_nan: bool = False) -> bool:
        """Whether `other` is a Padded with equal fields, padding included; dtypes may differ.

        Parameters
        ----------
        other
            Any object; only a Padded can be equal.
        equal_nan
            NaN is equal to NaN (and NaT to NaT).

        Returns
        -------
        bool

        Examples
        --------
        >>> p = vl.Padded.from_list([[1], [2, 3]])
        >>> p.equals(vl.Padded.from_list([[1.0], [2.0, 3.0]])), p == p[:1]
        (True, False)
        """
        if not isinstance(other, Padded):
            return False
        is_same = all(np.array_equal(a, b) for a, b in zip(self._fields, other._fields, strict=True))
        return is_same and arithmetic.equal_values(self._data, other._data, equal_nan)

    def __eq__(self, other: object) -> bool:
        return self.equals(other) if isinstance(other, Padded) else NotImplemented

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        parts = (self._kind, to_state(self._data, by_torch(protocol)), *self._fields)
        return reduce_container(_restore, parts, self, Padded, protocol)

    def _file_parts(self) -> dict[str, Any]:
        fields = zip(("size_at_t", "lengths", "indices"), self._fields, strict=True)
        return {"class": self._kind, "data": self._data, **dict(fields)}

    @classmethod
    def _from_saved(cls, *parts: Any) -> Padded[Any]:
        return _restore(cls, *parts)

    def __repr__(self) -> str:
        from varlen.display.text import padded

        return padded(type(self).__name__, self._data, self._lengths)

    def _repr_html_(self) -> str:
        from varlen.display.html import padded

        return padded(type(self).__name__, self._data, self._lengths, self.nbytes)


def _columns(key: Any, count: int) -> NDArray[np.int64]:
    """The columns that a key selects, ascending, each as often as it is selected."""
    if isinstance(key, slice):
        check_step(key)
        columns = np.arange(count)[key]
        return columns if len(columns) < 2 or columns[0] < columns[1] else columns[::-1]
    i = int_index(key)
    if i is None:
        sequences = Ragged(np.arange(count), np.ones(count, np.int64))
        if isinstance(key, (tuple, _core.RaggedBase)):
            raise_index(key)
        return np.sort(sequences[index_array(key)].values)
    if not -count <= i < count:
        raise index_error("", f"index {i} is out of range for {count} sequences", number=i)
    return np.array([i % count])


def _restore(cls: type[Padded[Any]], kind: type[Ragged[Any]], data: Any, *fields: Any) -> Padded[Any]:
    data = from_state(data)
    return cls._make(data, *_core.check_padded(tuple(data.shape), *fields))._cast(kind)


hint_names(Padded, BLOCK)
