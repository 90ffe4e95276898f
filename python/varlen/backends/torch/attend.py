"""Attention inside sequences: those of about equal length go through torch's kernel together.

The sequences are sorted by length and cut into buckets. A bucket is a block (sequences, longest, heads, d),
a plain batch to torch; padding is zeros, and masks hide it. A bucket ends where its padding would cost more
than another call of the kernel.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

from varlen._core import is_plain_tensor
from varlen.backends.torch.blocks import FromPlaces, Places, ToPlaces, from_places, places_of, to_places
from varlen.backends.torch.followers import in_transform
from varlen.errors import value_error

if TYPE_CHECKING:
    from varlen._core import Level

# The padding, in multiplications of two rows, that costs as much as one more call of the kernel, forward and
# backward; and the rows whose cost is that of a call for each head. Both were measured on one core.
_CALL = 4e5
_ROW = 64
_aten = torch.ops.aten


class Bucket(NamedTuple):
    """Sequences of about equal length, in a block."""

    sequences: torch.Tensor  # which they are
    queries: slice  # the rows of the block among those of all blocks
    keys: slice
    shape: tuple[int, int, int]  # how many, the longest of queries, of keys
    visible: torch.Tensor | None  # (count, longest keys): False for padding; None without padding
    is_even: bool  # whether each has as many queries as keys


class Plan(NamedTuple):
    """Buckets, and the places of queries and keys."""

    buckets: list[Bucket]
    queries: Places
    keys: Places


def attend_rows(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, level: Level, key_level: Level, *,
    mask: torch.Tensor | None, left: int | None, right: int | None, scale: float | None, dropout: float,
) -> torch.Tensor:  # fmt: skip
    """The attention of rows (total, d) or (total, heads, d) inside sequences."""
    rows = [x if x.ndim == 3 else x.unsqueeze(1) for x in (q, k, v)]
    heads = rows[0].shape[1]
    if heads != rows[1].shape[1]:
        repeats = heads // rows[1].shape[1]
        rows[1:] = [x.repeat_interleave(repeats, 1) for x in rows[1:]]
    if mask is not None:
        mask = _check_mask(mask, level, key_level, heads, rows[0])
    if q.is_cuda and mask is None and left is None and _fits_nested(q, level, key_level, right):
        result = _through_nested(rows, level, right == 0, scale, dropout)
    else:
        plan = _plan(level, key_level, heads * q.shape[-1], str(q.device))
        result = _through_buckets(rows, plan, mask, left, right, scale, dropout)
    return result if q.ndim == 3 else result.squeeze(1)


def _fits_nested(q: torch.Tensor, level: Level, key_level: Level, right: int | None) -> bool:
    """Whether torch's kernels for nested tensors take the sequences: none empty, causal ones of halves."""
    return (
        level == key_level
        and level.lengths.min(initial=1) > 0
        and (right is None or (right == 0 and q.itemsize == 2))
    )


def _check_mask(mask: Any, level: Level, key_level: Level, heads: int, q: torch.Tensor) -> torch.Tensor:
    """A mask of four axes, in the dtype of the queries if it holds numbers."""
    if not isinstance(mask, torch.Tensor) or not (mask.dtype is torch.bool or mask.is_floating_point()):
        raise value_error("mask", f"expected a tensor of bools or floats, got {getattr(mask, 'dtype', mask)}")
    sizes = (len(level), heads, level.longest, key_level.longest)
    if not 2 <= mask.ndim <= 4 or mask.shape[-2] < sizes[2] or mask.shape[-1] < sizes[3]:
        raise value_error(
            "mask", f"shape {tuple(mask.shape)} does not cover {sizes[2:]}, the longest sequences"
        )
    front = tuple(mask.shape[:-2])
    if any(size not in (1, full) for size, full in zip(front[::-1], (heads, len(level)), strict=False)):
        raise value_error("mask", f"shape {tuple(mask.shape)} begins with neither 1 nor {sizes[:2]}")
    full_mask = mask.reshape((1,) * (4 - mask.ndim) + tuple(mask.shape))
    return full_mask if mask.dtype is torch.bool else full_mask.to(q.dtype)


def _through_nested(
    rows: list[torch.Tensor], level: Level, is_causal: bool, scale: float | None, dropout: float
) -> torch.Tensor:
    """The attention by the kernels of torch's nested tensors."""
    offsets = torch.from_numpy(level.offsets.copy()).to(rows[0].device)
    tensors = [
        torch.nested.nested_tensor_from_jagged(
            x, offsets, min_seqlen=int(level.lengths.min(initial=0)), max_seqlen=level.longest
        ).transpose(1, 2)
        for x in rows
    ]
    result = scaled_dot_product_attention(*tensors, dropout_p=dropout, is_causal=is_causal, scale=scale)
    return result.transpose(1, 2).values()


@functools.lru_cache(maxsize=32)
def _plan(level: Level, key_level: Level, width: int, device: str) -> Plan:
    """The buckets of sequences of these lengths."""
    lengths, key_lengths = level.lengths, key_level.lengths
    order = np.lexsort((-key_lengths, -lengths))
    order = order[(lengths[order] > 0) & (key_lengths[order] > 0)]
    a, b = lengths[order], key_lengths[order]
    cuts = _cuts(a, b, width)
    buckets, starts, key_starts = [], np.zeros(len(a), np.int64), np.zeros(len(a), np.int64)
    place = key_place = 0
    for start, end in itertools.pairwise(cuts):
        count, longest, key_longest = end - start, int(a[start]), int(b[start:end].max())
        is_even = bool((a[start:end] == b[start:end]).all())
        has_padding = bool(b[start:end].min() < key_longest)
        visible = (
            torch.from_numpy(np.arange(key_longest) < b[start:end, None]).to(device) if has_padding else None
        )
        starts[start:end] = place + longest * np.arange(count)
        key_starts[start:end] = key_place + key_longest * np.arange(count)
        stop, key_stop = place + count * longest, key_place + count * key_longest
        buckets.append(
            Bucket(
                torch.from_numpy(order[start:end].copy()).to(device),
                slice(place, stop), slice(key_place, key_stop), (count, longest, key_longest),
                visible, is_even,
            )
        )  # fmt: skip
        place, key_place = stop, key_stop
    return Plan(
        buckets,
        places_of(level, order, starts, place, device),
        places_of(key_level, order, key_starts, key_place, device),
    )


def _cuts(a: np.ndarray, b: np.ndarray, width: int) -> list[int]:
    """Where buckets begin and end: their padding costs less than a call."""
    cuts, count = [0], len(a)
    work = np.cumsum(_cost(a, b))
    while cuts[-1] < count:
        start = cuts[-1]
        so_far = work[start - 1] if start else 0.0
        padded = _cost(a[start], np.maximum.accumulate(b[start:])) * np.arange(1, count - start + 1)
        extra = (padded - (work[start:] - so_far)) * width > _CALL
        # The padding of a bucket never shrinks where one more sequence joins it.
        cuts.append(start + (int(extra.argmax()) if extra.any() else count - start))
    return cuts


def _cost(a: Any, b: Any) -> Any:
    return a.astype(np.float64) * b + _ROW * (a + b)


def _through_buckets(
    rows: list[torch.Tensor], plan: Plan, mask: torch.Tensor | None, left: int | None, right: int | None,
    scale: float | None, dropout: float,
) -> torch.Tensor:  # fmt: skip
    """The attention bucket by bucket."""
    q, k, v = rows
    if not plan.buckets:
        return (q.sum() + k.sum() + v.sum()) * 0 + q.new_zeros((len(q), q.shape[1], v.shape[-1]))
    hidden = [_mask_of(bucket, mask, left, right, q) for bucket in plan.buckets]
    by_kernel = (
        all(is_plain_tensor(x.detach()) for x in rows) and not in_transform()
        and not torch.is_autocast_enabled("cpu") and q.device.type == "cpu"
        and q.shape[-1] == v.shape[-1] and not dropout
        and not any(m is not None and m.requires_grad for m, _ in hidden)
    )  # fmt: skip
    if by_kernel:
        masks = [None if m is None else _numbers(m, q.dtype) for m, _ in hidden]
        return _Attend.apply(q, k, v, plan, masks, [is_causal for _, is_causal in hidden], scale)
    blocks = ToPlaces.apply(q, plan.queries), ToPlaces.apply(k, plan.keys), ToPlaces.apply(v, plan.keys)
    results = []
    for bucket, (m, is_causal) in zip(plan.buckets, hidden, strict=True):
        parts = _blocks_of(bucket, *blocks)
        y = scaled_dot_product_attention(
            *parts, attn_mask=m, dropout_p=dropout, is_causal=is_causal, scale=scale
        )
        results.append(y.transpose(1, 2).flatten(0, 1))
    return FromPlaces.apply(torch.cat(results), plan.queries)


def _blocks_of(bucket: Bucket, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> list[torch.Tensor]:
    """The blocks of a bucket, (count, heads, longest, d)."""
    count, longest, key_longest = bucket.shape
    return [
        x[part].unflatten(0, (count, size)).transpose(1, 2)
        for x, part, size in (
            (q, bucket.queries, longest),
            (k, bucket.keys, key_longest),
            (v, bucket.keys, key_longest),
        )
    ]


def _mask_of(
    bucket: Bucket, mask: torch.Tensor | None, left: int | None, right: int | None, q: torch.Tensor
) -> tuple[torch.Tensor | None, bool]:
    """What a bucket's queries see: a mask or None, and whether the kernel's own causal order does."""
    _, longest, key_longest = bucket.shape
    # Where queries and keys are the same places, and none behind its own is seen, no real query sees padding.
    hides_padding = bucket.visible is not None and not (right == 0 and bucket.is_even)
    if mask is None and left is None and not hides_padding and right in (None, 0):
        return None, right == 0
    visible = bucket.visible[:, None, None, :] if hides_padding and bucket.visible is not None else None
    if left is not None or right is not None:
        distance = (
            torch.arange(key_longest, device=q.device) - torch.arange(longest, device=q.device)[:, None]
        )
        in_window = torch.ones_like(distance, dtype=torch.bool)
        in_window = in_window if left is None else in_window & (distance >= -left)
        in_window = in_window if right is None else in_window & (distance <= right)
        visible = in_window[None, None] if visible is None else visible & in_window
    if mask is None:
        return visible, False
    part = mask if mask.shape[0] == 1 else mask.index_select(0, bucket.sequences)
    part = part[..., :longest, :key_longest]
    if visible is None:
        return part, False
    return (part & visible if part.dtype is torch.bool else part.masked_fill(~visible, -math.inf)), False


def weights_of(
    q: torch.Tensor, k: torch.Tensor, level: Level, key_level: Level, mask: Any, is_causal: bool
) -> tuple[torch.Tensor, np.ndarray, np.ndarray]:
    """The weights of all keys for all queries, averaged over the heads, sequence by sequence.

    Also how many each sequence has, and where each is among them.
    """
    full_mask = None if mask is None else _check_mask(mask, level, key_level, q.shape[1], q)
    plan = _plan(level, key_level, q.shape[1] * q.shape[2], str(q.device))
    blocks = ToPlaces.apply(q, plan.queries), ToPlaces.apply(k, plan.keys)
    parts, orders = [q.new_zeros(0)], [np.zeros(0, np.int64)]
    for bucket in plan.buckets:
        a, b, _ = _blocks_of(bucket, *blocks, blocks[1])
        visible, is_plain = _mask_of(bucket, full_mask, None, 0 if is_causal else None, q)
        if is_plain:
            visible = torch.ones(a.shape[2], b.shape[2], dtype=torch.bool, device=q.device).tril()
        scores = a @ b.transpose(-1, -2) * (1 / math.sqrt(q.shape[-1]))
        if visible is not None:
            scores = scores + _numbers(visible, q.dtype)
        sequences = bucket.sequences.cpu().numpy()
        sizes = (level.lengths[sequences], key_level.lengths[sequences])
        is_there = [
            torch.from_numpy(np.arange(block.shape[2]) < size[:, None]).to(q.device)
            for block, size in zip((a, b), sizes, strict=True)
        ]
        parts.append(scores.softmax(-1).mean(1)[is_there[0][:, :, None] & is_there[1][:, None, :]])
        orders.append(sequences)
    sequences = np.concatenate(orders)
    counts = np.zeros(len(level), np.int64)
    counts[: len(sequences)] = (level.lengths * key_level.lengths)[sequences]
    absent = np.setdiff1d(np.arange(len(level)), sequences)
    return torch.cat(parts), counts, np.argsort(np.concatenate([sequences, absent]))


def _numbers(mask: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A mask as numbers that are added to scores."""
    if mask.dtype is not torch.bool:
        return mask
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -math.inf)


class _Attend(torch.autograd.Function):  # type: ignore[misc]
    """The attention by torch's kernel for the CPU, without a node of autograd for each bucket."""

    @staticmethod
    def forward(
        ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, plan: Plan, masks: list[Any],
        is_causal: list[bool], scale: float | None,
    ) -> torch.Tensor:  # fmt: skip
        blocks = to_places(q, plan.queries), to_places(k, plan.keys), to_places(v, plan.keys)
        results, sums = [], []
        for bucket, mask, causal in zip(plan.buckets, masks, is_causal, strict=True):
            y, logsumexp = _aten._scaled_dot_product_flash_attention_for_cpu(
                *_blocks_of(bucket, *blocks), 0.0, causal, attn_mask=mask, scale=scale
            )
            results.append(y)
            sums.append(logsumexp)
        ctx.save_for_backward(*blocks, *results, *sums)
        ctx.options = plan, masks, is_causal, scale
        return from_places(_rows_of(results), plan.queries)

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, d: torch.Tensor) -> tuple[Any, ...]:
        plan, masks, is_causal, scale = ctx.options
        q, k, v, *rest = ctx.saved_tensors
        count = len(plan.buckets)
        d_blocks = to_places(d, plan.queries)
        parts: tuple[list[Any], ...] = ([], [], [])
        for i, bucket in enumerate(plan.buckets):
            d_bucket = _blocks_of(bucket, d_blocks, k, v)[0]
            gradients = _aten._scaled_dot_product_flash_attention_for_cpu_backward(
                d_bucket, *_blocks_of(bucket, q, k, v), rest[i], rest[count + i], 0.0, is_causal[i],
                attn_mask=masks[i], scale=scale,
            )  # fmt: skip
            for part, gradient in zip(parts, gradients, strict=True):
                part.append(gradient)
        dq = from_places(_rows_of(parts[0]), plan.queries)
        return dq, *(from_places(_rows_of(part), plan.keys) for part in parts[1:]), None, None, None, None


def _rows_of(parts: list[torch.Tensor]) -> torch.Tensor:
    """The blocks of all buckets, (count, heads, longest, d) each, row by row."""
    return torch.cat([part.transpose(1, 2).flatten(0, 1) for part in parts])
