"""Other libraries and files of any object: values and levels to them, and back."""

from __future__ import annotations

import atexit
import os
import tempfile
from typing import Any

import numpy as np

from ..harness import Case, row
from . import sample


def _parts(ragged: Any) -> list[Any]:
    """Values and lengths."""
    return [np.asarray(ragged.values), np.asarray(ragged.lengths)]


def _path(name: str) -> str:
    """A path in a folder that goes with the process."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return os.path.join(folder.name, name)


@row("files.load", "a Ragged of 10 k sequences of mean 300 from its file, mapped")
def _(case: Case) -> None:
    source = sample.rows(case.size(10_000, 100), 300, dtype=np.int64)
    case.reference = [source.values, source.lengths]
    case.within("<= 100 us", 100.0)

    @case.contender("varlen", show=_parts)
    def _() -> Any:
        import varlen as vl

        path = _path("r.safetensors")
        vl.Ragged(source.values, source.lengths).save(path, durable=False)
        return vl.load, path

    @case.contender("torch", needs="torch", show=_parts)
    def _() -> Any:
        import torch
        import varlen as vl

        path = _path("r.pt")
        torch.save(vl.Ragged(torch.from_numpy(source.values), source.lengths), path)
        return lambda: torch.load(path, mmap=True, weights_only=True)


@row("scipy.in", "ids and data of a CSR matrix of 1 M rows of mean 3, shared")
def _(case: Case) -> None:
    source = sample.rows(case.size(1_000_000, 100), 3, dtype=np.int64)
    case.reference = [source.values, source.lengths]
    case.within("<= 5 ms", 5000.0)

    @case.contender("varlen", needs="scipy", show=lambda pair: _parts(pair[1]))
    def _() -> Any:
        import scipy.sparse
        import varlen as vl

        ids = np.zeros(len(source.values), np.int32)
        offsets = source.offsets.astype(np.int32)
        return vl.Ragged.from_scipy, scipy.sparse.csr_array((source.values, ids, offsets))
