"""The containers with Thinc's members, and conversions from and to Thinc's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, cast, overload

from varlen import types
from varlen.backends.values import ArrayT
from varlen.errors import index_error
from varlen.interop import thinc as interop
from varlen.ops.support.inputs import one_level
from varlen.types.indexing import int_index

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import EllipsisType

    import numpy as np
    import thinc.types
    import torch
    from numpy.typing import NDArray
    from typing_extensions import Self, Unpack

    from varlen.backends.values import RowsT

    Int32s = NDArray[np.int32]

__all__ = ["Padded", "Pairs", "Ragged", "from_thinc", "to_thinc"]

T = TypeVar("T")


class Ragged(types.Ragged[ArrayT]):
    """A `varlen.Ragged` with the members and indexing of Thinc's.

    It is a subclass with the same constructor, and works wherever a `varlen.Ragged` does. Indexing with an
    int, and iterating, give a Ragged of one sequence that shares memory; `varlen.Ragged` gives the sequence
    itself (`r.row(i)` here). Tuples index rows inside sequences in both. `lengths` and `starts_ends` are
    int32.

    Parameters
    ----------
    values, lengths, data, offsets, levels
        As in `varlen.Ragged`.

    Examples
    --------
    >>> from varlen.thinc import Ragged
    >>> r = Ragged(np.array([3, 1, 4]), [1, 2])
    >>> r[1]
    Ragged(1 sequence, 2 values, length 2, int64)
    [[1, 4]]
    >>> [x.lengths.tolist() for x in r], r[1, 0]
    ([[1], [2]], np.int64(1))
    >>> r.lengths, r.starts_ends
    (array([1, 2], dtype=int32), array([0, 1, 3], dtype=int32))
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @overload
        @classmethod
        def from_list(
            cls: type[Ragged[Any]],
            data: Sequence[RowsT] | Sequence[Sequence[RowsT]] | Sequence[Sequence[Sequence[RowsT]]],
            dtype: Any = None,
        ) -> Ragged[RowsT]: ...
        @overload
        @classmethod
        def from_list(
            cls: type[Ragged[Any]], data: Sequence[Any], dtype: Any = None
        ) -> Ragged[np.ndarray]: ...
        @classmethod
        def from_list(cls, data: Any, dtype: Any = None) -> Any: ...

    @overload
    def __getitem__(
        self,
        key: slice
        | EllipsisType
        | Sequence[int]
        | Sequence[bool]
        | np.ndarray
        | torch.Tensor
        | SupportsIndex,
    ) -> Self: ...
    @overload
    def __getitem__(self, key: tuple[slice, slice, Unpack[tuple[Any, ...]]]) -> Self: ...
    @overload
    def __getitem__(self, key: tuple[Any, ...]) -> ArrayT | Any: ...
    def __getitem__(self, key: Any) -> Any:
        if type(key) is not slice:
            i = key if type(key) is int else int_index(key)
            if i is None:
                return self._get_others(key)
            n = len(self._levels[0])
            if not -n <= i < n:
                raise index_error("", f"index {i} is out of range for {n} sequences", number=i)
            i %= n
            key = slice(i, i + 1)
        return super().__getitem__(key)

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def _get_others(self, key: Any) -> Any:
        if not isinstance(key, tuple):
            return super().__getitem__(key)
        result = types.Ragged._make(self._values, self._levels)[key]
        return self._make(result._values, result._levels) if isinstance(result, types.Ragged) else result

    @property
    def lengths(self) -> Int32s:  # type: ignore[override]
        """The lengths of the outermost level: int32 (n,), read-only. As int64: `levels[0].lengths`.

        Raises OverflowError if a length does not fit int32.
        """
        return self._levels[0].lengths32

    @property
    def starts_ends(self) -> Int32s:
        """The offsets of the outermost level: int32 (n + 1,), read-only. As int64: `offsets`.

        Raises OverflowError if an offset does not fit int32.
        """
        return self._levels[0].offsets32

    def _get_starts_ends(self) -> Int32s:
        return self.starts_ends

    def _get_starts(self) -> Int32s:
        return self.starts_ends[:-1]

    def _get_ends(self) -> Int32s:
        return self.starts_ends[1:]

    @classmethod
    def from_thinc(cls, ragged: thinc.types.Ragged) -> Self:
        """Convert Thinc's `Ragged`, or any object that has `dataXd` and `lengths`.

        Parameters
        ----------
        ragged
            Its `dataXd` is (total, ...), its `lengths` (n,) integers.

        Returns
        -------
        A Ragged of one level, of this class; it shares the values.

        Raises
        ------
        TypeError
            The object lacks one of these attributes.
        ValueError
            The lengths are negative or do not add up to the rows. Thinc does not check this.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> from varlen.thinc import Ragged
        >>> Ragged.from_thinc(SimpleNamespace(dataXd=np.array([3, 1, 4]), lengths=[1, 2])).to_list()
        [[3], [1, 4]]
        """
        values, level = interop.ragged_parts(ragged)
        return cls(values, levels=level)

    def to_thinc(self) -> thinc.types.Ragged:
        """Convert to Thinc's `Ragged`.

        Returns
        -------
        thinc.types.Ragged
            It shares the values; its lengths, int32 (n,), are a copy.

        Raises
        ------
        ModuleNotFoundError
            Thinc is not installed.
        ValueError
            The Ragged has more than one level.

        Examples
        --------
        >>> from varlen.thinc import Ragged
        >>> Ragged([[3.0], [1.0]], [0, 2]).to_thinc().lengths  # doctest: +SKIP
        array([0, 2], dtype=int32)
        """
        return interop.new_ragged(self._values, one_level(self))


class Padded(types.Padded[ArrayT]):
    """A `varlen.Padded` that converts from and to Thinc's.

    `size_at_t`, `lengths` and `indices` are int32.

    Parameters
    ----------
    data, size_at_t, lengths, indices
        As in `varlen.Padded`.

    Examples
    --------
    >>> from varlen.thinc import Padded
    >>> p = Padded.from_list([[1], [2, 3]])
    >>> Padded.from_thinc(p) == p
    True
    >>> p.lengths
    array([2, 1], dtype=int32)
    """

    __slots__ = ()
    _ragged = Ragged

    @property
    def size_at_t(self) -> Int32s:  # type: ignore[override]
        """(L,) int32, read-only: how many sequences are longer than t. OverflowError beyond int32."""
        return _read_only(interop.as_int32(self._size_at_t, "size_at_t"))

    @property
    def lengths(self) -> Int32s:  # type: ignore[override]
        """(B,) int32, read-only: column lengths, the longest first. OverflowError beyond int32."""
        return _read_only(interop.as_int32(self._lengths, "lengths"))

    @property
    def indices(self) -> Int32s:  # type: ignore[override]
        """(B,) int32, read-only: column k holds sequence indices[k]. OverflowError beyond int32."""
        return _read_only(interop.as_int32(self._indices, "indices"))

    @classmethod
    def from_thinc(cls, padded: thinc.types.Padded) -> Self:
        """Convert Thinc's `Padded`, or any object with its four fields.

        Parameters
        ----------
        padded
            Its `data` is (L, B, ...); its `size_at_t`, `lengths` and `indices` are (L,), (B,), (B,) integers.

        Returns
        -------
        A Padded of this class; it shares the data.

        Raises
        ------
        TypeError
            The object lacks one of these attributes.
        ValueError
            The fields do not fit each other. Thinc does not check this.

        Examples
        --------
        >>> from varlen.thinc import Padded
        >>> p = Padded.from_list([[1], [2, 3]])
        >>> np.shares_memory(Padded.from_thinc(p).data, p.data)
        True
        """
        return cls(*interop.padded_parts(padded))

    def to_thinc(self) -> thinc.types.Padded:
        """Convert to Thinc's `Padded`.

        Returns
        -------
        thinc.types.Padded
            It shares the data; its three int32 arrays are copies.

        Raises
        ------
        ModuleNotFoundError
            Thinc is not installed.

        Examples
        --------
        >>> from varlen.thinc import Padded
        >>> Padded.from_list([[[1.0]], [[2.0]]]).to_thinc().indices  # doctest: +SKIP
        array([1, 0], dtype=int32)
        """
        return interop.new_padded(self._data, *self._fields)


Ragged._padded = Padded


class Pairs(types.Pairs[T]):
    """A `varlen.Pairs` that converts from and to Thinc's.

    Parameters
    ----------
    one, two
        Two batches with the same number of items, as in `varlen.Pairs`.

    Examples
    --------
    >>> from varlen.thinc import Pairs
    >>> Pairs.from_thinc(Pairs([3, 1], [4, 1])).two
    [4, 1]
    """

    __slots__ = ()

    @classmethod
    def from_thinc(cls, pairs: thinc.types.Pairs[Any]) -> Self:
        """Convert Thinc's `Pairs`, or any object with `one` and `two`.

        Parameters
        ----------
        pairs
            Two batches. Thinc's containers among them are converted too.

        Returns
        -------
        Pairs of this class, which share the contents.

        Raises
        ------
        TypeError
            The object lacks one of these attributes.

        Examples
        --------
        >>> from varlen.thinc import Pairs
        >>> Pairs.from_thinc(Pairs([3, 1], [4, 1])).one
        [3, 1]
        """
        one, two = (cast(T, from_thinc(x)) for x in interop.fields_of(pairs, "pairs", "one", "two"))
        return cls(one, two)

    def to_thinc(self) -> thinc.types.Pairs[Any]:
        """Convert to Thinc's `Pairs`.

        Returns
        -------
        thinc.types.Pairs
            It shares the contents. A Ragged or Padded is converted too.

        Raises
        ------
        ModuleNotFoundError
            Thinc is not installed.

        Examples
        --------
        >>> from varlen.thinc import Pairs
        >>> Pairs([3, 1], [4, 1]).to_thinc().one  # doctest: +SKIP
        [3, 1]
        """
        return to_thinc(self)


def _read_only(field: Int32s) -> Int32s:
    field.flags.writeable = False
    return field


def from_thinc(x: T) -> Ragged[Any] | Padded[Any] | Pairs[Any] | T:
    """Convert a container of Thinc to one of `varlen.thinc`. Shares memory; returns all else unchanged.

    Parameters
    ----------
    x
        Thinc's `Ragged`, `Padded` or `Pairs`, or an object with the fields of one.

    Returns
    -------
    A `Ragged`, `Padded` or `Pairs` of `varlen.thinc`.

    Raises
    ------
    ValueError
        The fields do not fit each other. Thinc does not check this.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from varlen.thinc import from_thinc
    >>> from_thinc(SimpleNamespace(dataXd=np.array([3, 1, 4]), lengths=[1, 2])).to_list()
    [[3], [1, 4]]
    """
    if isinstance(x, (types.Ragged, types.Padded, types.Pairs)):
        return x
    if hasattr(x, "dataXd") and hasattr(x, "lengths"):
        return Ragged.from_thinc(x)
    if hasattr(x, "size_at_t") and hasattr(x, "indices"):
        return Padded.from_thinc(x)
    if hasattr(x, "one") and hasattr(x, "two"):
        return Pairs.from_thinc(x)
    return x


@overload
def to_thinc(x: types.Ragged[Any]) -> thinc.types.Ragged: ...
@overload
def to_thinc(x: types.Padded[Any]) -> thinc.types.Padded: ...
@overload
def to_thinc(x: types.Pairs[Any]) -> thinc.types.Pairs[Any]: ...
@overload
def to_thinc(x: T) -> T: ...
def to_thinc(x: T) -> thinc.types.Ragged | thinc.types.Padded | thinc.types.Pairs[Any] | T:
    """Convert a container to Thinc's. Shares values, copies lengths; returns all else unchanged.

    Parameters
    ----------
    x
        A `Ragged` of one level, a `Padded`, or `Pairs`, of `varlen` or of `varlen.thinc`.

    Returns
    -------
    Thinc's `Ragged`, `Padded` or `Pairs`.

    Raises
    ------
    ModuleNotFoundError
        Thinc is not installed.
    ValueError
        A Ragged of more than one level.
    TypeError
        A tensor needs gradients.

    Examples
    --------
    >>> from varlen.thinc import to_thinc
    >>> to_thinc(vl.Ragged([[3.0], [1.0]], [0, 2])).lengths  # doctest: +SKIP
    array([0, 2], dtype=int32)
    """
    if isinstance(x, types.Ragged):
        return interop.new_ragged(x.values, one_level(x))
    if isinstance(x, types.Padded):
        return interop.new_padded(x.data, x.size_at_t, x.lengths, x.indices)
    if isinstance(x, types.Pairs):
        return interop.new_pairs(to_thinc(x.one), to_thinc(x.two))
    return x
