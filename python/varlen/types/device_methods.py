"""The device of a container's values, and copies on other devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import tracing
from varlen._pytrees import Tree
from varlen.arguments import as_bool
from varlen.backends import backend_of
from varlen.backends.values import copy_of, device_of, is_tensor, pin, to_device
from varlen.errors import type_error, value_error
from varlen.types.file_methods import FileMethods

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch
    from typing_extensions import Self

    from varlen.backends.values import DTypes, SequencesLike


class DeviceMethods(FileMethods, Tree):
    """Methods of the containers, which inherit them: the device of their values, and moves to another.

    Levels and other counts stay on the host, where every call reads them. The first kernel on a device that
    needs them copies them there, and the copy is kept.

    Examples
    --------
    >>> vl.Ragged([3, 1, 4], [1, 2]).device
    'cpu'
    """

    __slots__ = ()

    def _rows(self) -> Any:
        """The values, in one array or tensor."""
        raise NotImplementedError

    def _with_rows(self, rows: SequencesLike) -> Self:
        """The same container of other values."""
        raise NotImplementedError

    def _first_axes(self) -> tuple[int, ...]:
        """The first axes of values that fit the structure."""
        raise NotImplementedError

    def _leaves(self) -> dict[str, Any]:
        return {"values": self._rows()}

    def _with_leaves(self, leaves: Sequence[Any]) -> Self:
        return self._with_rows(check_rows(leaves[0], self))

    @property
    def device(self) -> str:
        """The device of the values: "cpu", or for example "cuda:0" for tensors, CuPy's and JAX's arrays."""
        return device_of(self._rows())

    def to(
        self,
        device: Any = None,
        dtype: DTypes | bool | None = None,
        non_blocking: bool = False,
        *,
        copy: bool = False,
    ) -> Self:
        """Move the values to a device, convert them to a dtype, or both, as `torch.Tensor.to`.

        Parameters
        ----------
        device
            A `torch.device`, or a value that makes one: "cuda", "cuda:1", "cpu", a number. For arrays of
            CuPy, one of these names, a number or a `cupy.cuda.Device`; on the CPU they become arrays of
            NumPy. Or a dtype. Or a container, a tensor or an array, whose device and dtype are meant.
        dtype
            A dtype of NumPy or torch. Containers of several arrays convert those of floats. Or non_blocking.
        non_blocking
            Whether the call may return before the copy is done; host values must be pinned for that.
        copy
            Whether to copy values that are there already.

        Returns
        -------
        Self
            The container itself if its values are already there. Autograd follows tensors.

        Raises
        ------
        TypeError
            The name is not a device, or the values are NumPy arrays and the device is not the CPU.
        ValueError
            torch was built without such devices.

        Examples
        --------
        >>> import torch
        >>> r = vl.Ragged(torch.tensor([3, 1, 4]), [1, 2])
        >>> r.to("cpu") is r, r.to(torch.float32).dtype
        (True, torch.float32)
        """
        kind: Any = dtype
        if isinstance(dtype, bool):
            non_blocking, kind = dtype, None
        early = as_bool(non_blocking, "non_blocking")
        place = device
        if _is_dtype(device):
            if kind is not None:
                raise type_error("dtype", f"given twice, as {device} and {kind}")
            place, kind = None, device
        elif hasattr(device, "dtype") and hasattr(device, "device"):
            place, kind = device.device, device.dtype if kind is None else kind
        result = self if place is None else self._move(lambda values: to_device(values, place, early))
        if kind is not None:
            result = result._convert(kind)
        return result._move(copy_of) if result is self and as_bool(copy, "copy") else result

    def cpu(self) -> Self:
        """Move the values to the CPU, as `to("cpu")`.

        Returns
        -------
        Self
            The container itself if its values are already there.

        Examples
        --------
        >>> import torch
        >>> vl.Ragged(torch.tensor([3, 1, 4]), [1, 2]).cpu().device
        'cpu'
        """
        return self.to("cpu")

    def cuda(self, device: torch.device | str | int = "cuda", non_blocking: bool = False) -> Self:
        """Move the values to a CUDA device, as `to("cuda")`.

        Parameters
        ----------
        device
            The device, by name or number; the current one by default.
        non_blocking
            See `to`.

        Returns
        -------
        Self
            The container itself if its values are already there.

        Raises
        ------
        TypeError
            The values are NumPy arrays.

        Examples
        --------
        >>> import torch
        >>> r = vl.Ragged(torch.tensor([3, 1, 4]), [1, 2])
        >>> there = r.cuda() if torch.cuda.is_available() else r
        """
        if type(device) is int:
            device = f"cuda:{device}"
        return self.to(device, non_blocking)

    def pin_memory(self) -> Self:
        """Copy the values to pinned memory, which a device reads directly.

        Copies from pinned memory to a device are faster, and may run while the host works on
        (`non_blocking`). A DataLoader with `pin_memory=True` calls this method.

        Returns
        -------
        Self
            The container itself if its values are already pinned.

        Raises
        ------
        TypeError
            The values are NumPy arrays, or lie on a device.

        Examples
        --------
        >>> import torch
        >>> r = vl.Ragged(torch.tensor([3, 1, 4]), [1, 2])
        >>> there = r.pin_memory() if torch.cuda.is_available() else r
        """
        return self._move(pin)

    def _move(self, move: Callable[[Any], Any]) -> Self:
        rows = self._rows()
        new_rows = move(rows)
        return self if new_rows is rows else self._with_rows(new_rows)

    def _convert(self, dtype: DTypes) -> Self:
        """The same with floats in another dtype."""
        return self._move(lambda values: _convert_floats(values, dtype))


def _is_dtype(x: object) -> bool:
    return isinstance(x, (np.dtype, type)) or type(x).__name__ == "dtype"


def _convert_floats(values: Any, dtype: DTypes) -> Any:
    is_float = values.is_floating_point() if is_tensor(values) else values.dtype.kind == "f"
    return backend_of(values).to_dtype(values, dtype) if is_float else values


def check_rows(rows: Any, x: Any) -> Any:
    """Refuse an array or a tensor with more or fewer rows than a container needs."""
    shape = getattr(rows, "shape", None)
    if isinstance(shape, tuple) and not tracing.is_tracing():
        expected = x._first_axes()
        if shape[: len(expected)] != expected:
            raise value_error(
                "values",
                f"shape {tuple(shape)} does not begin with {expected}, the rows of the {type(x).__name__}",
                "map functions that keep the rows, or go through x.values",
            )
    return rows
