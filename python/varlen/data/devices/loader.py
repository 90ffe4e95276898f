"""Copy batches to a device while the loop works on the previous one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from varlen.backends.devices import device_name, framework_of, library_of
from varlen.data.batch import Batch
from varlen.data.devices import usable_device
from varlen.data.devices.staged_batch import StagedBatch
from varlen.dims import DataDict
from varlen.errors import instance_error, value_error

if TYPE_CHECKING:
    import torch

    from varlen.data.devices.device import Device, Lane

__all__ = ["DeviceLoader"]


class DeviceLoader:
    """A loader that copies batches to a device, the next one while the loop works on the current one.

    The next batch is copied and padded on its own stream before the current one is returned. The loop's
    stream waits only for the batch that it gets. The loop may keep batches.

    Parameters
    ----------
    loader
        A loader of staged batches: a DataLoader whose `collate_fn` is `ds.collator(device=...)`, with or
        without workers and `pin_memory=True`. The collator's `framework` picks the kind of arrays. It also
        moves batches of tensors, without padding them.
    device
        The device to copy to.

    Raises
    ------
    RuntimeError
        CUDA cannot be used here; raised when you ask for the first batch.
    TypeError
        The loader yields something else.

    Examples
    --------
    >>> import varlen as vl
    >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
    >>> collate = ds.collator(device="cuda")
    >>> loader = DeviceLoader([collate([0, 2]), collate([1])], "cuda")
    >>> len(loader)
    2
    >>> shapes = [batch["x"].shape for batch in loader] if vl.cuda.is_available() else []
    """

    def __init__(self, loader: Iterable[Any], device: torch.device | str | int = "cuda") -> None:
        if not hasattr(loader, "__iter__"):
            raise instance_error("loader", "an iterable", loader)
        self._device = device_name(device)
        if self._device == "cpu":
            raise value_error("device", "expected a CUDA device, got 'cpu'")
        self._loader = loader

    def __len__(self) -> int:
        return len(self._loader)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Batch[Any]]:
        return prefetch_to(self._loader, self._device)


def prefetch_to(batches: Iterable[Any], device: str) -> Iterator[Batch[Any]]:
    """Batches on a device; each starts its copy before the previous one is returned."""
    lanes: dict[str, Lane] = {}
    previous: tuple[Lane, Any] | None = None
    try:
        for item in batches:
            framework = _framework_of(item, device)
            if framework not in lanes:
                lanes[framework] = usable_device(device, framework).lane()
            lane = lanes[framework]
            transfer = lane, lane.send(partial(_move, item))
            if previous is not None:
                yield previous[0].receive(previous[1])
            previous = transfer
        if previous is not None:
            yield previous[0].receive(previous[1])
    finally:
        for lane in lanes.values():
            lane.close()


def _framework_of(item: object, device: str) -> str:
    """Whose arrays a batch becomes."""
    if isinstance(item, StagedBatch):
        return item.framework
    if isinstance(item, DataDict):
        return "torch"
    if not isinstance(item, Batch):
        raise instance_error("loader", "batches from a varlen collator", item)
    libraries = filter(None, map(library_of, item.values()))
    return next(libraries, None) or framework_of(device)


def _move(item: Any, device: Device) -> Batch[Any]:
    if isinstance(item, StagedBatch):
        return item._move_to(device, True)
    with device.on_loop():
        batch: Batch[Any] = item.to(f"cuda:{device.number}", non_blocking=True)
    return batch
