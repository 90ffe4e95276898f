"""The state of a Data: values, their shape, and annotations.

Operations take and return this base class; `varlen.Data` adds them as methods.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

import numpy as np

from varlen._restored import by_torch, saved
from varlen.backends.values import ArrayT
from varlen.errors import instance_error, value_error
from varlen.types.attributes import attributes_of
from varlen.types.tensor_methods import TensorMethods

if TYPE_CHECKING:
    from typing import TypeGuard

    import numpy as np
    import torch
    from typing_extensions import Self

    from varlen._core import Dim, Level, Shape
    from varlen.backends.values import DTypes, SequencesLike, Values
    from varlen.dims.beam import Beam
    from varlen.dims.data import Data
    from varlen.dims.vocabulary import Vocabulary


class Annotations(NamedTuple):
    """The annotations of a Data besides its dims."""

    name: str | None = None
    sparse_dim: Dim | None = None
    feature_dim: Dim | None = None
    time_dim: Dim | None = None
    beam: Beam | None = None
    available_for_inference: bool = True


class BeamBase:
    """What a Data knows of a `varlen.dims.Beam`, which is made of Data."""


NO_FACTS = Annotations()
_new = object.__new__


class DataBase(TensorMethods, Generic[ArrayT]):
    """The state of a `varlen.Data`, and the members that need no operation.

    Examples
    --------
    >>> isinstance(vl.Data(np.zeros(2), [vl.Dim("two", 2)]), DataBase)
    True
    """

    __slots__: tuple[str, ...] = ("_dense", "_facts", "_order", "_shape", "_values")

    _values: ArrayT
    _shape: Shape
    _order: tuple[int, ...] | None
    _facts: Annotations
    _dense: tuple[Any, Any, str] | None

    # What it is.

    @property
    def dims(self) -> tuple[Dim, ...]:
        """The dims, with their lengths. Their order matters only for display and rectangles."""
        dims = self._shape.dims
        return dims if self._order is None else tuple([dims[k] for k in self._order])

    @property
    def dims_set(self) -> frozenset[Dim]:
        """The dims, as a set."""
        return frozenset(self._shape.dims)

    @property
    def values(self) -> ArrayT:
        """The valid values end to end, or the rectangle of padded storage: an array or a tensor, shared."""
        return self._values if self._dense is None else self._dense[0]

    @property
    def storage(self) -> str:
        """The storage: 'packed', or 'padded' for results of `padded`."""
        return "packed" if self._dense is None else "padded"

    @property
    def levels(self) -> tuple[Level, ...]:
        """The Level of each ragged dim after the first, in storage order."""
        shape = self._shape
        return tuple([shape.span(k, k + 1) for k in range(1, shape.ragged)])

    @property
    def name(self) -> str | None:
        """The name for messages."""
        return self._facts.name

    @property
    def dtype(self) -> np.dtype | torch.dtype:
        """The dtype of the values."""
        dtype: np.dtype | torch.dtype = self._values.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """The number of dims."""
        return self._shape.rank

    @property
    def sparse_dim(self) -> Dim | None:
        """The Dim whose positions the integers are, or None."""
        return self._facts.sparse_dim

    @property
    def sparse(self) -> bool:
        """Whether the integers are positions of a Dim."""
        return self._facts.sparse_dim is not None

    @property
    def vocab(self) -> Vocabulary | None:
        """The Vocabulary of `sparse_dim`, or None."""
        return None if self._facts.sparse_dim is None else self._facts.sparse_dim.vocab

    @property
    def beam(self) -> Beam | None:
        """The Beam of the data, or None."""
        return self._facts.beam

    @property
    def available_for_inference(self) -> bool:
        """Whether the data is available without labels."""
        return self._facts.available_for_inference

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        how: tuple[Any, ...]
        if by_torch(protocol) and self._dense is None:
            how = saved(type(self), self._values, self._shape.dims, self._order, tuple(self._facts))
        else:
            dense = None if self._dense is None else (self._dense[0], self._dense[2])
            state = self._values, self._shape, self._order, tuple(self._facts), dense, type(self)
            how = _restore, state
        own = attributes_of(self, DataBase)
        return (*how, (None, own)) if own else how

    def _file_parts(self) -> dict[str, Any]:
        if self._dense is not None:
            raise value_error("", "expected packed storage, which is what a file holds", "save x.packed()")
        notes = tuple(self._facts)
        return {"values": self._values, "dims": self._shape.dims, "order": self._order, "facts": notes}

    def _rows(self) -> Any:
        return self._values

    def _with_rows(self, rows: SequencesLike | None) -> Self:
        return self._like(rows)

    def _first_axes(self) -> tuple[int, ...]:
        return self._shape.array_shape

    def _parts(self) -> tuple[Any, ...]:
        return (*self.dims, *self.levels, self._order, self._facts)

    def _like(self, values: Any) -> Self:
        """Other values with the same dims and annotations."""
        result = _new(type(self))
        result._values, result._shape, result._order = values, self._shape, self._order
        result._facts, result._dense = self._facts, None
        return result

    def _reorder_dims(self, places: Sequence[int]) -> Self:
        order = tuple(places)
        if order == (self._order or tuple(range(self._shape.rank))):
            return self
        result = self._like(self._values)
        result._order = None if order == tuple(range(len(order))) else order
        return result

    def _with_facts(self, **facts: Any) -> Self:
        """The same values with other annotations."""
        result = self._like(self._values)
        result._facts = self._facts._replace(**facts)
        return result

    def _map(self, function: Callable[[Any], Any]) -> Self:
        result = self._like(function(self._values))
        if result._facts is not NO_FACTS:
            result._facts = result._facts._replace(sparse_dim=None, name=None)
        return result


def positions_or_none(values: Values, facts: Annotations) -> Annotations:
    """The annotations of values, without a sparse_dim if they are not integers."""
    if facts.sparse_dim is None or "int" in dtype_name(values.dtype):
        return facts
    return facts._replace(sparse_dim=None)


@lru_cache(maxsize=64)
def dtype_name(dtype: DTypes) -> str:
    """The name of a dtype of NumPy, in any byte order, or of torch; cached, as NumPy is slow to name it."""
    return str(dtype.newbyteorder("=") if isinstance(dtype, np.dtype) else dtype).removeprefix("torch.")


def is_data(x: object) -> TypeGuard[Data[Any]]:
    """Whether it is a Data."""
    return isinstance(x, DataBase)


def check_data(x: object, argument: str) -> None:
    """Refuse anything but a Data."""
    if not is_data(x):
        raise instance_error(argument, "a Data", x)


# The class of what operations give: it says so itself when it is made.
_CLASS: list[type[Data[Any]]] = []


def given_by_operations(cls: type[Any]) -> type[Any]:
    """Let operations return objects of a class."""
    _CLASS[:] = [cls]
    return cls


def make_data(
    values: Values | None, shape: Shape, order: tuple[int, ...] | None = None, facts: Annotations = NO_FACTS
) -> Data[Any]:
    """A Data of values that have the shape; nothing is checked."""
    data: Data[Any] = _new(_CLASS[0])
    data._values, data._shape, data._order, data._facts, data._dense = values, shape, order, facts, None
    return data


def _restore(
    values: Values,
    shape: Shape,
    order: tuple[int, ...] | None,
    facts: tuple[Any, ...],
    dense: tuple[Any, str] | None,
    kind: type[Data[Any]] | None = None,
) -> Data[Any]:
    """The Data of a pickle; a pickle without a class comes from an older version."""
    notes = Annotations(*facts)
    data: Data[Any] = _new(_CLASS[0] if kind is None else kind)
    data._values, data._shape, data._order, data._dense = values, shape, order, None
    data._facts = NO_FACTS if notes == NO_FACTS else notes
    if dense is not None:
        data._dense = (dense[0], shape, dense[1])
    return data
