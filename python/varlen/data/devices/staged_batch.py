"""Batches on their way to a device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from varlen import _core
from varlen.arguments import as_mapping
from varlen.backends.devices import device_name
from varlen.data.batch import Batch
from varlen.data.devices import kind_name, usable_device
from varlen.data.devices.staging import PinnedBlock, Ring, ring_of
from varlen.data.tensors import writing
from varlen.errors import value_error

if TYPE_CHECKING:
    import torch

    from varlen.data.devices.device import Device
    from varlen.data.devices.staging import Block, BlockSource

__all__ = ["StagedBatch"]

_PARTS = "dim1/part"


class StagedBatch:
    """A batch in one block of host memory, ready to be copied to a device and padded there.

    The block has the rows of all keys end to end, in their stored dtypes, and the ends of their sequences. A
    DataLoader worker makes it; its parent process pins it and copies it to the device.
    `Dataset.collator(device=...)` makes such batches.

    Parameters
    ----------
    plan
        The plan of the batch.
    staging
        The staging area that supplies the block.
    device
        The default device of `to`.
    framework
        "torch" or "cupy": the library of the arrays on the device.
    torch_names
        torch's names of the dtypes of some keys, for which NumPy has no name.

    Attributes
    ----------
    framework
        The library of the arrays on the device.
    nbytes
        The bytes of the block, all of which are copied to the device.

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
        staging: BlockSource,
        device: str,
        framework: str,
        torch_names: Mapping[str, str],
    ) -> None:
        self._device, self.framework = device, framework
        self._outputs = [
            (
                name,
                None if dtype is None else kind_name(framework, name, dtype, torch_names.get(name)),
                shape,
                place,
            )
            for name, dtype, shape, place in plan.outputs
        ]
        self._recipe = plan.recipe
        self._instead: dict[str, Any] = {}
        self.nbytes = plan.nbytes
        self._is_lent = isinstance(staging, Ring)  # others wait for the block
        self._block: Block | None = staging.take(self.nbytes)
        try:
            plan.write(self._block.array)
        except BaseException:
            self._block.give_back()
            raise

    def pin_memory(self) -> StagedBatch:
        """Copy the block to pinned memory. A DataLoader with `pin_memory=True` calls this.

        Returns
        -------
        StagedBatch
            This batch, if it is already pinned.

        Raises
        ------
        RuntimeError
            CUDA cannot be used here.
        MemoryError
            The host has no pinned memory left.

        Examples
        --------
        >>> import torch
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> staged = ds.collator(device="cuda")([0, 2])
        >>> pinned = staged.pin_memory() if torch.cuda.is_available() else staged
        """
        if self._block is None or isinstance(self._block, PinnedBlock):
            return self
        device = usable_device(self._device, self.framework)
        batch: StagedBatch = object.__new__(StagedBatch)
        batch.__dict__.update(self.__dict__)
        batch._block = ring_of(device.number, None).take(self.nbytes)
        batch._block.array[:] = self._block.array
        return batch

    def to(
        self,
        device: torch.device | str | int | None = None,
        non_blocking: bool = True,
        *,
        out: Mapping[str, Any] | None = None,
    ) -> Batch[Any]:
        """Move the batch to a device: one copy and one kernel, on the current stream.

        Parameters
        ----------
        device
            The device; by default the collator's.
        non_blocking
            True returns before the copy is done.
        out
            Arrays on the device to write instead of new ones, as in `Dataset.batch`.

        Returns
        -------
        Batch
            The batch, as `Dataset.batch(device=...)` returns it.

        Raises
        ------
        RuntimeError
            CUDA cannot be used here.
        ValueError, TypeError
            The device is of another kind, or an output does not fit.
        MemoryError
            The host has no pinned memory left.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> staged = ds.collator(device="cuda")([0, 2])
        >>> batch = staged.to("cuda:0") if vl.cuda.is_available() else None
        """
        name = self._device if device is None else device_name(device)
        if name == "cpu":
            raise value_error(
                "device",
                "a staged batch can only go to a CUDA device",
                "collate with device='cpu' for the host",
            )
        return self._move_to(usable_device(name, self.framework), non_blocking, out)

    def _move_to(self, device: Device, non_blocking: bool, out: object = None) -> Batch[Any]:
        outputs = dict(as_mapping(out, "out", "names to arrays")) if out is not None else {}
        try:
            with writing(outputs):
                return self._send(device, non_blocking, outputs)
        finally:
            if self._is_lent and self._block is not None:
                self._block.give_back()
                self._block = None  # others write there from now on

    def _send(self, device: Device, non_blocking: bool, targets: Mapping[str, object]) -> Batch[Any]:
        own = self._block
        if own is None:
            raise value_error(
                "", "this batch was moved to a device, and its block is reused by another batch"
            )
        outputs = self._new_outputs(device, targets)
        nbytes = max(self.nbytes, 1)
        memory = device.empty((nbytes,), device.kind("uint8")) if self._is_ragged else device.scratch(nbytes)
        device.ready()
        if isinstance(own, PinnedBlock):
            own.send(memory, non_blocking)
        else:
            block = ring_of(device.number).take(self.nbytes)
            try:
                block.array[:] = own.array
                block.send(memory, non_blocking)
            finally:
                block.give_back()
        if not self._is_ragged:
            addresses = [0 if x is None else device.address(x) for x in outputs.values()]
            _core.unstage(self._recipe, memory, addresses)
        return self._batch(device, memory, outputs, targets)

    @property
    def _is_ragged(self) -> bool:
        return all(kind is None or place >= 0 for _, kind, _, place in self._outputs)

    def _new_outputs(self, device: Device, targets: Mapping[str, object]) -> dict[str, Any]:
        """Memory of the outputs: what was given, or new; None for what lies in the block."""
        result: dict[str, Any] = {}
        for name, kind, shape, place in self._outputs:
            if kind is None:
                result[name] = None
            elif name in targets:
                result[name] = device.check_out(targets[name], f"out[{name!r}]", shape, device.kind(kind))
            else:
                result[name] = None if place >= 0 else device.empty(shape, device.kind(kind))
        for name in targets:
            if name not in result:
                raise value_error("out", f"the batch has no {name!r}")
        return result

    def _batch(
        self, device: Device, memory: object, outputs: Mapping[str, object], targets: Mapping[str, object]
    ) -> Batch[Any]:
        """The batch, with views of the block where it lies there as it is."""
        batch: Batch[Any] = Batch(outputs)
        for name, kind, shape, place in self._outputs:
            if kind is None:
                batch[name] = place
            elif place >= 0:
                view = device.view(memory, place, shape, device.kind(kind))
                if name in targets:
                    device.assign(outputs[name], view)
                else:
                    batch[name] = view
        for name, array in self._instead.items():
            device.assign(batch[name], array)
        if _PARTS in batch and _PARTS not in targets:
            batch[_PARTS] = device.parts(batch[_PARTS])
        return batch

    def cuda(self, device: torch.device | str | int = "cuda", non_blocking: bool = True) -> Batch[Any]:
        """Move the batch to a CUDA device, as `to("cuda")`.

        Parameters
        ----------
        device
            The device; the current one by default.
        non_blocking
            See `to`.

        Returns
        -------
        Batch
            The batch, as `Dataset.batch(device=...)` returns it.

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
        self._instead |= numbers

    def __repr__(self) -> str:
        return f"StagedBatch({[name for name, *_ in self._outputs]}, {self.nbytes} bytes)"
