"""A batch: arrays by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from varlen._hints import BATCH, hint_names
from varlen._methods import adopt_methods
from varlen._restored import by_torch, saved
from varlen.backends.values import ArrayT, device_of, is_array, is_tensor
from varlen.display.text import Column, column_text, keys_text, plural
from varlen.errors import value_error
from varlen.interop.arrow_nodes import Leaf, Node, array_node, struct_node
from varlen.interop.frames import FrameMethods
from varlen.types.device_methods import DeviceMethods

if TYPE_CHECKING:
    from typing_extensions import Self

    from varlen.io.account import Account

__all__ = ["Batch"]


@adopt_methods
class Batch(DeviceMethods, FrameMethods, dict[str, ArrayT]):
    """A dict of the arrays of a batch, with methods that move it to a device.

    `dim1/max_length` of a ragged batch and `max_seqlen` of a packed one are numbers; all others are arrays or
    tensors. Batches of samples may mix both with lists; then only the tensors are moved and pinned.

    Examples
    --------
    >>> import torch
    >>> import varlen as vl
    >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
    >>> batch = ds.batch([0, 2], framework="torch")
    >>> sorted(batch), batch.device
    (['dim1/mask', 'x'], 'cpu')
    >>> there = batch.to("cuda") if torch.cuda.is_available() else batch
    """

    __slots__ = ("_account",)

    _account: Account

    @property
    def account(self) -> Account | None:
        """The account of a batch from `varlen.data.pack`: what came in, what it holds, what was left out."""
        return getattr(self, "_account", None)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: Literal["dim1/max_length", "max_seqlen"]) -> int: ...  # type: ignore[overload-overlap]
        @overload
        def __getitem__(self, key: str) -> ArrayT: ...
        def __getitem__(self, key: str) -> ArrayT | int: ...

    @property
    def device(self) -> str:
        """The device of the arrays: "cpu", or the device of the tensors."""
        return next(map(device_of, self._movable().values()), "cpu")

    def _arrow_node(self, leaf: Leaf | None = None) -> Node:
        columns = {
            name: partial(array_node, value, (), leaf=leaf) for name, value in self.items() if is_array(value)
        }
        if len(columns) < len(self):
            name = next(name for name, value in self.items() if not is_array(value))
            raise value_error("", f"{name!r} is no column of rows", "make a batch with layout='padded'")
        return struct_node(columns)

    def _movable(self) -> dict[str, Any]:
        """The arrays that go to a device: those of NumPy only where there are no others."""
        arrays = {name: value for name, value in self.items() if is_array(value)}
        return {name: x for name, x in arrays.items() if not isinstance(x, np.ndarray)} or arrays

    def record_stream(self, stream: Any) -> None:
        """Tell torch's allocator that a stream uses tensors made on another stream.

        Parameters
        ----------
        stream
            A torch stream. The memory is not reused before the stream has finished its present work.

        Examples
        --------
        >>> import numpy as np
        >>> Batch({"x": np.zeros(2)}).record_stream(None)
        """
        value: Any
        for value in self.values():
            if is_tensor(value) and value.is_cuda:
                value.record_stream(stream)

    def _leaves(self) -> dict[str, Any]:
        return dict(self)

    def _with_leaves(self, leaves: Sequence[Any]) -> Self:
        result = type(self)(zip(self, leaves, strict=True))
        if hasattr(self, "_account"):
            result._account = self._account
        return result

    def _parts(self) -> tuple[str, ...]:
        return tuple(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return saved(type(self), dict(self)) if by_torch(protocol) else super().__reduce_ex__(protocol)

    @classmethod
    def _from_saved(cls, items: dict[str, Any]) -> Batch[Any]:
        return cls(items)

    def __str__(self) -> str:
        return keys_text(f"{type(self).__name__}({plural(len(self), 'key')}, {self.device})", self._entries())

    def _repr_html_(self) -> str:
        from varlen.display.html import keys_html

        return keys_html(type(self).__name__, [("device", self.device)], self._entries())

    def _entries(self) -> list[tuple[str, str, str]]:
        return [_entry_text(name, value) for name, value in self.items()]

    def _move(self, move: Callable[[Any], Any]) -> Self:
        arrays = {name: move(value) for name, value in self._movable().items()}
        if all(self[name] is value for name, value in arrays.items()):
            return self
        entries: dict[str, Any] = {**self, **arrays}
        return type(self)(entries)


def _entry_text(name: str, value: Any) -> tuple[str, str, str]:
    """The name of an entry, its kind, and its first values."""
    if not is_array(value) or value.ndim == 0:
        return name, type(value).__name__, short(value)
    kind = f"{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}"
    return name, kind, column_text(Column(name, value))


hint_names(Batch, BATCH)
