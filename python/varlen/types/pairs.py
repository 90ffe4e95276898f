"""Pairs: two containers of one length, indexed together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TypeVar, overload

from varlen._methods import adopt_methods
from varlen._pytrees import Tree
from varlen.errors import instance_error, value_error
from varlen.ops.minibatch import take
from varlen.types import arithmetic
from varlen.types.attributes import reduce_container
from varlen.types.file_methods import FileMethods
from varlen.types.indexing import int_index
from varlen.types.refusals import NoArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self

T = TypeVar("T")


@adopt_methods
class Pairs(NoArray, FileMethods, Tree, Generic[T]):
    """Two batches whose items belong together, such as inputs and outputs.

    Parameters
    ----------
    one, two
        Lists, tuples, arrays, tensors, or containers of this package, with the same number of items. Shared.

    Raises
    ------
    ValueError
        They have different lengths.
    TypeError
        One of them has no length.

    Notes
    -----
    Like Thinc's `Pairs`, but lengths are checked, and lists take every index too.

    Examples
    --------
    >>> pairs = vl.Pairs([3, 1, 4], np.array([30, 10, 40]))
    >>> len(pairs), pairs[:2], pairs[[2, 0]].one
    (3, Pairs(one=[3, 1], two=array([30, 10])), [4, 3])
    """

    __slots__ = ("_one", "_two")
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None
    _instead = ".one and .two"

    _one: T
    _two: T

    def __init__(self, one: T, two: T) -> None:
        counts = []
        for name, part in (("one", one), ("two", two)):
            try:
                counts.append(len(part))  # type: ignore[arg-type]
            except TypeError:
                raise instance_error(name, "a sequence with a length", part) from None
        if counts[0] != counts[1]:
            raise value_error("", f"one has {counts[0]} items, two has {counts[1]}")
        self._one = one
        self._two = two

    @property
    def one(self) -> T:
        """The first batch."""
        return self._one

    @property
    def two(self) -> T:
        """The second batch."""
        return self._two

    def _leaves(self) -> dict[str, Any]:
        return {"one": self._one, "two": self._two}

    def _with_leaves(self, leaves: Sequence[Any]) -> Self:
        return self._item(*leaves)  # type: ignore[return-value]

    def _parts(self) -> tuple[Any, ...]:
        return ()

    def __len__(self) -> int:
        return len(self._one)  # type: ignore[arg-type]

    @overload
    def __getitem__(self, key: slice | Sequence[int] | Sequence[bool] | NDArray[Any]) -> Self: ...
    @overload
    def __getitem__(self, key: SupportsIndex) -> Pairs[Any]: ...
    def __getitem__(self, key: Any) -> Pairs[Any]:
        i = int_index(key)
        if i is not None:  # an item may have no length
            return self._item(self._one[i], self._two[i])  # type: ignore[index]
        return type(self)(take(self._one, key), take(self._two, key))

    @classmethod
    def _item(cls, one: Any, two: Any) -> Pairs[Any]:
        """A pair of items, which may have no lengths to compare."""
        result = object.__new__(cls)
        result._one = one
        result._two = two
        return result

    def __iter__(self) -> Iterator[Pairs[Any]]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pairs):
            return NotImplemented
        return _equal(self._one, other._one) and _equal(self._two, other._two)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return reduce_container(_restore, (self._one, self._two), self, Pairs, protocol)

    def _file_parts(self) -> dict[str, Any]:
        return {"one": self._one, "two": self._two}

    @classmethod
    def _from_saved(cls, *parts: object) -> Pairs[Any]:
        return _restore(cls, *parts)

    def __repr__(self) -> str:
        from varlen.display.text import pairs

        return pairs(type(self).__name__, self._one, self._two)


def _restore(kind: type[Pairs[Any]], one: Any, two: object) -> Pairs[Any]:
    return kind._item(one, two)


def _equal(a: Any, b: Any) -> bool:
    if hasattr(a, "equals"):
        return bool(a.equals(b))
    if hasattr(a, "dtype"):
        return type(a) is type(b) and arithmetic.equal_values(a, b, False)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(_equal, a, b))
    return bool(a == b)
