"""Arrow: lists out to libraries of columns, without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import Case, row
from . import sample


def _parts(array: Any) -> list[Any]:
    """Values and lengths of a list array of pyarrow."""
    return [array.values.to_numpy(), array.value_lengths().to_numpy()]


@row("arrow.export", "a Ragged of 1 M sequences of mean 3 to a pyarrow array, shared")
def _(case: Case) -> None:
    source = sample.rows(case.size(1_000_000, 100), 3, dtype=np.int64)
    case.reference = [source.values, source.lengths]
    case.within("<= 50 us", 50.0)

    @case.contender("varlen", needs="pyarrow", show=_parts)
    def _() -> Any:
        import pyarrow
        import varlen as vl

        return pyarrow.array, vl.Ragged(source.values, source.lengths)

    @case.contender("awkward", needs=("awkward", "pyarrow"), show=_parts)
    def _() -> Any:
        import awkward as ak

        layout = ak.contents.ListOffsetArray(
            ak.index.Index64(source.offsets), ak.contents.NumpyArray(source.values)
        )
        array = ak.Array(layout)
        return lambda: ak.to_arrow(array, extensionarray=False)

    @case.contender("pyarrow", needs="pyarrow", show=_parts)
    def _() -> Any:
        import pyarrow

        return lambda: pyarrow.LargeListArray.from_arrays(source.offsets, source.values)
