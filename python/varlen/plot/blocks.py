"""A batch as a rectangle of values and a mask of where they are, for every form that batches have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen.arguments import as_array
from varlen.data import Dataset
from varlen.dims import Data
from varlen.errors import error_of, instance_error, type_error, value_error
from varlen.joint import JointNestedRaggedTensorDict
from varlen.types import Packed, Padded, Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__: list[str] = []

EXPECTED = "a batch, Ragged, Padded, Data or array"
_NO_KEYS = ("attention_mask", "position_ids", "cu_seqlens", "max_seqlen")


class Block(NamedTuple):
    """The first rows and steps of a batch, and how many it has."""

    values: NDArray[Any]  # (rows, steps, *row)
    mask: NDArray[np.bool_]  # (rows, steps)
    name: str
    shape: tuple[int, int]  # of the whole batch
    inner: int = 1  # the steps that belong to one step of the level above
    padding: float = 0.0  # its share of the whole batch


def block_of(source: Any, key: str | None, mask: Any, rows: int, steps: int) -> Block:
    """At most so many rows and steps of a batch."""
    if isinstance(source, Mapping):
        if mask is not None:
            raise value_error("mask", "a batch has its own masks")
        return _batch_block(source, key, rows, steps)
    if isinstance(source, JointNestedRaggedTensorDict):
        name = _joint_key(source, key)
        return _container_block(source[name], name, rows, steps)
    if isinstance(source, Dataset):
        raise instance_error("source", EXPECTED, source, "ds.batch(rows) makes a batch")
    if key is not None:
        raise type_error("key", f"only a batch has keys, got {type(source).__name__}")
    if isinstance(source, Data):
        source = source.to_ragged()
    if isinstance(source, (Packed, Padded, Ragged)):
        if mask is not None:
            raise value_error("mask", "this source knows its lengths")
        return _container_block(source, "", rows, steps)
    return _array_block(source, mask, "", rows, steps)


def _container_block(source: Any, name: str, rows: int, steps: int) -> Block:
    if isinstance(source, Packed):
        source = source.to_ragged()
    if isinstance(source, Padded):
        values = np.swapaxes(_array(source.data), 0, 1)
        return _array_block(values, np.arange(values.shape[1]) < source.lengths[:, None], name, rows, steps)
    levels = source.levels
    n, total = len(levels[0]), levels[-1].total
    # The size of the whole rectangle is reckoned, and its corner made.
    slots = [max(level.longest, 0) if len(level) else 0 for level in levels]
    width = int(np.prod(slots, dtype=object))
    room, cuts = steps, []
    for slot in reversed(slots):
        cuts.append(slice(max(room, 1)))
        room //= max(slot, 1)
    corner = (slice(rows), *reversed(cuts))
    head = source[corner]
    values, mask = (_array(x) for x in Ragged(head.values, levels=head.levels).to_dense(mask=True))
    corner_block = _array_block(values, mask, name, rows, steps)
    share = 1 - total / (n * width) if n * width else 0.0
    return corner_block._replace(shape=(n, width), padding=share)


def _batch_block(batch: Mapping[str, Any], key: str | None, rows: int, steps: int) -> Block:
    name = _key_of(batch) if key is None else key
    if name not in batch:
        raise error_of(KeyError, "key", f"there is no {name!r}; there are {', '.join(map(str, batch))}")
    value = batch[name]
    if isinstance(value, Data):
        value = value.to_ragged()
    if isinstance(value, (Padded, Packed, Ragged)):
        return _container_block(value, name, rows, steps)
    array = _array(value)
    offsets = [batch[f"dim{d}/offsets"] for d in range(1, len(batch)) if f"dim{d}/offsets" in batch]
    for depth in range(len(offsets), 0, -1):
        if len(array) == int(offsets[depth - 1][-1]):
            return _container_block(Ragged(array, offsets=offsets[:depth]), name, rows, steps)
    return _array_block(array, _mask_of(batch, name, array), name, rows, steps)


def _joint_key(joint: JointNestedRaggedTensorDict, key: str | None) -> str:
    """The given key, or the first that has rows and steps."""
    view = joint._view()
    dims = dict(zip(view.names, view.dims, strict=True))
    if key is not None and key not in dims:
        raise error_of(KeyError, "key", f"there is no {key!r}; there are {', '.join(sorted(dims))}")
    names = [name for name, dim in dims.items() if dim > 0 and key in (None, name)]
    if not names:
        what = "all keys have" if key is None else f"key {key!r} has"
        raise value_error("source", f"{what} one value a row, and no steps")
    return names[0]


def _key_of(batch: Mapping[str, Any]) -> str:
    """The first key with rows and steps, the deepest that has them."""
    names = [name for name in batch if "/" not in name and name not in _NO_KEYS]
    if not names:
        raise value_error("source", f"the batch has no keys, only {', '.join(map(str, batch)) or 'nothing'}")
    return max(names, key=lambda name: min(getattr(batch[name], "ndim", 1), 2))


def _mask_of(batch: Mapping[str, Any], name: str, array: NDArray[Any]) -> Any:
    """Where a padded or packed batch has data of this key; None where nothing says so."""
    if "document_ids" in batch:
        return _array(batch["document_ids"]) >= 0
    masks = [batch[item] for item in batch if item[:3] == "dim" and item[-5:] == "/mask"]
    masks += [batch["attention_mask"]] if "attention_mask" in batch else []
    fits = [m for m in map(_array, masks) if m.shape == array.shape[: m.ndim]]
    return max(fits, key=lambda m: m.ndim) != 0 if fits else None


def _array_block(values: Any, mask: Any, name: str, rows: int, steps: int) -> Block:
    """A rectangle, and a mask of its axes or of the first of them; later axes of a mask are inner steps."""
    array = _array(values)
    if array.ndim < 2:
        raise value_error(
            "source", f"expected rows and steps, got shape {array.shape}", "pass Ragged or a batch"
        )
    if mask is None:
        is_masked = isinstance(values, np.ma.MaskedArray)
        present: NDArray[np.bool_] = (
            ~np.ma.getmaskarray(values) if is_masked else np.ones(array.shape[:2], bool)
        )
        if present.ndim > 2:
            present = np.any(present.reshape(*present.shape[:2], -1), axis=2, keepdims=False)
    else:
        present = _array(mask) != 0
    if present.ndim < 2 or present.shape != array.shape[: present.ndim]:
        raise value_error("mask", f"expected the first axes of {array.shape}, got shape {present.shape}")
    n, width = len(array), int(np.prod(present.shape[1:]))
    inner = int(np.prod(present.shape[2:]))
    row_shape = array.shape[present.ndim :]
    share = 1 - np.count_nonzero(present) / present.size if present.size else 0.0
    array = array[:rows].reshape(min(n, rows), width, *row_shape)[:, :steps]
    present = present[:rows].reshape(min(n, rows), width)[:, :steps]
    return Block(array, present, name, (n, width), inner, share)


def _array(value: Any) -> NDArray[Any]:
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    if hasattr(value, "get") and hasattr(value, "__cuda_array_interface__"):
        value = value.get()
    if isinstance(value, (list, tuple)):
        return as_array(value, "source", EXPECTED)
    if not hasattr(value, "__array__"):
        raise instance_error("source", EXPECTED, value)
    return np.asarray(value)
