"""What Thinc's code asks of a Ragged, a Padded or Pairs, and the ways from its classes and to them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Level
from varlen.backends.values import as_ints

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from varlen.levels import Levels

    Int32s = NDArray[np.int32]


class RaggedFace:
    """Members of `varlen.Ragged` that Thinc's `Ragged` has too.

    Examples
    --------
    >>> r = vl.Ragged(data=np.zeros((5, 2, 3)), lengths=[3, 0, 2])
    >>> r.data.shape, r.dataXd.shape, r.data_shape, r.starts_ends
    ((5, 6), (5, 2, 3), (-1, 2, 3), array([0, 3, 3, 5], dtype=int32))
    """

    __slots__ = ()

    if TYPE_CHECKING:
        _values: Any
        _levels: Levels

        @classmethod
        def _make(cls, values: Any, levels: Any) -> Self: ...

    @property
    def data(self) -> Any:
        """The values as Thinc has them: (total, width), all trailing axes in one. Shares memory."""
        values = self._values
        return values.reshape(len(values), math.prod(values.shape[1:]))

    @property
    def dataXd(self) -> Any:
        """The values with their trailing axes; `values` in Thinc's words."""
        return self._values

    @property
    def data_shape(self) -> tuple[int, ...]:
        """(-1, *trailing axes of the values)."""
        return (-1, *self._values.shape[1:])

    @property
    def starts_ends(self) -> Int32s:
        """The offsets of the outermost level: int32 (n + 1,), read-only, kept. As int64: `offsets`.

        OverflowError where int32 cannot count the rows.
        """
        return self._levels[0].offsets32

    def _get_starts_ends(self) -> Int32s:
        return self.starts_ends

    def _get_starts(self) -> Int32s:
        return self.starts_ends[:-1]

    def _get_ends(self) -> Int32s:
        return self.starts_ends[1:]

    @classmethod
    def from_thinc(cls, ragged: Any) -> Self:
        """From Thinc's `Ragged`, or what has its `dataXd` and `lengths`; shares memory.

        Raises
        ------
        TypeError
            It has not.
        ValueError
            Its lengths are negative, or do not add up to its rows, which Thinc does not check.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> vl.Ragged.from_thinc(SimpleNamespace(dataXd=np.array([3, 1, 4]), lengths=[1, 2])).to_list()
        [[3], [1, 4]]
        """
        values, lengths = _fields(ragged, "ragged", "dataXd", "lengths")
        level = Level.from_lengths(as_ints(lengths))
        if len(values) == 0 and 0 in (trailing := values.shape[1:]):
            values = np.zeros((level.total, *trailing), values.dtype)  # Thinc forgets how many there were
        return cls(values, levels=level)  # type: ignore[call-arg]

    def to_thinc(self) -> Any:
        """Thinc's `Ragged` of one level: it shares the values, and has lengths of its own.

        Raises
        ------
        ModuleNotFoundError
            Thinc is not installed.
        ValueError
            More than one level.

        Examples
        --------
        >>> vl.Ragged([[3.0], [1.0]], [0, 2]).to_thinc().lengths  # doctest: +SKIP
        array([0, 2], dtype=int32)
        """
        from varlen.thinc.convert import ragged

        return ragged(self)


class PaddedFace:
    """Ways between `varlen.Padded` and Thinc's.

    Examples
    --------
    >>> p = vl.Padded.from_list([[1], [2, 3]])
    >>> vl.Padded.from_thinc(p) == p
    True
    """

    __slots__ = ()

    @classmethod
    def from_thinc(cls, padded: Any) -> Self:
        """From Thinc's `Padded`, or what has its four fields; shares the data.

        Raises
        ------
        TypeError
            It has not.
        ValueError
            Fields that do not fit each other, which Thinc does not check.

        Examples
        --------
        >>> p = vl.Padded.from_list([[1], [2, 3]])
        >>> np.shares_memory(vl.Padded.from_thinc(p).data, p.data)
        True
        """
        return cls(*_fields(padded, "padded", "data", "size_at_t", "lengths", "indices"))

    def to_thinc(self) -> Any:
        """Thinc's `Padded`: it shares the data, and has small arrays of its own.

        Raises
        ------
        ModuleNotFoundError
            Thinc is not installed.

        Examples
        --------
        >>> vl.Padded.from_list([[[1.0]], [[2.0]]]).to_thinc().indices  # doctest: +SKIP
        array([1, 0], dtype=int32)
        """
        from varlen.thinc.convert import padded

        return padded(self)


class PairsFace:
    """Ways between `varlen.Pairs` and Thinc's.

    Examples
    --------
    >>> vl.Pairs.from_thinc(vl.Pairs([3, 1], [4, 1])).two
    [4, 1]
    """

    __slots__ = ()

    @classmethod
    def from_thinc(cls, pairs: Any) -> Self:
        """From Thinc's `Pairs`, or what has `one` and `two`; what these are of Thinc's is converted too.

        Examples
        --------
        >>> vl.Pairs.from_thinc(vl.Pairs([3, 1], [4, 1])).one
        [3, 1]
        """
        from varlen.thinc.convert import from_any

        return cls(*map(from_any, _fields(pairs, "pairs", "one", "two")))

    def to_thinc(self) -> Any:
        """Thinc's `Pairs`; a Ragged or Padded in it is converted too.

        Raises
        ------
        ModuleNotFoundError
            Thinc is not installed.

        Examples
        --------
        >>> vl.Pairs([3, 1], [4, 1]).to_thinc().one  # doctest: +SKIP
        [3, 1]
        """
        from varlen.thinc.convert import pairs

        return pairs(self)


def _fields(given: Any, argument: str, *names: str) -> list[Any]:
    missing = [name for name in names if not hasattr(given, name)]
    if missing:
        raise TypeError(
            f"{argument}: expected {', '.join(names)}, but a {type(given).__name__} has no {missing[0]}"
        )
    return [getattr(given, name) for name in names]
