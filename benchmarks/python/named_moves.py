"""Operations over named axes that move positions, beside the kernels that they call, and RETURNN's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..harness import Case, row
from .by_returnn import by_returnn

LIMIT = 1.05
PEER = "the kernel by hand"
WIDTH = 512


class _Sequences:
    """Sequences of rows: as a Data over batch, time and feature, and as values and a level."""

    def __init__(self, case: Case, name: str, seed: int) -> None:
        import varlen

        rng = np.random.default_rng(seed)
        lengths = rng.integers(case.size(100, 1), case.size(1000, 9), case.size(32, 3))
        self.dim = varlen.Dim(name, lengths=lengths)
        self.feature = varlen.Dim(case.size(WIDTH, 3), name="feature")
        self.values = rng.random((int(lengths.sum()), case.size(WIDTH, 3)), np.float32)
        self.data = varlen.Data(self.values, [varlen.dims.batch_dim, self.dim, self.feature])
        self.level = self.data.levels[0]

    def over(self, feature: Any) -> _Sequences:
        """The same with the features of another."""
        self.data = self.data.replace_dim(self.feature, feature)
        return self

    def parts(self) -> list[np.ndarray]:
        """The rows of each sequence."""
        return np.split(self.values, self.level.offsets[1:-1])


def _contenders(
    case: Case,
    reference: np.ndarray,
    named: tuple[Callable[..., Any], ...],
    kernel: tuple[Callable[..., Any], ...],
    parts: Callable[[], list[np.ndarray]],
) -> None:
    case.reference = reference
    # The loop has an output of its own, or whoever comes behind it would pay for memory that it let go.
    out = case.buffer(reference.shape, reference.dtype)

    @case.contender("varlen", show=lambda data: data.values)
    def _() -> Any:
        return named

    @case.contender(PEER, show=lambda made: made[0] if isinstance(made, tuple) else made)
    def _() -> Any:
        return kernel

    @case.contender("a sequence at a time", show=lambda _: out)
    def _() -> Any:
        return lambda: np.concatenate(parts(), out=out)

    case.goal(f"<= {LIMIT} of {PEER}", LIMIT, lambda times: times.ratio("varlen", PEER), f"x {PEER}")


@row("named.concat", f"two Data row by row, each 32 sequences of 100 to 999 rows of {WIDTH}")
def _(case: Case) -> None:
    import varlen
    from varlen.backends import backend_of

    x = _Sequences(case, "time", 0)
    y = _Sequences(case, "source", 1).over(x.feature)
    interleave = backend_of(x.values).interleave

    def parts() -> list[np.ndarray]:
        return [part for pair in zip(x.parts(), y.parts(), strict=True) for part in pair]

    _contenders(
        case,
        np.concatenate(parts()),
        (varlen.dims.concat, (x.data, x.dim), (y.data, y.dim)),
        (interleave, [x.values, y.values], [x.level, y.level], "parts"),
        parts,
    )
    by_returnn(
        case,
        x.data,
        x.dim,
        lambda rf, a, over_a, b, over_b: rf.concat((a, over_a), (b, over_b))[0],
        lambda data: data.values.numpy(),
        ((y.data, y.dim),),
    )


@row("named.reverse", f"a Data of 32 sequences of 100 to 999 rows of {WIDTH}, reversed")
def _(case: Case) -> None:
    import varlen

    x = _Sequences(case, "time", 0)

    def parts() -> list[np.ndarray]:
        return [part[::-1] for part in x.parts()]

    _contenders(
        case,
        np.concatenate(parts()),
        (varlen.dims.reverse, x.data, x.dim),
        (varlen.ops.reverse, x.values, x.level),
        parts,
    )
    by_returnn(
        case,
        x.data,
        x.dim,
        lambda rf, a, over: rf.reverse_sequence(a, axis=over),
        lambda data: data.values.numpy(),
    )


@row("named.shift", f"a Data of 32 sequences of 100 to 999 rows of {WIDTH}, one place on")
def _(case: Case) -> None:
    import varlen
    from varlen.backends import backend_of

    x = _Sequences(case, "time", 0)
    shift = backend_of(x.values).shift

    def parts() -> list[np.ndarray]:
        return [rows for part in x.parts() for rows in (np.zeros_like(part[:1]), part[:-1])]

    _contenders(
        case,
        np.concatenate(parts()),
        (varlen.dims.shift, x.data, x.dim, 1),
        (shift, x.values, x.level, 1),
        parts,
    )
