"""Batches that are on their way to a device while the loop works on the one before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from varlen.data.batch import Batch
from varlen.data.options import device_name
from varlen.data.staged import StagedBatch
from varlen.data.staging import usable_device

if TYPE_CHECKING:
    import torch

__all__ = ["DeviceLoader"]


class DeviceLoader:
    """A loader whose batches come on a device, the next one while the loop works on this one.

    The next batch is copied and padded on a stream of its own before this one is given; the loop's stream
    waits for the batch that it is given, and for nothing else. Batches are the loop's to keep.

    Parameters
    ----------
    loader
        Of staged batches: a DataLoader whose `collate_fn` is `ds.collator(device=...)`, with workers and
        `pin_memory=True` or without. Batches of tensors go there too, without padding.
    device
        Where to.

    Raises
    ------
    RuntimeError
        CUDA cannot be used here: said when the first batch is asked for.
    TypeError
        The loader gives something else.

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
            raise TypeError(f"loader: expected what can be iterated, got {type(loader).__name__}")
        self._device = device_name(device)
        if self._device == "cpu":
            raise ValueError("device: expected a CUDA device, got 'cpu'")
        self._loader = loader

    def __len__(self) -> int:
        return len(self._loader)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Batch[torch.Tensor]]:
        return ahead(self._loader, self._device)


def ahead(batches: Iterable[Any], device: str) -> Iterator[Batch[torch.Tensor]]:
    """Batches on a device, each put on its way before the one before it is given."""
    import torch

    there = usable_device(device)
    side = torch.Stream(there)
    before: tuple[Batch[torch.Tensor], Any] | None = None
    for item in batches:
        if not isinstance(item, (StagedBatch, Batch)):
            raise TypeError(
                f"loader: expected batches of a collator of this package, got {type(item).__name__}"
            )
        with side:
            sent = item.to(there, non_blocking=True), side.record_event()
        if before is not None:
            yield _received(*before, there)
        before = sent
    if before is not None:
        yield _received(*before, there)


def _received(batch: Batch[torch.Tensor], sent: Any, there: torch.device) -> Batch[torch.Tensor]:
    """A batch for the loop's stream, which waits for it."""
    import torch

    stream = torch.accelerator.current_stream(there)
    stream.wait_event(sent)
    batch.record_stream(stream)
    return batch
