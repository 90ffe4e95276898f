"""Input files as a stream of joint columns, and dtypes learned in one pass over them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from varlen._core import Joint
from varlen.cli.errors import one_line

__all__ = ["ConversionPlan", "ValueRange", "cast", "learn_dtypes", "name_file"]

_UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
_SIGNED = (np.int8, np.int16, np.int32, np.int64)


@contextlib.contextmanager
def name_file(path: Path, kinds: tuple[type[Exception], ...] = (Exception,)) -> Iterator[None]:
    """Errors of these kinds name the file that is read.

    Examples
    --------
    >>> with name_file(Path("t.csv")):
    ...     raise KeyError("no column 'x'")
    Traceback (most recent call last):
    ValueError: t.csv: no column 'x'
    """
    try:
        yield
    except kinds as wrong:
        text = one_line(wrong)
        raise ValueError(text if text.startswith(str(path)) else f"{path}: {text}") from None


@dataclass
class ValueRange:
    """What the values of a key need: the dtype that holds all pieces, and the span of the numbers.

    Examples
    --------
    >>> span = ValueRange()
    >>> span.add(np.array([3, 300]))
    >>> span.narrowed()
    dtype('uint16')
    """

    dtype: np.dtype[Any] | None = None
    low: Any = None
    high: Any = None

    def add(self, values: npt.NDArray[Any]) -> None:
        """Takes one more piece into account; an empty one only where nothing else tells the dtype."""
        if values.size == 0 or self.dtype is None or self.low is None:
            known = self.dtype if values.size == 0 and self.dtype is not None else values.dtype
            self.dtype = known
        else:
            self.dtype = np.promote_types(self.dtype, values.dtype)
        finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
        if values.size == 0 or values.dtype.kind not in "iufb":
            return
        low, high = (finite.min().item(), finite.max().item()) if finite.size else (0, 0)
        self.low = low if self.low is None else min(self.low, low)
        self.high = high if self.high is None else max(self.high, high)

    def narrowed(self) -> np.dtype[Any] | None:
        """The narrowest dtype that holds every value; floats become float32 where their span allows."""
        if self.dtype is None or self.low is None or self.dtype.kind not in "iuf":
            return self.dtype
        if self.dtype.kind == "f":
            fits = max(abs(self.low), abs(self.high)) <= np.finfo(np.float32).max
            return np.dtype(np.float32) if fits and self.dtype.itemsize > 4 else self.dtype
        for kind in _UNSIGNED if self.low >= 0 else _SIGNED:
            if np.iinfo(kind).min <= self.low and self.high <= np.iinfo(kind).max:
                return np.dtype(kind)
        return self.dtype


@dataclass
class ConversionPlan:
    """What to read and how; `words`, `depths` and `dtypes` are learned on the way.

    Examples
    --------
    >>> ConversionPlan(Path("visits.jsonl")).lines
    True
    """

    path: Path
    rows: int = 65536
    columns: list[str] | None = None
    groups: tuple[str, ...] = ()
    regroup: bool = False
    nulls: tuple[str, Any] = ("refuse", None)
    quiet: bool = True
    words: dict[str, dict[str, int]] = field(default_factory=dict)
    depths: dict[str, int] = field(default_factory=dict)
    dtypes: dict[str, np.dtype[Any]] = field(default_factory=dict)

    @property
    def lines(self) -> bool:
        """JSON lines, not a table."""
        return self.path.suffix.lower() in (".jsonl", ".ndjson", ".json")

    def has_text(self) -> bool:
        """Some column of a table holds strings: its vocabulary is known only after a pass."""
        from varlen.cli.tables import text_columns

        with name_file(self.path):
            return text_columns(self.path)

    def read(self, doing: str) -> Iterator[Joint]:
        """The pieces, once through, with a progress bar that says what is being done."""
        from tqdm import tqdm

        if self.lines:
            from varlen.cli.lines import read_lines

            size = self.path.stat().st_size
            with (
                tqdm(
                    total=size, desc=doing, unit="B", unit_scale=True, leave=False, disable=self.quiet or None
                ) as bar,
                name_file(self.path),
            ):
                yield from read_lines(self, bar.update)
        else:
            from varlen.cli.tables import read_joints

            with name_file(self.path):
                pieces, total = read_joints(self)
            with (
                tqdm(
                    total=total,
                    desc=doing,
                    unit=" rows",
                    unit_scale=True,
                    leave=False,
                    disable=self.quiet or None,
                ) as bar,
                name_file(self.path),
            ):
                for joint, rows in pieces:
                    bar.update(rows)
                    yield joint


def learn_dtypes(plan: ConversionPlan, *, narrow: bool) -> None:
    """One pass: every dtype that holds all pieces of its key, the depths, the vocabularies.

    Examples
    --------
    >>> _ = Path("one.jsonl").write_text('{"t": [1, 300]}')
    >>> plan = ConversionPlan(Path("one.jsonl"))
    >>> learn_dtypes(plan, narrow=True)
    >>> plan.dtypes
    {'t': dtype('uint16')}
    """
    spans: dict[str, ValueRange] = {}
    for joint in plan.read("reading"):
        for name in joint.names:
            spans.setdefault(name, ValueRange()).add(joint.values(name))
    for name, span in spans.items():
        dtype = span.narrowed() if narrow else span.dtype
        if dtype is not None:
            plan.dtypes[name] = dtype


def cast(joint: Joint, dtypes: dict[str, np.dtype[Any]]) -> Joint:
    """The same columns with the dtypes named; the others stay. The spans were learned, so nothing is lost.

    Examples
    --------
    >>> import varlen
    >>> joint = varlen._core.Joint(["a"], [0], [np.array([1, 2])], [])
    >>> cast(joint, {"a": np.dtype("u1")}).values("a")
    array([1, 2], dtype=uint8)
    """
    values = [joint.values(name) for name in joint.names]
    values = [
        array.astype(dtypes.get(name, array.dtype), copy=False)
        for name, array in zip(joint.names, values, strict=True)
    ]
    levels = [joint.level(dim) for dim in range(1, joint.depth + 1)]
    return Joint(joint.names, joint.dims, values, levels, len(joint))
