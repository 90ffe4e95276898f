"""Rows that change places: padded and back, gathered, repeated, laid end to end."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..python import sample
from .timing import DeviceCase, row

BYTES, NUMBERS = 1 << 28, 1 << 27  # of values, at most
# What a row has: how many numbers, of which dtype, and the part of a copy's speed that is promised.
WIDTHS: dict[str, tuple[int, str, float]] = {
    "256": (64, "float32", 0.85),
    "16": (4, "float32", 0.85),
    "4": (0, "float32", 0.75),
    "2": (0, "float16", 0.60),
    "1": (0, "uint8", 0.60),
}


def _rows(case: DeviceCase, width: int, dtype: str, mean: int = 128) -> sample.Rows:
    bytes_a_row = max(1, width) * np.dtype(dtype).itemsize
    count = case.size(min(BYTES // bytes_a_row, NUMBERS // max(1, width)) // mean, 40)
    return sample.rows(count, case.size(mean, 5), width, dtype)


def places(case: DeviceCase, source: sample.Rows) -> tuple[Any, Any]:
    """The sequence of each row and its place in there, on the device."""
    import torch

    offsets, total = case.tensor(source.offsets), len(source.values)
    ids = torch.arange(len(source.lengths), device=case.device)
    ids = ids.repeat_interleave(offsets.diff(), output_size=total)
    return ids, torch.arange(total, device=case.device) - offsets[ids]


for _name, (_width, _dtype, _part) in WIDTHS.items():

    @row(f"pad.{_name}", f"sequences of 128 rows of {_name} B on average to a rectangle of zeros")
    def _(case: DeviceCase, width: int = _width, dtype: str = _dtype, part: float = _part) -> None:
        import torch
        import varlen

        source = _rows(case, width, dtype)
        values = case.tensor(source.values)
        ids, at = places(case, source)
        shape = (len(source.lengths), int(source.lengths.max(initial=0)), *values.shape[1:])
        case.reference = values.new_zeros(shape)
        case.reference[ids, at] = values
        case.copy(values.nbytes, case.reference.nbytes)
        case.at_least(part)

        @case.contender("varlen")
        def _() -> Any:
            ragged, out = varlen.Ragged(values, lengths=source.lengths), case.output(case.reference)
            return lambda: ragged.to_dense(out=out)

        @case.contender("varlen, fresh output")
        def _() -> Any:
            return varlen.Ragged(values, lengths=source.lengths).to_dense

        @case.contender("torch index_put")
        def _() -> Any:
            return lambda: values.new_zeros(shape).index_put_((ids, at), values)

        if dtype != "uint8":

            @case.contender("torch nested")
            def _() -> Any:
                offsets = case.tensor(source.offsets)
                nested = torch.nested.nested_tensor_from_jagged(values, offsets, max_seqlen=shape[1])
                return lambda: torch.nested.to_padded_tensor(nested, 0.0)

        if dtype == "float32":

            @case.contender("fbgemm", needs="fbgemm_gpu", show=lambda result: result.reshape(shape))
            def _() -> Any:
                flat = values.reshape(len(values), -1)
                offsets = [case.tensor(source.offsets)]
                return lambda: torch.ops.fbgemm.jagged_to_padded_dense(flat, offsets, [shape[1]], 0.0)

    @row(f"unpad.{_name}", f"the rows of a rectangle, 128 of {_name} B a sequence on average, end to end")
    def _(case: DeviceCase, width: int = _width, dtype: str = _dtype, part: float = _part) -> None:
        import torch
        import varlen

        source = _rows(case, width, dtype)
        case.reference = values = case.tensor(source.values)
        ids, at = places(case, source)
        shape = (len(source.lengths), int(source.lengths.max(initial=0)), *values.shape[1:])
        block = values.new_zeros(shape)
        block[ids, at] = values
        case.copy(values.nbytes, values.nbytes)
        case.at_least(part)

        @case.contender("varlen", show=lambda result: result.values)
        def _() -> Any:
            level = varlen.Level(source.lengths)
            return lambda: varlen.Ragged.from_dense(block, lengths=level)

        @case.contender("torch index")
        def _() -> Any:
            return lambda: block[ids, at]

        if dtype == "float32":

            @case.contender("fbgemm", needs="fbgemm_gpu", show=lambda r: r[0].reshape(values.shape))
            def _() -> Any:
                wide = block.reshape(*shape[:2], -1)
                offsets = [case.tensor(source.offsets)]
                return lambda: torch.ops.fbgemm.dense_to_jagged(wide, offsets, len(values))


for _name, (_width, _dtype, _) in {k: WIDTHS[k] for k in ("256", "16")}.items():

    @row(f"gather.{_name}", f"as many sequences of 16 rows of {_name} B on average, by index")
    def _(case: DeviceCase, name: str = _name, width: int = _width, dtype: str = _dtype) -> None:
        import varlen

        source = _rows(case, width, dtype, mean=16)
        values = case.tensor(source.values)
        index = np.random.default_rng(3).integers(0, len(source.lengths), len(source.lengths))
        taken = source.lengths[index]
        ends = np.cumsum(taken)
        begins = np.repeat(source.offsets[index] - ends + taken, taken)
        places = case.tensor(begins + np.arange(int(ends[-1])))
        case.reference = values[places]
        case.copy(case.reference.nbytes, case.reference.nbytes)
        case.at_least({"256": 0.80, "16": 0.55}[name])

        @case.contender("varlen", show=lambda result: result.values)
        def _() -> Any:
            ragged = varlen.Ragged(values, lengths=source.lengths)
            return lambda: ragged[index]

        @case.contender("torch index_select")
        def _() -> Any:
            return lambda: values.index_select(0, places)


@row("expand", "a row of 256 B for each of 16 on average")
def _(case: DeviceCase) -> None:
    import varlen
    from varlen import ops

    source = _rows(case, 64, "float32", mean=16)
    rows = case.tensor(np.random.default_rng(4).random((len(source.lengths), 64), np.float32))
    lengths = case.tensor(source.lengths)
    total = len(source.values)
    case.reference = rows.repeat_interleave(lengths, 0)
    case.copy(rows.nbytes, case.reference.nbytes)
    case.at_least(0.85)

    @case.contender("varlen")
    def _() -> Any:
        level = varlen.Level(source.lengths)
        return lambda: ops.backprop_reduce_sum(rows, level)

    @case.contender("torch repeat_interleave")
    def _() -> Any:
        return lambda: rows.repeat_interleave(lengths, 0, output_size=total)


@row("concat", "four ragged batches, sequence by sequence, rows of 256 B")
def _(case: DeviceCase) -> None:
    import torch
    import varlen
    from varlen import ops

    sources = [_rows(case, 64, "float32", mean=16) for _ in range(4)]
    parts = [case.tensor(source.values + k) for k, source in enumerate(sources)]
    count = len(sources[0].lengths)
    # Row by row of the result: the sequence first, then the part.
    sequence = np.concatenate([np.repeat(np.arange(count), source.lengths) for source in sources])
    part = np.repeat(np.arange(4), [len(source.values) for source in sources])
    order = case.tensor(np.lexsort((part, sequence)))
    case.reference = torch.cat(parts)[order]
    case.copy(case.reference.nbytes, case.reference.nbytes)
    case.at_least(0.80)

    @case.contender("varlen", show=lambda result: result.values)
    def _() -> Any:
        pairs = zip(parts, sources, strict=True)
        ragged = [varlen.Ragged(values, lengths=source.lengths) for values, source in pairs]
        return lambda: ops.concatenate(ragged, axis=1)

    @case.contender("torch cat and index_select")
    def _() -> Any:
        return lambda: torch.cat(parts).index_select(0, order)


@row("concat.rows", "four ragged batches, one after another, rows of 256 B")
def _(case: DeviceCase) -> None:
    import torch
    import varlen
    from varlen import ops

    source = _rows(case, 64, "float32", mean=16)
    parts = [case.tensor(source.values + k) for k in range(4)]
    case.reference = torch.cat(parts)
    case.copy(case.reference.nbytes, case.reference.nbytes)
    case.at_least(0.80)

    @case.contender("varlen", show=lambda result: result.values)
    def _() -> Any:
        ragged = [varlen.Ragged(values, lengths=source.lengths) for values in parts]
        return lambda: ops.concatenate(ragged)

    @case.contender("torch cat")
    def _() -> Any:
        return lambda: torch.cat(parts)
