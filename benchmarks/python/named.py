"""Values over named dims: small calls over the raw operation, large ones over the kernels that they call.

What names cost is all that is new here: the kernels have rows of their own. Peers are rectangles of torch
with a mask, and a plain loop over sequences. RETURNN, which this follows, takes 12 us for a small addition,
54 to 78 ms for a sum, 139 ms for a softmax of the sizes below, as far as is published.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ..harness import Case, row
from . import sample
from .by_returnn import by_returnn
from .einsum import DEPTH, HEADS, LIMIT, Attention, attention_by, drawn_to_fill

WIDTH = 512


def _near(wanted: Any, tolerance: float = 1e-4) -> Callable[[Any], bool]:
    """Whether numbers are those of the reference, of which the last places may differ."""

    def shown(result: Any) -> bool:
        values = result.values if hasattr(result, "dims") else result
        values = values.detach().numpy() if hasattr(values, "detach") else np.asarray(values)
        return bool(np.allclose(values, wanted, rtol=tolerance, atol=tolerance))

    return shown


NUMBERS = np.array([-1.0, 0.5, 2.0])


def _add(x: Any, y: Any) -> Any:
    return x + y


def _relu(x: Any) -> Any:
    import varlen

    return varlen.dims.relu(x)


def _relu_of_numpy(x: Any) -> Any:
    return np.maximum(x, 0)


def _relu_of_torch(x: Any) -> Any:
    import torch

    return torch.relu(x)


def _small(case: Case, named: Any, raw: Any, count: int, needs: str, more: float) -> None:
    """A call on Data of three numbers, beside the same on the numbers alone."""
    wanted = named(*[NUMBERS] * count) if named is _add else _relu_of_numpy(NUMBERS)
    case.reference = True
    case.over("the raw operation", 1.0, more)

    @case.contender("varlen", needs=needs, show=_near(wanted))
    def _() -> Any:
        import varlen

        values: Any = NUMBERS
        if needs == "torch":
            import torch

            torch.set_num_threads(1)
            values = torch.tensor(NUMBERS)
        case.yardstick("the raw operation", raw, *[values] * count)
        dims = [varlen.dims.batch_dim, varlen.Dim("time", lengths=[2, 1])]
        return named, *[varlen.Data(values, dims)] * count


@row("named.add", "x + y of Data of three numbers")
def _(case: Case) -> None:
    _small(case, _add, _add, 2, "numpy", 1.5)


@row("named.relu", "relu of Data of three numbers")
def _(case: Case) -> None:
    _small(case, _relu, _relu_of_numpy, 1, "numpy", 1.5)


@row("named.add.tensor", "x + y of Data of three numbers, tensors")
def _(case: Case) -> None:
    _small(case, _add, _add, 2, "torch", 3.0)


@row("named.relu.tensor", "relu of Data of three numbers, tensors")
def _(case: Case) -> None:
    _small(case, _relu, _relu_of_torch, 1, "torch", 3.0)


class _Frames:
    """A batch of frames: 32 sequences of 100 to 999 rows of 512 numbers."""

    def __init__(self, case: Case, dtype: Any = np.float32) -> None:
        import varlen

        drawn = np.random.default_rng(0).integers(*(case.size(100, 1), case.size(1000, 9)), case.size(32, 3))
        self.source = sample.of_lengths(drawn, case.size(WIDTH, 5), dtype=dtype)
        self.values = self.source.values / 100
        self.level = varlen.Level(drawn)
        self.time = varlen.Dim("time", lengths=drawn)
        self.feature = varlen.Dim(self.source.width, name="feature")
        self.dims = [varlen.dims.batch_dim, self.time, self.feature]
        self.data = varlen.Data(self.values, self.dims)

    @property
    def parts(self) -> list[np.ndarray]:
        return [self.values[i:j] for i, j in pairwise(self.source.offsets)]

    def padded(self) -> tuple[Any, Any]:
        """A rectangle of torch, and where it has no frames."""
        import torch

        torch.set_num_threads(1)
        block = torch.nn.utils.rnn.pad_sequence([torch.from_numpy(x) for x in self.parts], batch_first=True)
        lengths = torch.from_numpy(self.source.lengths)
        return block, torch.arange(block.shape[1])[None, :, None] >= lengths[:, None, None]


def _by_kernel(
    case: Case, named: Any, kernel: Any, row_by_row: Any, by_mask: Any, back: Any, returnn: Any
) -> None:
    """Over time: Data, the kernel that it calls, a loop over sequences, a rectangle with a mask, RETURNN."""
    frames = _Frames(case)
    wanted = np.concatenate([np.atleast_2d(row_by_row(x.astype(np.float64))) for x in frames.parts])
    case.reference = True
    case.yardstick("the kernel by hand", kernel, frames)
    case.over("the kernel by hand", 1.05)

    @case.contender("varlen", show=_near(wanted, 1e-3))
    def _() -> Any:
        return named, frames

    @case.contender("NumPy, a sequence at a time", show=_near(wanted, 1e-3))
    def _() -> Any:
        return lambda: np.concatenate([np.atleast_2d(row_by_row(x)) for x in frames.parts])

    @case.contender("torch, padded", needs="torch", show=lambda x: _near(wanted, 1e-3)(back(frames, x)))
    def _() -> Any:
        return by_mask, *frames.padded()

    by_returnn(case, frames.data, frames.time, returnn, lambda x: _near(wanted, 1e-3)(x.values))


def _of_batch(frames: _Frames, result: Any) -> Any:
    return result


def _of_frames(frames: _Frames, result: Any) -> Any:
    return np.concatenate([x[:n] for x, n in zip(result.numpy(), frames.source.lengths, strict=True)])


def _shares(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(0))
    return powers / powers.sum(0)


@row("named.sum", "sum over time, 32 sequences of 100 to 999 rows of 512")
def _(case: Case) -> None:
    import varlen

    _by_kernel(
        case,
        lambda frames: frames.data.sum(frames.time),
        lambda frames: varlen.ops.reduce_sum(frames.values, frames.level),
        lambda x: x.sum(0),
        lambda block, gone: block.masked_fill(gone, 0).sum(1),
        _of_batch,
        lambda rf, x, time: rf.reduce_sum(x, axis=time),
    )


@row("named.max", "greatest over time, 32 sequences of 100 to 999 rows of 512")
def _(case: Case) -> None:
    import varlen

    _by_kernel(
        case,
        lambda frames: frames.data.max(frames.time),
        lambda frames: varlen.backends.backend_of(frames.values).reduce(
            "max", frames.values, frames.level, -np.inf
        ),
        lambda x: x.max(0),
        lambda block, gone: block.masked_fill(gone, -np.inf).amax(1),
        _of_batch,
        lambda rf, x, time: rf.reduce_max(x, axis=time),
    )


@row("named.softmax", "softmax over time, 32 sequences of 100 to 999 rows of 512")
def _(case: Case) -> None:
    import varlen

    _by_kernel(
        case,
        lambda frames: varlen.dims.softmax(frames.data, frames.time),
        lambda frames: varlen.ops.softmax(frames.values, frames.level),
        _shares,
        lambda block, gone: block.masked_fill(gone, -np.inf).softmax(1),
        _of_frames,
        lambda rf, x, time: rf.softmax(x, axis=time),
    )


@row("named.pack", "a rectangle without its padding, 32 sequences of 100 to 999 rows of 512")
def _(case: Case) -> None:
    import varlen

    frames = _Frames(case)
    block = sample.padded(frames.source._replace(values=frames.values))
    case.reference = True
    unpad = varlen.backends.backend_of(block).unpad
    case.yardstick("the kernel by hand", unpad, block, (frames.level,), "right")
    case.over("the kernel by hand", 1.05)

    @case.contender("varlen", show=_near(frames.values))
    def _() -> Any:
        return lambda: varlen.Data.from_padded(block, frames.dims)

    @case.contender("NumPy, a sequence at a time", show=_near(frames.values))
    def _() -> Any:
        return lambda: np.concatenate([x[:n] for x, n in zip(block, frames.source.lengths, strict=True)])

    @case.contender("torch, by a mask", needs="torch", show=_near(frames.values))
    def _() -> Any:
        padded, gone = frames.padded()
        return lambda: padded[~gone[..., 0]]


def _by_flat(case: Case, named: Any, flat: Any, show: Any) -> None:
    """A call on Data of tensors, beside the one of torch on the valid values."""
    peer = "torch, flat"
    case.reference = True
    case.rivals.append(peer)
    case.goal(f"<= {LIMIT} of the flat call", LIMIT, lambda times: times.ratio("varlen", peer), f"x {peer}")

    @case.contender("varlen", needs="torch", show=show)
    def _() -> Any:
        return named

    @case.contender(peer, needs="torch", show=show)
    def _() -> Any:
        return flat


def _normed(case: Case, backward: bool) -> None:
    import varlen

    frames = _Frames(case)
    wide = frames.values.astype(np.float64)
    wanted = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-6)
    try:
        import torch
    except ModuleNotFoundError:
        return _by_flat(case, None, None, None)
    torch.set_num_threads(1)
    values = torch.from_numpy(frames.values).requires_grad_(backward)
    weight, bias = torch.ones(frames.source.width), torch.zeros(frames.source.width)
    scale, shift = (varlen.Data(x, [frames.feature]) for x in (weight, bias))
    data = varlen.Data(values, frames.dims)
    ones = torch.ones_like(values)

    def after(result: Any) -> Any:
        if backward:
            values.grad = None
            result.backward(ones)
        return result

    def named() -> Any:
        return after(varlen.dims.layer_norm(data, frames.feature, scale=scale, bias=shift).values)

    def flat() -> Any:
        return after(torch.nn.functional.layer_norm(values, values.shape[1:], weight, bias, 1e-6))

    return _by_flat(case, named, flat, _near(wanted, 1e-3))


@row("named.layer_norm", "layer norm of frames, 32 sequences of 100 to 999 rows of 512, tensors")
def _(case: Case) -> None:
    _normed(case, False)


@row("named.layer_norm.backward", "the same, and its gradient")
def _(case: Case) -> None:
    _normed(case, True)


def _entropy(case: Case, backward: bool) -> None:
    import varlen

    frames = _Frames(case)
    labels = np.random.default_rng(1).integers(0, frames.source.width, len(frames.values))
    wide = frames.values.astype(np.float64)
    wanted = np.log(np.exp(wide).sum(1)) - wide[np.arange(len(wide)), labels]
    try:
        import torch
    except ModuleNotFoundError:
        return _by_flat(case, None, None, None)
    torch.set_num_threads(1)
    values = torch.from_numpy(frames.values).requires_grad_(backward)
    data, target = varlen.Data(values, frames.dims), varlen.Data(torch.from_numpy(labels), frames.dims[:2])

    def after(result: Any) -> Any:
        if backward:
            values.grad = None
            result.sum().backward()
        return result

    def named() -> Any:
        return after(varlen.dims.cross_entropy(data, target, frames.feature).values)

    def flat() -> Any:
        return after(torch.nn.functional.cross_entropy(values, target.values, reduction="none"))

    return _by_flat(case, named, flat, _near(wanted, 1e-3))


@row("named.cross_entropy", "cross entropy of frames, 32 sequences of 100 to 999 rows, 512 classes, tensors")
def _(case: Case) -> None:
    _entropy(case, False)


@row("named.cross_entropy.backward", "the same cross entropy, and its gradient")
def _(case: Case) -> None:
    _entropy(case, True)


@row("named.dot", "products of columns summed over batch and time, 512 by 512, 32 sequences of 100 to 999")
def _(case: Case) -> None:
    import varlen

    frames = _Frames(case)
    other = varlen.Data(
        np.ascontiguousarray(frames.values[::-1]),
        [*frames.dims[:2], varlen.Dim(frames.source.width, name="other")],
    )
    wanted = frames.values.T @ other.values
    case.reference = True

    @case.contender("varlen", show=_near(wanted, 1e-3))
    def _() -> Any:
        return lambda: varlen.dims.dot(frames.data, other, frames.dims[:2])

    @case.contender("NumPy, flat", show=_near(wanted, 1e-3))
    def _() -> Any:
        return lambda: frames.values.T @ other.values

    case.goal(
        f"<= {LIMIT} of the flat product",
        LIMIT,
        lambda times: times.ratio("varlen", "NumPy, flat"),
        "x NumPy, flat",
    )


class _Named(Attention):
    """The attention of the rows of `einsum`, by dims."""

    def varlen(self) -> list[Any]:
        from varlen import Data, Dim, dims
        from varlen.dims.place import in_order

        if not hasattr(self, "dims"):
            names = (Dim("time", lengths=self.t), Dim("source", lengths=self.s))
            self.dims = (*names, Dim(HEADS, name="heads"), Dim(DEPTH, name="depth"))
        time, source, heads, depth = self.dims
        q, k, v = (
            Data(x, [dims.batch_dim, over, heads, depth])
            for x, over in zip(self.given, (time, source, source), strict=True)
        )
        weights = dims.softmax(dims.dot(q, k, depth), source, scale=DEPTH**-0.5)
        found = dims.dot(weights, v, source).transpose([dims.batch_dim, time, heads, depth])
        return self.backward(in_order(found).values, self.d)


def _attention(case: Case, t: np.ndarray, s: np.ndarray, peer: str, limit: float) -> None:
    case.rivals.append(peer)
    attention_by(case, _Named, t, s)
    case.goal(f"<= {limit} of {peer}", limit, lambda times: times.ratio("varlen", peer), f"x {peer}")


@row("named.attention", "attention of two lengths by dims, both ways, 32 of 100 to 999, 8 heads of 64")
def _(case: Case) -> None:
    rng = np.random.default_rng(0)
    t, s = (rng.integers(*(case.size(100, 1), case.size(1000, 9)), case.size(32, 3)) for _ in range(2))
    _attention(case, t, s, "a sequence at a time", LIMIT)


@row("named.attention.fill70", "the same where rows fill 70 % of a rectangle of 16 by 512")
def _(case: Case) -> None:
    t, s = (drawn_to_fill(case.size(16, 3), 0.7, case.size(512, 9), seed) for seed in range(2))
    _attention(case, t, s, "torch, padded", 1.0)
