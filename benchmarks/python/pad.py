"""Ragged to padded: short rows, wide rows, large outputs, two levels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample


def _contenders(case: Case, source: sample.Rows) -> np.ndarray:
    """Peers for one ragged level, all into the same reused output where they can take one."""
    values, lengths, offsets = source
    case.reference = sample.padded(source)
    longest = case.reference.shape[1]
    out = case.buffer(case.reference.shape, values.dtype)

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        ragged = varlen.Ragged(values, lengths=lengths)
        return lambda: ragged.to_dense(out=out)

    @case.contender("varlen, fresh output")
    def _() -> Any:
        import varlen

        ragged = varlen.Ragged(values, lengths=lengths)
        return ragged.to_dense

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from . import by_hand

        return by_hand.pad, source.flat, offsets, source.width, out.reshape(len(out), -1)

    @case.contender(
        "fbgemm", needs=("torch", "fbgemm_gpu"), show=lambda result: result.numpy().reshape(out.shape)
    )
    def _() -> Any:
        import torch

        torch.set_num_threads(1)
        flat = torch.from_numpy(values.reshape(len(values), -1))
        at = [torch.from_numpy(offsets)]
        return lambda: torch.ops.fbgemm.jagged_to_padded_dense(flat, at, [longest], 0.0)

    @case.contender("torch nested", needs="torch", show=lambda result: result.numpy())
    def _() -> Any:
        import torch

        torch.set_num_threads(1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nested tensors call themselves a prototype
            nested = torch.nested.nested_tensor([torch.from_numpy(array) for array in sample.arrays(source)])
        return lambda: torch.nested.to_padded_tensor(nested, 0.0)

    if values.ndim == 1:

        @case.contender("awkward", needs="awkward", show=lambda result: result.to_numpy())
        def _() -> Any:
            import awkward

            content = awkward.contents.NumpyArray(values)
            array = awkward.Array(awkward.contents.ListOffsetArray(awkward.index.Index64(offsets), content))
            zero = values.dtype.type(0)
            return lambda: awkward.fill_none(awkward.pad_none(array, longest, clip=True), zero, axis=-1)

    return out


def _copy_and_clear(case: Case, source: sample.Rows, out: np.ndarray) -> None:
    flat = out.reshape(-1)
    valid, rest = flat[: source.values.size], flat[source.values.size :]

    def both() -> None:
        yardstick.memcpy(valid, source.values)
        yardstick.memset(rest)

    case.yardstick("memcpy + memset", both)


def _short(case: Case, count: int, mean: int, limit: float, best: float) -> None:
    source = sample.rows(count, mean)
    out = _contenders(case, source)
    _copy_and_clear(case, source, out)
    case.per("a value", len(source.values), limit, best)


@row("pad.4", "ragged to padded, 4 B x mean 4")
def _(case: Case) -> None:
    _short(case, case.size(131_072, 21), 4, 0.9, 3.4)


@row("pad.16", "ragged to padded, 4 B x mean 16")
def _(case: Case) -> None:
    _short(case, case.size(16_384, 21), 16, 0.6, 1.07)


@row("pad.128", "ragged to padded, 4 B x mean 128")
def _(case: Case) -> None:
    _short(case, case.size(1024, 21), 128, 0.2, 0.2)


@row("pad.wide256", "ragged to padded, rows of 256 B")
def _(case: Case) -> None:
    source = sample.rows(case.size(256, 5), case.size(256, 7), width=64)
    _copy_and_clear(case, source, _contenders(case, source))
    case.over("memcpy + memset", 1.05)


@row("pad.wide4096", "ragged to padded, rows of 4096 B")
def _(case: Case) -> None:
    source = sample.rows(case.size(64, 5), case.size(64, 7), width=1024)
    _copy_and_clear(case, source, _contenders(case, source))
    case.over("memcpy + memset", 1.05)


@row("pad.large", "ragged to padded, 100 MB and more with out=")
def _(case: Case) -> None:
    source = sample.rows(case.size(6400, 5), case.size(2048, 7))
    out = _contenders(case, source)
    case.yardstick("NT fill", yardstick.nt_fill, out)
    case.yardstick("NT copy and fill", yardstick.nt_copy_fill, out, source.values)
    case.over("NT fill", 1.25, text="80 % of NT fill")


@row("pad.two-levels", "two ragged levels to padded, 64 x 256 x mean 12")
def _(case: Case) -> None:
    outer = sample.lengths(case.size(64, 4), case.size(128, 5))
    inner = sample.rows(int(outer.sum()), 12, seed=2)
    outer_offsets = np.concatenate([[0], np.cumsum(outer)])
    shape = (len(outer), int(outer.max()), int(inner.lengths.max()))
    flat = sample.padded(inner)
    case.reference = np.zeros(shape, np.float32)
    for i, start in enumerate(outer_offsets[:-1]):
        case.reference[i, : outer[i]] = flat[start : start + outer[i]]
    out = case.buffer(shape, np.float32)
    case.per("an inner row", int(outer.sum()), 8, best=20)
    case.yardstick("memset", yardstick.memset, out)

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        levels = (varlen.Level.from_lengths(outer), varlen.Level.from_lengths(inner.lengths))
        ragged = varlen.Ragged(inner.values, levels=levels)
        return lambda: ragged.to_dense(out=out)

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from . import by_hand

        return by_hand.pad_two, inner.values, outer_offsets, inner.offsets, out

    @case.contender(
        "fbgemm", needs=("torch", "fbgemm_gpu"), show=lambda result: result.numpy().reshape(shape)
    )
    def _() -> Any:
        import torch

        torch.set_num_threads(1)
        values = torch.from_numpy(inner.values).reshape(-1, 1)
        at = [torch.from_numpy(outer_offsets), torch.from_numpy(inner.offsets)]
        return lambda: torch.ops.fbgemm.jagged_to_padded_dense(values, at, list(shape[1:]), 0.0)

    @case.contender("upstream", needs="nested_ragged_tensors", show=lambda result: result["x"])
    def _() -> Any:
        from nested_ragged_tensors.ragged_numpy import JointNestedRaggedTensorDict

        flat_tensors = {
            "dim2/x": inner.values,
            "dim1/bounds": outer_offsets[1:],
            "dim2/bounds": inner.offsets[1:],
        }
        joint = JointNestedRaggedTensorDict(processed_tensors=flat_tensors)
        return joint.to_dense
