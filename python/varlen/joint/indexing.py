"""Indices of a joint dict: those that the core handles, and all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, SupportsIndex, TypeVar, overload

import numpy as np

from varlen import _core
from varlen.arguments import refuse_mask
from varlen.errors import index_error, type_error, value_error
from varlen.joint.state import JointState, _new
from varlen.types.ragged import Ragged

__all__: list[str] = []

Self = TypeVar("Self", bound="IndexMethods")


class IndexMethods(JointState):
    """`J[...]` of a joint dict."""

    @overload
    def __getitem__(self, index: str) -> Ragged[np.ndarray] | Any: ...
    @overload
    def __getitem__(
        self: Self,
        index: np.ndarray | Sequence[int] | Sequence[bool] | slice | SupportsIndex | tuple[Any, ...],
    ) -> Self: ...
    def __getitem__(self, index: object) -> Any:
        joint = self._joint
        if joint is None:
            joint = self._view()
        part = joint.get(index)
        if part is None:
            return _get_other(self, joint, index)
        if self._own_init:
            return self._wrap(part)
        out = _new(self.__class__)
        out._joint = part
        return out

    def __iter__(self: Self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def __contains__(self, key: object) -> bool:
        return key in self.keys()


def _get_other(self: JointState, joint: _core.Joint, index: object) -> Any:
    if isinstance(index, str):
        return _get_key(self, joint, index)
    if isinstance(index, tuple):
        return self._wrap(_get_tuple(self, joint, index))
    return self._wrap(
        _get_axis(self, joint, index, f"{type(index)} not supported for {_class_name(self)} slicing", 1)
    )


def _class_name(self: JointState) -> str:
    return self.__class__.__name__


def _get_tuple(self: JointState, joint: _core.Joint, index: tuple[object, ...]) -> _core.Joint:
    """A tuple that the core does not take: an error, or an array as its last element."""
    for k, item in enumerate(index):
        if k > 0 and not _is_int(index[k - 1]):
            raise value_error("", "Multi-level non-int slicing is not supported.")
        where = f"{type(item)} at index {k} not supported for {_class_name(self)} tuple slicing"
        part = joint.get(index[:k]) if k else joint
        assert part is not None  # ints only, and not too many
        if part.get(item) is None or (_is_int(item) and part.depth < 0):
            last = _get_axis(self, part, item, where, len(index))
            if k + 1 == len(index):
                return last
    raise AssertionError("the core refused an index that holds nothing to refuse")


def _is_int(item: object) -> bool:
    if isinstance(item, bool):
        return False
    return isinstance(item, (int, np.integer)) or (isinstance(item, np.ndarray) and item.ndim == 0)


def _get_axis(self: JointState, joint: _core.Joint, item: object, where: str, count: int) -> _core.Joint:
    """An index that the core does not take: an array, a list, a mask, a step, or too many."""
    if isinstance(item, slice) and item.step not in (None, 1):
        raise value_error("", f"Only slices with step size of None or 1 are supported; got {item.step}")
    if isinstance(item, (list, range)):
        rows = np.asarray(item) if len(item) else np.zeros(0, np.int64)
    elif hasattr(item, "__array__") and not isinstance(item, np.generic):
        rows = np.asarray(refuse_mask(item, "index"))
    elif joint.depth < 0 and (_is_int(item) or isinstance(item, slice)):
        raise index_error(
            "",
            f"Too many indices for {_class_name(self)}: got {count} indices "
            f"but max_n_dims is {self.max_n_dims}.",
        )
    else:
        raise type_error(
            "", f"{where}; expected an int, a slice, integers, a mask, a tuple of ints, or a key"
        )
    if rows.ndim == 0 and rows.dtype.kind in "iu":
        part = joint.get(int(rows))
        if part is not None:
            return part
    if rows.ndim != 1 or rows.dtype.kind not in "iub":
        raise type_error(where, f"it has the shape {rows.shape} and holds {rows.dtype}")
    if joint.depth < 0:
        raise index_error(
            "",
            f"Too many indices for {_class_name(self)}: got {count} indices "
            f"but max_n_dims is {self.max_n_dims}.",
        )
    if rows.dtype.kind == "b":
        if len(rows) != len(joint):
            raise index_error("index", f"the mask has {len(rows)} entries for {len(joint)} rows")
        rows = np.flatnonzero(rows)
    return joint.take(rows)


def _get_key(self: JointState, joint: _core.Joint, key: str) -> Any:
    dim = joint.dim(key)
    if dim is None:
        dim = self._get_dim(key)  # says which keys there are
    values = joint.values(key)
    if dim < 1:
        return values
    levels = self._levels_of(joint, dim)
    return Ragged._make(values, levels) if levels[-1].total == len(values) else Ragged(values, levels=levels)
