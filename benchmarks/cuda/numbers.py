"""What computes inside sequences: sums, extremes, softmax, sorts; of any skew of lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..python import sample
from .moves import places
from .timing import DeviceCase, row

NUMBERS = 1 << 26  # floats: 256 MB


def _plain(case: DeviceCase, mean: int, kind: str = "uniform", numbers: int = NUMBERS) -> sample.Rows:
    count = case.size(numbers // mean, 30)
    return sample.drawn(kind, count, case.size(mean, 6))


def _for(op: str, source: sample.Rows) -> sample.Rows:
    """For sums numbers around zero: no order of additions rounds any, however many there are."""
    return source if op == "max" else source._replace(values=source.values % 9 - 4)


def _segment_reduce(case: DeviceCase, op: str, source: sample.Rows, values: Any) -> Any:
    import torch

    offsets = case.tensor(source.offsets)
    empty = 0.0 if op == "sum" else None
    return lambda: torch.segment_reduce(values, op, offsets=offsets, initial=empty, unsafe=True)


def _segment_csr(case: DeviceCase, op: str, source: sample.Rows, values: Any) -> Any:
    import torch_scatter

    offsets = case.tensor(source.offsets)
    return lambda: torch_scatter.segment_csr(values, offsets, reduce=op)


def _shown(op: str) -> Any:
    """Its maxima of empty sequences are below all numbers; ours are 0 here, and the others greater."""
    return None if op == "sum" else lambda result: result.clamp(min=0)


def _reduced(source: sample.Rows, op: str) -> np.ndarray:
    """Sums in float64, and extremes with 0 where there is nothing."""
    result = np.zeros(len(source.lengths))
    full = source.lengths > 0
    if full.any():
        fold = np.add if op == "sum" else np.maximum
        result[full] = fold.reduceat(source.values.astype(np.float64), source.offsets[:-1][full])
    return result.astype(np.float32)


for _op in ("sum", "max"):
    for _mean, _part in ((128, 0.90), (16, 0.80), (4, 0.60)):

        @row(f"reduce.{_op}.{_mean}", f"{_op} of sequences of {_mean} floats on average")
        def _(case: DeviceCase, op: str = _op, mean: int = _mean, part: float = _part) -> None:
            import varlen

            source = _for(op, _plain(case, mean))
            values = case.tensor(source.values)
            case.reference = case.tensor(_reduced(source, op))
            case.copy(values.nbytes, case.reference.nbytes)
            case.at_least(part)

            @case.contender("varlen")
            def _() -> Any:
                ragged = varlen.Ragged(values, lengths=source.lengths)
                return ragged.sum if op == "sum" else lambda: ragged.max(empty=0)

            @case.contender("torch segment_reduce", show=_shown(op))
            def _() -> Any:
                return _segment_reduce(case, op, source, values)

            @case.contender("torch_scatter", needs="torch_scatter", show=_shown(op))
            def _() -> Any:
                return _segment_csr(case, op, source, values)

    for _kind, _words in (("zipf", "lengths of a Zipf tail"), ("one-giant", "half of all in one sequence")):

        @row(f"reduce.{_op}.{_kind}", f"{_op} of sequences of floats, {_words}, beside uniform ones")
        def _(case: DeviceCase, op: str = _op, kind: str = _kind) -> None:
            import varlen

            source, even = _for(op, _plain(case, 128, kind)), _for(op, _plain(case, 128))
            values, others = case.tensor(source.values), case.tensor(even.values)
            case.reference = case.tensor(_reduced(source, op))
            case.copy(values.nbytes, case.reference.nbytes)
            uniform = varlen.Ragged(others, lengths=even.lengths)
            case.yardstick("uniform", uniform.sum if op == "sum" else lambda: uniform.max(empty=0))
            case.at_least(0.85, "uniform", max(1, len(source.values)) / max(1, len(even.values)))

            @case.contender("varlen")
            def _() -> Any:
                ragged = varlen.Ragged(values, lengths=source.lengths)
                return ragged.sum if op == "sum" else lambda: ragged.max(empty=0)

            @case.contender("torch segment_reduce", show=_shown(op))
            def _() -> Any:
                return _segment_reduce(case, op, source, values)

            @case.contender("torch_scatter", needs="torch_scatter", show=_shown(op))
            def _() -> Any:
                return _segment_csr(case, op, source, values)


def _padded(case: DeviceCase, source: sample.Rows, values: Any, fill: float) -> tuple[Any, Any]:
    """A rectangle of the sequences, and where they lie in it."""
    where = places(case, source)
    block = values.new_full((len(source.lengths), int(source.lengths.max(initial=0))), fill)
    block[where] = values
    return block, where


for _mean in (16, 128, 4096, 24576):

    @row(f"softmax.{_mean}", f"softmax of sequences of {_mean} floats on average, at most twice that")
    def _(case: DeviceCase, mean: int = _mean) -> None:
        import torch
        import varlen

        source = _plain(case, mean)
        values = case.tensor(source.values) / 10
        block, where = _padded(case, source, values, -np.inf)
        case.close = 1e-5
        case.reference = torch.softmax(block.double(), 1)[where].float()
        case.copy(2 * values.nbytes, values.nbytes)
        case.at_least(0.80)

        @case.contender("varlen", show=lambda result: result.values)
        def _() -> Any:
            return varlen.Ragged(values, lengths=source.lengths).softmax

        @case.contender("torch padded", show=lambda result: result[where])
        def _() -> Any:
            return lambda: torch.softmax(block, 1)


for _mean in (16, 1024):

    @row(f"sort.{_mean}", f"numbers of sequences of {_mean} floats on average, sorted")
    def _(case: DeviceCase, mean: int = _mean) -> None:
        import torch
        import varlen

        source = _plain(case, mean, numbers=NUMBERS // 4)
        source = source._replace(values=np.random.default_rng(5).random(len(source.values), np.float32))
        values = case.tensor(source.values)
        block, where = _padded(case, source, values, np.inf)
        case.reference = torch.sort(block, 1)[0][where]
        case.copy(values.nbytes, values.nbytes)
        case.ahead_of("torch padded")

        @case.contender("varlen", show=lambda result: result.values)
        def _() -> Any:
            return varlen.Ragged(values, lengths=source.lengths).sort

        @case.contender("torch padded", show=lambda result: result[0][where])
        def _() -> Any:
            return lambda: torch.sort(block, 1)
