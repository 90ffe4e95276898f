"""Attention inside sequences: those of about equal length go through torch's kernel together.

The sequences are sorted by length and cut into buckets. A bucket is a block (sequences, longest, heads, d),
a plain batch to torch; padding is zeros, and masks hide it. A bucket ends where its padding would cost more
than another call of the kernel. Sequences of one length that follow each other are a block as they lie.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

from varlen import tracing
from varlen._core import Level, is_plain_tensor
from varlen.backends.torch.followers import in_transform
from varlen.backends.torch.gather import gather
from varlen.backends.torch.layer_op import LayerOp
from varlen.errors import value_error

if TYPE_CHECKING:
    from varlen.backends.torch.layer_op import Tensors

# The padding, in multiplications of two rows, that costs as much as one more call of the kernel, forward and
# backward, less the copies of rows that a bucket of several lengths takes; and the rows whose cost is that of
# a call for each head. Both were measured on one core.
_CALL = 2e4
_ROW = 64
_aten = torch.ops.aten


class Part(NamedTuple):
    """Where the rows of a bucket are."""

    run: slice | None  # the rows themselves, if they lie end to end as the block has them
    rows: torch.Tensor  # otherwise the row of each place of the block; 0 for padding
    padding: torch.Tensor | None  # the places of padding
    places: torch.Tensor  # the places of rows
    targets: torch.Tensor  # the rows that are there


class Bucket(NamedTuple):
    """Sequences of about equal length, in a block."""

    sequences: torch.Tensor  # which they are
    queries: Part
    keys: Part
    shape: tuple[int, int, int]  # how many, the longest of queries, of keys
    visible: torch.Tensor | None  # (count, longest keys): False for padding; None without padding
    is_even: bool  # whether each has as many queries as keys


class Plan(NamedTuple):
    """Buckets, and whether they hold all rows."""

    buckets: list[Bucket]
    has_all_queries: bool
    has_all_keys: bool


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
    if tracing.is_tracing():
        inputs = rows if mask is None else [*rows, _tensor_mask(mask)]
        levels = [level] if level is key_level else [level, key_level]
        result = _attend(inputs, levels, left, right, scale, dropout)[0]
    else:
        result = _attend_heads(rows, level, key_level, mask, left, right, scale, dropout)
    return result if q.ndim == 3 else result.squeeze(1)


def _attend_heads(
    rows: list[torch.Tensor], level: Level, key_level: Level, mask: torch.Tensor | None, left: int | None,
    right: int | None, scale: float | None, dropout: float,
) -> torch.Tensor:  # fmt: skip
    """The attention of rows (total, heads, d), all of as many heads."""
    q = rows[0]
    if mask is not None:
        mask = _check_mask(mask, level, key_level, q)
    if q.is_cuda and mask is None and left is None and _fits_nested(q, level, key_level, right):
        return _through_nested(rows, level, right == 0, scale, dropout)
    return _through_buckets(rows, _plan_of(q, level, key_level), mask, left, right, scale, dropout)


def _plan_of(q: torch.Tensor, level: Level, key_level: Level) -> Plan:
    return _plan(level, key_level, q.shape[1] * q.shape[2], str(q.device))


def _fits_nested(q: torch.Tensor, level: Level, key_level: Level, right: int | None) -> bool:
    """Whether torch's kernels for nested tensors take the sequences: none empty, causal ones of halves."""
    return (
        level == key_level
        and level.lengths.min(initial=1) > 0
        and (right is None or (right == 0 and q.itemsize == 2))
    )


def _tensor_mask(mask: Any) -> torch.Tensor:
    if not isinstance(mask, torch.Tensor) or not (mask.dtype == torch.bool or mask.is_floating_point()):
        raise value_error("mask", f"expected a tensor of bools or floats, got {getattr(mask, 'dtype', mask)}")
    return mask


def _check_mask(mask: Any, level: Level, key_level: Level, q: torch.Tensor) -> torch.Tensor:
    """A mask of four axes, in the dtype of the queries if it holds numbers."""
    mask = _tensor_mask(mask)
    heads = q.shape[1]
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
    buckets = []
    for start, end in itertools.pairwise(_cuts(a, b, width)):
        sequences, shape = order[start:end], (end - start, int(a[start]), int(b[start:end].max()))
        is_even = level == key_level or bool((a[start:end] == b[start:end]).all())
        queries = _part(level, sequences, shape[1], device)
        keys = queries if level == key_level else _part(key_level, sequences, shape[2], device)
        has_padding = bool(b[start:end].min() < shape[2])
        visible = (
            torch.from_numpy(np.arange(shape[2]) < b[start:end, None]).to(device) if has_padding else None
        )
        buckets.append(
            Bucket(torch.from_numpy(sequences.copy()).to(device), queries, keys, shape, visible, is_even)
        )
    return Plan(buckets, int(a.sum()) == level.total, int(b.sum()) == key_level.total)


def _part(level: Level, sequences: np.ndarray, longest: int, device: str) -> Part:
    """The rows of sequences in a block of so many places each."""
    starts, lengths = level.offsets[sequences], level.lengths[sequences]
    has_padding = bool(lengths.min() < longest)
    places = starts[:, None] + np.arange(longest)
    is_there = np.arange(longest) < lengths[:, None] if has_padding else np.ones_like(places, dtype=bool)
    run = None
    if not has_padding and bool((np.diff(starts) == longest).all()):
        run = slice(int(starts[0]), int(starts[0]) + len(sequences) * longest)
    flat = is_there.reshape(-1)
    return Part(
        run,
        torch.from_numpy(np.where(is_there, places, 0).reshape(-1)).to(device),
        torch.from_numpy(np.flatnonzero(~flat)).to(device) if has_padding else None,
        torch.from_numpy(np.flatnonzero(flat)).to(device),
        torch.from_numpy(places[is_there]).to(device),
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
        _fits_kernel(q, v, dropout) and all(is_plain_tensor(x.detach()) for x in rows) and not in_transform()
        and not torch.is_autocast_enabled("cpu")
        and not any(m is not None and m.requires_grad for m, _ in hidden)
    )  # fmt: skip
    if by_kernel:
        return _Attend.apply(q, k, v, plan, *_for_kernel(hidden, q.dtype), scale)
    results, targets = [], []
    for bucket, (m, is_causal) in zip(plan.buckets, hidden, strict=True):
        y = scaled_dot_product_attention(
            *_blocks_of(bucket, q, k, v), attn_mask=m, dropout_p=dropout, is_causal=is_causal, scale=scale
        )
        results.append(y.transpose(1, 2).flatten(0, 1).index_select(0, bucket.queries.places))
        targets.append(bucket.queries.targets)
    rows_there = torch.cat(targets)
    place_of = torch.zeros(len(q), dtype=torch.int64, device=q.device)  # rows in no bucket have the zeros
    place_of[rows_there] = torch.arange(1, len(rows_there) + 1, device=q.device)
    no_row = results[0].new_zeros((1, *results[0].shape[1:]))
    return torch.cat([no_row, *results]).index_select(0, place_of)


def _fits_kernel(q: torch.Tensor, v: torch.Tensor, dropout: float) -> bool:
    """Whether torch's kernel for the CPU takes the rows."""
    return q.device.type == "cpu" and q.shape[-1] == v.shape[-1] and not dropout


def _for_kernel(hidden: list[Any], dtype: torch.dtype) -> tuple[list[Any], list[bool]]:
    """Masks of numbers, or None, and whether queries see none behind their own place."""
    return [None if m is None else _numbers(m, dtype) for m, _ in hidden], [causal for _, causal in hidden]


def _blocks_of(bucket: Bucket, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> list[torch.Tensor]:
    """The blocks of a bucket, (count, heads, longest, d)."""
    count, longest, key_longest = bucket.shape
    return [
        _pick(q, bucket.queries, count, longest),
        _pick(k, bucket.keys, count, key_longest),
        _pick(v, bucket.keys, count, key_longest),
    ]


def _pick(x: torch.Tensor, part: Part, count: int, longest: int) -> torch.Tensor:
    """The block of a part, (count, heads, longest, d), with zeros in the padding."""
    if part.run is None:
        rows = x.index_select(0, part.rows)
        rows = rows if part.padding is None else rows.index_fill_(0, part.padding, 0)
    elif not torch.is_grad_enabled() and not in_transform():
        return _view(x, part.run, count, longest)
    else:
        rows = x[part.run]
    return rows.view(count, longest, *rows.shape[1:]).transpose(1, 2)


def _view(x: torch.Tensor, run: slice, count: int, longest: int) -> torch.Tensor:
    """A block over rows as they lie, in one step, which autograd would be slow to follow."""
    (_, heads, d), (row, head, number) = x.shape, x.stride()
    return x.as_strided(
        (count, heads, longest, d), (longest * row, head, row, number), x.storage_offset() + run.start * row
    )


def _put(out: torch.Tensor, block: torch.Tensor, part: Part) -> None:
    """Write the rows of a block to their places."""
    if part.run is not None:
        _view(out, part.run, block.shape[0], block.shape[2]).copy_(block)
    else:
        rows = block.transpose(1, 2).flatten(0, 1)
        out.index_copy_(0, part.targets, rows if part.padding is None else rows.index_select(0, part.places))


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
    q: torch.Tensor, k: torch.Tensor, level: Level, key_level: Level, mask: Any, is_causal: bool,
    is_mean: bool,
) -> torch.Tensor:  # fmt: skip
    """The weights of all keys for all queries, sequence by sequence: of each head, or their mean."""
    if tracing.is_tracing():
        inputs = [q, k] if mask is None else [q, k, _tensor_mask(mask)]
        levels = [level] if level is key_level else [level, key_level]
        return _attention_weights(inputs, levels, is_causal, is_mean)[0]
    full_mask = None if mask is None else _check_mask(mask, level, key_level, q)
    plan = _plan(level, key_level, q.shape[1] * q.shape[2], str(q.device))
    parts, orders = [q.new_zeros((0,) if is_mean else (0, q.shape[1]))], [np.zeros(0, np.int64)]
    for bucket in plan.buckets:
        a, b, _ = _blocks_of(bucket, q, k, k)
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
        weights = scores.softmax(-1)
        weights = weights.mean(1) if is_mean else weights.movedim(1, -1)
        parts.append(weights[is_there[0][:, :, None] & is_there[1][:, None, :]])
        orders.append(sequences)
    sequences = np.concatenate(orders)
    counts = np.zeros(len(level), np.int64)
    counts[: len(sequences)] = (level.lengths * key_level.lengths)[sequences]
    absent = np.setdiff1d(np.arange(len(level)), sequences)
    order = np.argsort(np.concatenate([sequences, absent]))
    rows: torch.Tensor = gather(torch.cat(parts), (Level(counts),), order)[0]
    return rows


def _run_weights(inputs: Tensors, levels: list[Level], is_causal: bool, is_mean: bool) -> tuple[torch.Tensor]:
    """`weights_of` as an op."""
    q, k, *mask = inputs
    return (weights_of(q, k, levels[0], levels[-1], mask[0] if mask else None, is_causal, is_mean),)


_attention_weights: LayerOp = LayerOp(
    "attention_weights",
    "bool causal, bool mean",
    _run_weights,
    lambda inputs, offsets, causal, mean: (
        inputs[0].new_empty(
            (torch.library.get_ctx().new_dynamic_size(), *(() if mean else inputs[0].shape[1:2]))
        ),
    ),
)


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
        result, sums = _forward(q, k, v, plan, masks, is_causal, scale)
        ctx.save_for_backward(q, k, v, result, *sums)
        ctx.options = plan, masks, is_causal, scale
        return result

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, d: torch.Tensor) -> tuple[Any, ...]:
        q, k, v, result, *sums = ctx.saved_tensors
        return *_backward(d, q, k, v, result, sums, *ctx.options), None, None, None, None


def _forward(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, plan: Plan, masks: list[Any], is_causal: list[bool],
    scale: float | None,
) -> tuple[torch.Tensor, list[torch.Tensor]]:  # fmt: skip
    """The attention, and the logarithms of the sums of its weights, bucket by bucket."""
    q, k, v = map(_last_contiguous, (q, k, v))
    result = _blank((len(q), q.shape[1], v.shape[2]), q, plan.has_all_queries)
    sums = []
    for bucket, mask, causal in zip(plan.buckets, masks, is_causal, strict=True):
        y, logsumexp = _aten._scaled_dot_product_flash_attention_for_cpu(
            *_blocks_of(bucket, q, k, v), 0.0, causal, attn_mask=mask, scale=scale
        )
        _put(result, y, bucket.queries)
        sums.append(logsumexp)
    return result, sums


def _backward(
    d: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, result: torch.Tensor,
    sums: list[torch.Tensor], plan: Plan, masks: list[Any], is_causal: list[bool], scale: float | None,
) -> tuple[torch.Tensor, ...]:  # fmt: skip
    """The gradients of queries, keys and values."""
    d, q, k, v = map(_last_contiguous, (d, q, k, v))
    gradients = (
        _blank(q.shape, q, plan.has_all_queries), _blank(k.shape, k, plan.has_all_keys),
        _blank(v.shape, v, plan.has_all_keys),
    )  # fmt: skip
    for bucket, mask, causal, logsumexp in zip(plan.buckets, masks, is_causal, sums, strict=True):
        queries, size = bucket.queries, bucket.shape[:2]
        blocks = _aten._scaled_dot_product_flash_attention_for_cpu_backward(
            _pick(d, queries, *size), *_blocks_of(bucket, q, k, v), _pick(result, queries, *size),
            logsumexp, 0.0, causal, attn_mask=mask, scale=scale,
        )  # fmt: skip
        for gradient, block, part in zip(gradients, blocks, (queries, bucket.keys, bucket.keys), strict=True):
            _put(gradient, block, part)
    return gradients


def _last_contiguous(x: torch.Tensor) -> torch.Tensor:
    """The tensor, with numbers of a head side by side, as the kernels read them."""
    return x if x.stride(-1) == 1 else x.contiguous()


def _blank(shape: Any, like: torch.Tensor, is_written: bool) -> torch.Tensor:
    """Room for rows, all of which will be written, or else zeros."""
    return like.new_empty(shape) if is_written else like.new_zeros(shape)


# The attention as an op: on the CPU it keeps the logarithms of the sums of weights, a number for each row.


def _kernel_options(
    inputs: Tensors, levels: list[Level], left: int | None, right: int | None
) -> tuple[Plan, list[Any], list[bool]]:
    """What the kernel for the CPU is called with, bucket by bucket."""
    q, mask = inputs[0], inputs[3] if len(inputs) > 3 else None
    mask = None if mask is None else _check_mask(mask, levels[0], levels[-1], q)
    plan = _plan_of(q, levels[0], levels[-1])
    return plan, *_for_kernel([_mask_of(bucket, mask, left, right, q) for bucket in plan.buckets], q.dtype)


def _run(
    inputs: Tensors, levels: list[Level], left: int | None, right: int | None, scale: float | None,
    dropout: float,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    if len(levels[0]) != len(levels[-1]):
        raise value_error("k", f"has {len(levels[-1])} sequences, q has {len(levels[0])}")
    q, k, v, *mask = inputs
    if torch.is_grad_enabled() or not _fits_kernel(q, v, dropout):
        options = (mask[0] if mask else None, left, right, scale, dropout)
        return _attend_heads([q, k, v], levels[0], levels[-1], *options), _fake_sums(q, v, dropout).zero_()
    plan, masks, is_causal = _kernel_options(inputs, levels, left, right)
    result, parts = _forward(q, k, v, plan, masks, is_causal, scale)
    sums = _fake_sums(q, v, dropout).zero_()
    for bucket, part in zip(plan.buckets, parts, strict=True):
        _put(sums, part.unsqueeze(-1), bucket.queries)
    return result, sums


def _fake_sums(q: torch.Tensor, v: torch.Tensor, dropout: float) -> torch.Tensor:
    """The logarithms of the sums of each row and head, which are kept for the kernel alone."""
    count = q.shape[0] if _fits_kernel(q, v, dropout) else 0
    return q.new_empty((count, q.shape[1], 1), dtype=torch.promote_types(q.dtype, torch.float32))


def _run_back(
    ds: Tensors, marks: Any, results: Tensors, inputs: Tensors, levels: list[Level], left: int | None,
    right: int | None, scale: float | None, dropout: float,
) -> list[torch.Tensor] | None:  # fmt: skip
    q, k, v = inputs[:3]
    if any(marks[3:]) or not _fits_kernel(q, v, dropout):
        return None
    plan, masks, is_causal = _kernel_options(inputs, levels, left, right)
    sums = [
        _pick(results[1], bucket.queries, *bucket.shape[:2]).squeeze(-1).contiguous()
        for bucket in plan.buckets
    ]
    gradients = _backward(ds[0], q, k, v, results[0], sums, plan, masks, is_causal, scale)
    return [x for x, mark in zip(gradients, marks, strict=False) if mark]


_attend: LayerOp = LayerOp(
    "attend",
    "SymInt? left, SymInt? right, float? scale, float dropout",
    _run,
    lambda inputs, offsets, left, right, scale, dropout: (
        inputs[0].new_empty((*inputs[0].shape[:-1], inputs[2].shape[-1])),
        _fake_sums(inputs[0], inputs[2], dropout),
    ),
    draws=lambda left, right, scale, dropout: dropout > 0,
    backprop=_run_back,
)
