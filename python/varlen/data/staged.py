"""Batches on their way to a device."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.arguments import as_mapping
from varlen.data.batch import Batch
from varlen.data.options import device_name
from varlen.data.staging import OwnBlock, RingBlock, ring_of, usable_device

if TYPE_CHECKING:
    import torch

    from varlen.data.staging import Block, Staging

__all__ = ["StagedBatch"]

_PARTS = "dim1/part"


class StagedBatch:
    """A batch in one block of the host's memory, to be copied to a device and padded there.

    The block has the rows of all keys end to end, in the dtypes that they are stored in, and the ends of
    their sequences. A worker of a DataLoader makes it; its parent pins it and takes it to the device. Made by
    `Dataset.collator(device=...)`.

    Parameters
    ----------
    plan
        Of the batch.
    staging
        Where the block comes from.
    device
        Where `to` takes it by default.
    torch_names
        What torch calls the dtypes of some keys, where NumPy has no name for them.

    Attributes
    ----------
    nbytes
        Of the block, which is what goes over the bus.

    Examples
    --------
    >>> import varlen as vl
    >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
    >>> staged = ds.collator(device="cuda")([0, 2])
    >>> staged
    StagedBatch(['dim1/mask', 'x'], 132 bytes)
    >>> batch = staged.to("cuda") if vl.cuda.is_available() else None
    """

    def __init__(
        self,
        plan: _core.StagedBatch,
        staging: Staging,
        device: str,
        torch_names: Mapping[str, str],
    ) -> None:
        self._device = device
        self._outputs = [
            (name, None if dtype is None else _torch_name(name, dtype, torch_names.get(name)), shape, place)
            for name, dtype, shape, place in plan.outputs
        ]
        self._recipe = plan.recipe
        self._instead: dict[str, torch.Tensor] = {}
        self.nbytes = plan.nbytes
        self._block: Block | None = staging.take(self.nbytes)
        try:
            plan.write(self._block.bytes.numpy())
        except BaseException:
            self._block.dropped()
            raise

    def pin_memory(self) -> StagedBatch:
        """The same in memory of the host that a device reads by itself. A DataLoader with `pin_memory=True`
        calls it.

        Returns
        -------
        StagedBatch
            Itself where it is pinned.

        Examples
        --------
        >>> import torch
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> staged = ds.collator(device="cuda")([0, 2])
        >>> pinned = staged.pin_memory() if torch.cuda.is_available() else staged
        """
        if self._block is None or self._block.is_pinned:
            return self
        pinned: StagedBatch = object.__new__(StagedBatch)
        pinned.__dict__.update(self.__dict__)
        pinned._block = OwnBlock(self._block.bytes.pin_memory(), is_pinned=True)
        return pinned

    def to(
        self,
        device: torch.device | str | int | None = None,
        non_blocking: bool = True,
        *,
        out: Mapping[str, torch.Tensor] | None = None,
    ) -> Batch[torch.Tensor]:
        """The batch on a device: one copy and one kernel, on the current stream.

        Parameters
        ----------
        device
            Where to; by default what the collator was given.
        non_blocking
            True returns before the copy is done.
        out
            Tensors that are written instead of new ones, as `Dataset.batch` takes them.

        Returns
        -------
        Batch
            What `Dataset.batch(device=...)` gives.

        Raises
        ------
        RuntimeError
            CUDA cannot be used here.
        ValueError, TypeError
            Another kind of device, or an output that does not fit.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> staged = ds.collator(device="cuda")([0, 2])
        >>> batch = staged.to("cuda:0") if vl.cuda.is_available() else None
        """
        try:
            return self._sent(self._device if device is None else device_name(device), non_blocking, out)
        except BaseException:
            if isinstance(self._block, RingBlock):
                self._block.dropped()
                self._block = None
            raise

    def _sent(self, device: str, non_blocking: bool, out: Any) -> Batch[torch.Tensor]:
        import torch

        if device == "cpu":
            raise ValueError("device: a staged batch goes to CUDA; collate with device='cpu' for the host")
        own = self._block
        if own is None:
            raise ValueError("this batch has gone to a device, and its block belongs to another one")
        there = usable_device(device)
        given = dict(as_mapping(out, "out", "names to tensors")) if out is not None else {}
        outputs = self._made(there, given)
        memory = torch.empty(max(self.nbytes, 1), dtype=torch.uint8, device=there)
        copy = memory[: self.nbytes]
        if own.is_pinned:
            copy.copy_(own.bytes, non_blocking=non_blocking)
            own.sent()
            if isinstance(own, RingBlock):
                self._block = None  # others write there from now on
        else:
            block = ring_of(there).take(self.nbytes)
            try:
                block.bytes.copy_(own.bytes)
                copy.copy_(block.bytes, non_blocking=non_blocking)
            except BaseException:
                block.dropped()
                raise
            block.sent()
        if not self._is_ragged:
            _core.unstage(self._recipe, memory, [0 if x is None else x.data_ptr() for x in outputs.values()])
        return self._batch(memory, outputs, given)

    @property
    def _is_ragged(self) -> bool:
        return all(dtype is None or place >= 0 for _, dtype, _, place in self._outputs)

    def _made(self, there: torch.device, given: dict[str, Any]) -> dict[str, Any]:
        """Memory of the outputs: what was given, or new; None for what lies in the block."""
        import torch

        result: dict[str, Any] = {}
        for name, kind, shape, place in self._outputs:
            if name in given:
                dtype = getattr(torch, str(kind))
                result[name] = _checked(given[name], f"out[{name!r}]", there, dtype, shape)
            elif kind is None or place >= 0:
                result[name] = None
            else:
                result[name] = torch.empty(shape, dtype=getattr(torch, kind), device=there)
        for name in given:
            if name not in result:
                raise ValueError(f"out: the batch has no {name!r}")
        return result

    def _batch(
        self, memory: torch.Tensor, outputs: dict[str, Any], given: dict[str, Any]
    ) -> Batch[torch.Tensor]:
        """The batch, with views of the block where it lies there as it is."""
        import torch

        batch: Batch[Any] = Batch(outputs)
        for name, kind, shape, place in self._outputs:
            if kind is None:
                batch[name] = place
            elif place >= 0:
                dtype = getattr(torch, kind)
                nbytes = math.prod(shape) * dtype.itemsize
                here = memory[place : place + nbytes].view(dtype).view(shape)
                batch[name] = here if name not in given else outputs[name].copy_(here)
        for name, tensor in self._instead.items():
            batch[name].copy_(tensor, non_blocking=True)
        if _PARTS in batch and _PARTS not in given:
            batch[_PARTS] = batch[_PARTS].to(torch.int64)  # torch takes uint8 for a mask
        return batch

    def cuda(
        self, device: torch.device | str | int = "cuda", non_blocking: bool = True
    ) -> Batch[torch.Tensor]:
        """The batch on a CUDA device, as `to("cuda")`.

        Parameters
        ----------
        device
            Which one: the current one by default.
        non_blocking
            See `to`.

        Returns
        -------
        Batch
            What `Dataset.batch(device=...)` gives.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> staged = ds.collator(device="cuda")([0, 2])
        >>> batch = staged.cuda() if vl.cuda.is_available() else None
        """
        return self.to(device, non_blocking)

    def _replace(self, numbers: Mapping[str, Any]) -> None:
        """Other numbers for small arrays of the batch."""
        import torch

        self._instead |= {name: torch.from_numpy(array) for name, array in numbers.items()}

    def __repr__(self) -> str:
        return f"StagedBatch({[name for name, *_ in self._outputs]}, {self.nbytes} bytes)"


def _torch_name(name: str, dtype: np.dtype[Any], torch_name: str | None) -> str:
    """What torch calls the dtype of an output."""
    import torch

    found = "int64" if dtype.kind in "mM" else torch_name or dtype.name
    if not isinstance(getattr(torch, found, None), torch.dtype):
        raise TypeError(f"framework: torch has no dtype for {dtype}, that of {name!r}")
    return found


def _checked(
    given: Any, argument: str, there: torch.device, dtype: torch.dtype, shape: tuple[int, ...]
) -> torch.Tensor:
    """The front of a tensor that is written, in the shape that it gets."""
    import torch

    if not isinstance(given, torch.Tensor):
        raise TypeError(f"{argument}: expected a tensor on {there}, got {type(given).__name__}")
    if given.device != there:
        raise ValueError(f"{argument}: expected a tensor on {there}, got one on {given.device}")
    if given.dtype != dtype:
        raise TypeError(f"{argument}: has dtype {given.dtype}, the batch gives {dtype}")
    count = math.prod(shape)
    if not given.is_contiguous():
        raise ValueError(f"{argument}: must be contiguous")
    if given.numel() < count:
        raise ValueError(f"{argument}: has room for {given.numel()} entries, the batch needs {count}")
    return given if tuple(given.shape) == shape else given.detach().view(-1)[:count].view(shape)
