"""A joint dict on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.arguments import as_bool
from varlen.backends.values import device_of, memory_of
from varlen.joint.state import JointState
from varlen.types.placed import Placed
from varlen.types.ragged import Ragged

if TYPE_CHECKING:
    from typing_extensions import Self

    from varlen.joint.joint_dict import JointNestedRaggedTensorDict

__all__ = ["JointTensors"]


class JointTensors(Placed, dict[str, Any]):
    """The keys of a joint dict as tensors, where they may lie on a device: Ragged, or a tensor at dim 0.

    Levels are shared by all keys that lie under them. Made by `JointNestedRaggedTensorDict.to`.

    Parameters
    ----------
    values
        A Ragged or a tensor for each key.
    dtypes
        What NumPy calls the dtypes of the values.
    source
        The class and the metadata of the joint dict that this was.

    Examples
    --------
    >>> import torch
    >>> from varlen import JointNestedRaggedTensorDict
    >>> J = JointNestedRaggedTensorDict({"x": [[1.5, 2.5], [3.5]], "id": [7, 8]})
    >>> there = J.to("cuda" if torch.cuda.is_available() else "meta")
    >>> sorted(there), there["x"].lengths
    (['id', 'x'], array([2, 1]))
    """

    __slots__ = ("_dtypes", "_source")

    def __init__(
        self,
        values: dict[str, Any],
        dtypes: dict[str, np.dtype[Any]],
        source: tuple[type[JointNestedRaggedTensorDict], Any],
    ) -> None:
        super().__init__(values)
        self._dtypes, self._source = dtypes, source

    @property
    def device(self) -> str:
        """Where the values are, as tensors say it."""
        return next((device_of(_rows_of(value)) for value in self.values()), "cpu")

    def to_joint(self) -> JointNestedRaggedTensorDict:
        """The joint dict of these values, in memory of the host, with the dtypes that it had.

        Returns
        -------
        JointNestedRaggedTensorDict
            Of the class that this was.

        Examples
        --------
        >>> import torch
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"x": [[1.5, 2.5], [3.5]], "id": [7, 8]})
        >>> J.pin_memory().to_joint() == J if torch.cuda.is_available() else True
        True
        """
        levels: tuple[_core.Level, ...] = ()
        dims, arrays = [], []
        for name, value in self.cpu().items():
            own = value.levels if isinstance(value, Ragged) else ()
            levels = max(levels, own, key=len)
            dims.append(len(own))
            arrays.append(memory_of(_rows_of(value)).view(self._dtypes[name]))
        kind, metadata = self._source
        joint = _core.Joint(list(self), dims, arrays, list(levels))
        return kind._wrap(joint if metadata is None else joint.with_meta(metadata))

    def _moved(self, move: Callable[[Any], Any]) -> Self:
        moved = {}
        for name, value in self.items():
            moved[name] = value._moved(move) if isinstance(value, Ragged) else move(value)
        if all(a is b for a, b in zip(moved.values(), self.values(), strict=True)):
            return self
        return type(self)(moved, self._dtypes, self._source)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self), self._dtypes, self._source)


def _rows_of(value: Any) -> Any:
    return value.values if isinstance(value, Ragged) else value


class PlacedMethods(JointState):
    """The way of a joint dict to a device."""

    @property
    def device(self) -> str:
        """Where the values are: "cpu". `to` gives their tensors elsewhere."""
        return "cpu"

    def to(self: Self, device: Any, non_blocking: bool = False) -> Self | JointTensors:
        """The keys as tensors on a device, under the same levels.

        Parameters
        ----------
        device
            A `torch.device`, or what makes one: "cuda", "cuda:1", "cpu", a number.
        non_blocking
            Whether the call may return before the values are there; for that they have to be pinned before:
            `J.pin_memory().to(device, non_blocking=True)`.

        Returns
        -------
        JointNestedRaggedTensorDict or JointTensors
            The joint dict itself for the CPU; else its keys as Ragged of tensors, times as int64.

        Raises
        ------
        RuntimeError
            torch has no such device.
        TypeError
            torch has no dtype for a key.

        Examples
        --------
        >>> import torch
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"x": [[1.5, 2.5], [3.5]], "id": [7, 8]})
        >>> J.to("cpu") is J
        True
        >>> there = J.to("cuda") if torch.cuda.is_available() else J
        """
        import torch

        early = as_bool(non_blocking, "non_blocking")
        place = torch.device(device)
        return self if place.type == "cpu" else _tensors_of(self).to(place, early)

    def cpu(self: Self) -> Self:
        """The joint dict itself, as `to("cpu")`.

        Returns
        -------
        JointNestedRaggedTensorDict
            Itself.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"x": [[1.5, 2.5], [3.5]]})
        >>> J.cpu() is J
        True
        """
        return self

    def cuda(self: Self, device: Any = "cuda", non_blocking: bool = False) -> Self | JointTensors:
        """The keys as tensors on a CUDA device, as `to("cuda")`.

        Parameters
        ----------
        device
            Which one: the current one by default.
        non_blocking
            See `to`.

        Returns
        -------
        JointTensors
            The keys as Ragged of tensors.

        Examples
        --------
        >>> import torch
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"x": [[1.5, 2.5], [3.5]]})
        >>> there = J.cuda() if torch.cuda.is_available() else J
        """
        return self.to(device, non_blocking)

    def pin_memory(self) -> JointTensors:
        """The keys as tensors in memory of the host that a device reads by itself.

        Returns
        -------
        JointTensors
            The keys as Ragged of tensors.

        Examples
        --------
        >>> import torch
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"x": [[1.5, 2.5], [3.5]]})
        >>> pinned = J.pin_memory() if torch.cuda.is_available() else J
        """
        return _tensors_of(self).pin_memory()


def _tensors_of(joint: Any) -> JointTensors:
    """The values of a joint dict as tensors, which share their memory where it may be written."""
    from varlen.backends.torch.memory import tensor_of

    values: dict[str, Any] = {}
    dtypes: dict[str, np.dtype[Any]] = {}
    for name, value in joint.items():
        rows = np.asarray(_rows_of(value))
        dtypes[name] = rows.dtype
        if rows.dtype.kind in "mM":
            rows = rows.view(np.int64)
        elif rows.dtype.kind == "V":
            raise TypeError(f"device: torch has no dtype for {rows.dtype}, that of {name!r}")
        tensor = tensor_of(rows)
        values[name] = Ragged(tensor, levels=value.levels) if isinstance(value, Ragged) else tensor
    return JointTensors(values, dtypes, (type(joint), joint._meta or None))
