"""The device of a container's values, and copies on other devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.arguments import as_bool
from varlen.backends.values import device_of, pin, to_device

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch
    from typing_extensions import Self

    from varlen.backends.values import SequencesLike


class DeviceMethods:
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

    @property
    def device(self) -> str:
        """The device of the values: "cpu", or for example "cuda:0" for tensors, CuPy's and JAX's arrays."""
        return device_of(self._rows())

    def to(self, device: torch.device | str | int, non_blocking: bool = False) -> Self:
        """Move the values to a device.

        Parameters
        ----------
        device
            A `torch.device`, or a value that makes one: "cuda", "cuda:1", "cpu", a number. For arrays of
            CuPy, one of these names, a number or a `cupy.cuda.Device`; on the CPU they become arrays of
            NumPy.
        non_blocking
            Whether the call may return before the copy is done; host values must be pinned for that.

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
        >>> r.to("cpu") is r
        True
        """
        early = as_bool(non_blocking, "non_blocking")
        return self._move(lambda values: to_device(values, device, early))

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
