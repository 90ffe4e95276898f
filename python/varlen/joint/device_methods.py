"""A joint dict on a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._methods import adopt_methods
from varlen.arguments import as_bool
from varlen.backends import cupy_backend
from varlen.backends.bridge import cupy_for
from varlen.backends.devices import framework_of
from varlen.backends.values import device_of, memory_of
from varlen.errors import type_error
from varlen.joint.state import JointState
from varlen.types.device_methods import DeviceMethods
from varlen.types.ragged import Ragged

if TYPE_CHECKING:
    import torch
    from typing_extensions import Self

    from varlen.backends.values import DTypes
    from varlen.joint.joint_dict import JointNestedRaggedTensorDict

__all__ = ["JointArrays"]


@adopt_methods
class JointArrays(DeviceMethods, dict[str, Any]):
    """The keys of a joint dict as tensors or CuPy arrays on any device: Ragged, or an array at dim 0.

    Keys share their common levels. `JointNestedRaggedTensorDict.to` returns one.

    Parameters
    ----------
    values
        A Ragged, a tensor or an array for each key.
    dtypes
        The NumPy dtypes of the values.
    source
        The class and the metadata of the original joint dict.

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
        dtypes: dict[str, np.dtype],
        source: tuple[type[JointNestedRaggedTensorDict], Any],
    ) -> None:
        super().__init__(values)
        self._dtypes, self._source = dtypes, source

    @property
    def device(self) -> str:
        """The device of the values, by torch's name."""
        return next((device_of(_rows_of(value)) for value in self.values()), "cpu")

    def to_joint(self) -> JointNestedRaggedTensorDict:
        """Convert back to a joint dict in host memory, with the original dtypes.

        Returns
        -------
        JointNestedRaggedTensorDict
            A joint dict of the original class.

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

    def _leaves(self) -> dict[str, Any]:
        return dict(self)

    def _with_leaves(self, leaves: Sequence[Any]) -> Self:
        return type(self)(dict(zip(self, leaves, strict=True)), self._dtypes, self._source)

    def _parts(self) -> tuple[Any, ...]:
        return (*self, self._dtypes, self._source)

    def _move(self, move: Callable[[Any], Any]) -> Self:
        arrays = {}
        for name, value in self.items():
            arrays[name] = value._move(move) if isinstance(value, Ragged) else move(value)
        if all(a is b for a, b in zip(arrays.values(), self.values(), strict=True)):
            return self
        return type(self)(arrays, self._dtypes, self._source)

    def _convert(self, dtype: DTypes) -> Self:
        raise type_error(
            "dtype", "JointArrays keep the dtypes of their joint dict", "convert one key, as x.to(dtype)"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self), self._dtypes, self._source)


def _rows_of(value: object) -> Any:
    return value.values if isinstance(value, Ragged) else value


class PlacedMethods(JointState):
    """Methods that move a joint dict to a device."""

    @property
    def device(self) -> str:
        """The device of the values: always "cpu". `to` gives tensors on other devices."""
        return "cpu"

    def to(self: Self, device: torch.device | str | int, non_blocking: bool = False) -> Self | JointArrays:
        """Move the keys to a device, as tensors or CuPy arrays under the same levels.

        Parameters
        ----------
        device
            A `torch.device` gives tensors, a `cupy.cuda.Device` arrays of CuPy. A name or a number ("cuda",
            "cuda:1", 0, "cpu") gives tensors if torch was imported, else arrays of CuPy if that is installed,
            else tensors.
        non_blocking
            Whether the call may return before the copy of tensors is done. They must be pinned for that:
            `J.pin_memory().to(device, non_blocking=True)`.

        Returns
        -------
        JointNestedRaggedTensorDict or JointArrays
            The joint dict itself for the CPU; otherwise its keys as Ragged of tensors or CuPy arrays, times
            as int64.

        Raises
        ------
        RuntimeError
            torch has no such device; or neither torch nor CuPy is installed.
        ValueError
            CuPy has no such device.
        TypeError
            The library has no dtype for a key, or the name is not a device.

        Examples
        --------
        >>> import torch
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"x": [[1.5, 2.5], [3.5]], "id": [7, 8]})
        >>> J.to("cpu") is J
        True
        >>> there = J.to("cuda") if torch.cuda.is_available() else J
        """
        early = as_bool(non_blocking, "non_blocking")
        if isinstance(device, str) and device.partition(":")[0] == "cpu":
            return self
        if framework_of(device) == "cupy":
            return _on_cupy(self, device)
        from varlen.backends.torch.memory import device_named

        place = device_named(device)
        return self if place.type == "cpu" else _tensors_of(self).to(place, early)

    def cpu(self: Self) -> Self:
        """Return the joint dict itself, as `to("cpu")`.

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

    def cuda(
        self: Self, device: torch.device | str | int = "cuda", non_blocking: bool = False
    ) -> Self | JointArrays:
        """Move the keys to a CUDA device, as `to("cuda")`.

        Parameters
        ----------
        device
            The device; the current one by default.
        non_blocking
            See `to`.

        Returns
        -------
        JointArrays
            The keys as Ragged of tensors or CuPy arrays.

        Examples
        --------
        >>> import torch
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"x": [[1.5, 2.5], [3.5]]})
        >>> there = J.cuda() if torch.cuda.is_available() else J
        """
        return self.to(device, non_blocking)

    def pin_memory(self) -> JointArrays:
        """Copy the keys to tensors in pinned memory, which a device reads directly.

        Returns
        -------
        JointArrays
            The keys as Ragged of tensors.

        Raises
        ------
        TypeError
            torch is not installed; CuPy has no arrays in pinned memory.

        Examples
        --------
        >>> import torch
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"x": [[1.5, 2.5], [3.5]]})
        >>> pinned = J.pin_memory() if torch.cuda.is_available() else J
        """
        try:
            tensors = _tensors_of(self)
        except ModuleNotFoundError:
            raise type_error(
                "pin_memory", "needs torch, which is not installed; to('cuda') works without it"
            ) from None
        return tensors.pin_memory()


def _tensors_of(joint: object) -> JointArrays:
    """The values of a joint dict as tensors, which share writable memory."""
    from varlen.backends.torch.memory import tensor_of

    return _as_arrays(joint, "torch", tensor_of)


def _on_cupy(joint: object, device: torch.device | str | int) -> JointArrays:
    """The values of a joint dict as arrays of CuPy on a device."""
    cupy = cupy_for(f"device: {device!r} without torch")
    library: Any = cupy_backend(cupy)
    with library.library.at_named(device):
        return _as_arrays(joint, "CuPy", cupy.asarray)


def _as_arrays(joint: Any, framework: str, convert: Callable[[Any], Any]) -> JointArrays:
    values: dict[str, Any] = {}
    dtypes: dict[str, np.dtype] = {}
    for name, value in joint.items():
        rows = np.asarray(_rows_of(value))
        dtypes[name] = rows.dtype
        if rows.dtype.kind in "mM":
            rows = rows.view(np.int64)
        elif rows.dtype.kind == "V":
            raise type_error("device", f"{framework} has no dtype for {rows.dtype}, that of {name!r}")
        array = convert(rows)
        values[name] = Ragged(array, levels=value.levels) if isinstance(value, Ragged) else array
    return JointArrays(values, dtypes, (type(joint), joint._meta or None))
