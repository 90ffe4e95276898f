"""Checksums: all bytes compared when a file is opened, and what they cost batches after the first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ... import yardstick
from ...harness import Case, row
from . import mimic


def _file(case: Case) -> tuple[Path, int]:
    """Floats in rows of 5 to 49, with checksums, and how many rows there are."""
    import varlen.io

    count = case.size(300_000, 30)
    bounds = np.cumsum(np.random.default_rng(42).integers(5, 50, count))
    path = mimic.folder() / "checksums.nrt"
    rows = {"dim1/bounds": bounds, "dim1/x": np.arange(bounds[-1]) / 7}
    varlen.io.save(path, rows, checksums=True, durable=False)
    case.stack.callback(path.unlink)
    return path, count


@row("verify.open", 'open 65 MB with verify="open": every byte compared with its checksum')
def _(case: Case) -> None:
    import varlen

    path, case.reference = _file(case)
    source = np.fromfile(path, np.uint8)
    copy = np.zeros_like(source)
    case.yardstick("memcpy", yardstick.memcpy, copy, source)
    case.over("memcpy", 2, text="<= 2 memcpy")

    @case.contender("varlen", needs="xxhash")
    def _() -> Any:
        return lambda: len(varlen.open(path, verify="open"))

    @case.contender("read and xxh3 by hand", needs="xxhash")
    def _() -> Any:
        import xxhash

        def by_hand() -> int:
            xxhash.xxh3_64_intdigest(np.fromfile(path, np.uint8))
            return int(case.reference)

        return by_hand

    @case.contender("read and google-crc32c by hand", needs="google_crc32c")
    def _() -> Any:
        import google_crc32c

        def by_hand() -> int:
            google_crc32c.value(path.read_bytes())
            return int(case.reference)

        return by_hand


@row("verify.later", 'a batch of 256 rows after verify="read" has compared what it reads')
def _(case: Case) -> None:
    import varlen

    path, count = _file(case)
    rows = np.random.default_rng(0).permutation(count)[:256]
    case.reference = dict(varlen.open(path).batch(rows))
    alone = 'verify="never"'
    case.rivals.append(alone)
    case.goal("<= 1.05 of it without", 1.05, lambda times: times.ratio("varlen", alone), f"x {alone}")

    @case.contender("varlen", needs="xxhash", show=dict)
    def _() -> Any:
        return varlen.open(path, verify="read").batch, rows

    @case.contender(alone, show=dict)
    def _() -> Any:
        return varlen.open(path).batch, rows
