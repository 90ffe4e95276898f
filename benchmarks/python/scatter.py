"""Lookups in a table, several for each row, and the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import Case, row

# Of the speed at which the same rows are gathered one by one.
GOAL = 0.7
WIDTH = 96
EACH = 4


def _drawn(case: Case, rows: int, dtype: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    rows = case.size(rows, 7)
    table = rng.integers(0, 99, (rows, WIDTH)).astype(np.float32)
    return table, rng.integers(0, rows, (case.size(count, 5), EACH)).astype(dtype)


def _forward(case: Case, rows: int, dtype: str) -> None:
    table, indices = _drawn(case, rows, dtype, 6000)
    case.reference = table[indices].sum(1)
    out = case.buffer(case.reference.shape, table.dtype)

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        return lambda: varlen.ops.gather_add(table, indices, out=out)

    @case.contender("varlen, fresh output")
    def _() -> Any:
        import varlen

        return varlen.ops.gather_add, table, indices

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from .by_hand import scatter as by_hand_scatter

        return by_hand_scatter.gather_add, table.reshape(-1), indices, out

    @case.contender("thinc", needs="thinc")
    def _() -> Any:
        from thinc.api import NumpyOps

        return NumpyOps().gather_add, table, indices.astype(np.int32)

    @case.contender("torch EmbeddingBag", needs="torch", show=lambda result: result.numpy())
    def _() -> Any:
        import torch

        torch.set_num_threads(1)
        weight, at = torch.from_numpy(table), torch.from_numpy(indices.astype(np.int32))
        return lambda: torch.nn.functional.embedding_bag(at, weight, mode="sum")

    flat, all_rows = indices.reshape(-1).astype(np.int64), np.empty((indices.size, WIDTH), table.dtype)
    case.yardstick("gather", lambda: table.take(flat, 0, all_rows, "clip"))
    case.over("gather", 1 / GOAL, text=f"{GOAL:.0%} of the speed of a gather")


def _back(case: Case, rows: int) -> None:
    table, indices = _drawn(case, rows, "int32", 6000)
    given = np.random.default_rng(1).integers(0, 99, (len(indices), WIDTH)).astype(np.float32)
    case.reference = np.zeros_like(table)
    np.add.at(case.reference, indices, given[:, None])
    out = case.buffer(table.shape, table.dtype)

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        return lambda: varlen.ops.backprop_gather_add(given, indices, len(table), out=out)

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from .by_hand import scatter as by_hand_scatter

        return by_hand_scatter.backprop_gather_add, given, indices, out.reshape(-1)

    @case.contender("thinc", needs="thinc", show=lambda _: out)
    def _() -> Any:
        from thinc.api import NumpyOps

        ops, places = NumpyOps(), [np.ascontiguousarray(indices[:, k]) for k in range(EACH)]

        def by_column() -> None:
            out.fill(0)
            for at in places:
                ops.scatter_add(out, at, given)

        return by_column

    flat, all_rows = indices.reshape(-1).astype(np.int64), np.empty((indices.size, WIDTH), table.dtype)
    case.yardstick("gather", lambda: table.take(flat, 0, all_rows, "clip"))
    case.over("gather", 1 / GOAL, text=f"{GOAL:.0%} of the speed of a gather")


for _rows in (2000, 10_000):
    for _dtype in ("int32", "uint32"):
        row(f"scatter.{_rows}.{_dtype}", f"gather_add, 4 {_dtype} a row, table of {_rows} x {WIDTH}")(
            lambda case, rows=_rows, dtype=_dtype: _forward(case, rows, dtype)
        )
    row(f"scatter.{_rows}.back", f"its gradient, table of {_rows} x {WIDTH}")(
        lambda case, rows=_rows: _back(case, rows)
    )
