"""What a batch is to look like: checked once, then used for many batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from varlen.arguments import as_int, as_list

if TYPE_CHECKING:
    from varlen.data.memory import ColumnLike

__all__ = ["BatchOptions"]

Side = Literal["left", "right"]
Window = Literal["from_start", "to_end", "random", "balanced_random"]
WINDOWS = ("from_start", "to_end", "random", "balanced_random")

_CHOICES: dict[str, tuple[Any, ...]] = {
    "window": (None, *WINDOWS),
    "spread": ("first", "repeat", "nan"),
    "padding_side": ("left", "right"),
    "truncate": ("left", "right"),
    "layout": ("padded", "ragged"),
    "framework": ("numpy", "torch"),
}


class BatchKeywords(TypedDict, total=False):
    """The keywords of `BatchOptions`, for functions that pass them on."""

    keys: Sequence[str] | None
    max_len: int | Sequence[int | None] | None
    window: Window | None
    flatten: bool
    spread: Literal["first", "repeat", "nan"]
    padding_side: Side
    truncate: Side
    fill: Any
    dtype: Any
    nan: Any
    pad_to: int | Sequence[int | None] | None
    pad_to_multiple: int | Sequence[int | None] | None
    prefix: Any
    suffix: Any
    masks: bool
    layout: Literal["padded", "ragged"]
    lengths: bool
    positions: bool
    parts: bool
    windows: bool
    cu_seqlens: bool
    max_bytes: int | None
    framework: Literal["numpy", "torch"]


@dataclass(frozen=True, eq=False)
class BatchOptions:
    """How rows become a batch; `Dataset.batch` says what each option does.

    Examples
    --------
    >>> BatchOptions(max_len=512, window="random").padding_side
    'right'
    """

    keys: Sequence[str] | None = None
    max_len: int | Sequence[int | None] | None = None
    window: Window | None = None
    flatten: bool = False
    spread: Literal["first", "repeat", "nan"] = "first"
    padding_side: Side = "right"
    truncate: Side = "right"
    fill: Any = None
    dtype: Any = None
    nan: Any = None
    pad_to: int | Sequence[int | None] | None = None
    pad_to_multiple: int | Sequence[int | None] | None = None
    prefix: Any = None
    suffix: Any = None
    masks: bool = True
    layout: Literal["padded", "ragged"] = "padded"
    lengths: bool = False
    positions: bool = False
    parts: bool = False
    windows: bool = False
    cu_seqlens: bool = True
    max_bytes: int | None = None
    framework: Literal["numpy", "torch"] = "numpy"

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            given = getattr(self, name)
            if given not in allowed:
                names = ", ".join(repr(choice) for choice in allowed)
                raise ValueError(f"{name}: expected one of {names}; got {given!r}")
        for name in ("max_len", "pad_to", "pad_to_multiple"):
            per_axis(name, getattr(self, name), 1 if name == "pad_to_multiple" else 0)
        if self.max_bytes is not None:
            as_int(self.max_bytes, "max_bytes")
        if self.window is not None and self.max_len is None:
            raise ValueError(f"window: {self.window!r} needs max_len")
        if self.layout == "ragged":
            for name in ("pad_to", "pad_to_multiple"):
                if getattr(self, name) is not None:
                    raise ValueError(f"{name}: a ragged batch has no padding; take layout='padded'")
            if len(per_axis("max_len", self.max_len, 0)) > 1:
                raise ValueError("max_len: a ragged batch cuts its first axis only; give one number")

    @property
    def is_random(self) -> bool:
        """True where a seed matters."""
        return self.window in ("random", "balanced_random")

    @property
    def has_edges(self) -> bool:
        """True where something is joined before or after the windows."""
        return self.prefix is not None or self.suffix is not None

    def core_options(self) -> dict[str, Any]:
        """The options as the core takes them."""
        lens = per_axis("max_len", self.max_len, 0)
        window = self.window or ("from_start" if self.truncate == "right" else "to_end")
        out: dict[str, Any] = {
            "flatten": bool(self.flatten),
            "spread": self.spread,
            "padding_side": "left" if self.padding_side == "left" else "right",
            "truncate": "left" if self.truncate == "left" else "right",
            "draw": WINDOWS.index(window),
            "ragged": self.layout == "ragged",
            "masks": bool(self.masks),
            "lengths": bool(self.lengths),
            "positions": bool(self.positions),
            "parts": bool(self.parts),
            "windows": bool(self.windows),
            "cu_seqlens": bool(self.cu_seqlens),
            "max_len": lens[0] if lens else -1,
            "inner_max": lens[1:],
            "pad_to": per_axis("pad_to", self.pad_to, 0),
            "multiple": per_axis("pad_to_multiple", self.pad_to_multiple, 1),
        }
        if self.max_bytes is not None:
            out["max_bytes"] = int(self.max_bytes)
        return out

    def changed(self, **options: Any) -> BatchOptions:
        """The same with some options replaced."""
        return BatchOptions(**{**{f.name: getattr(self, f.name) for f in fields(self)}, **options})


def per_axis(name: str, given: int | Sequence[int | None] | None, least: int) -> list[int]:
    """A number, or one for each ragged axis, as a list with -1 for none."""
    if given is None:
        return []
    axes = given if isinstance(given, (tuple, list)) else [given]
    return [-1 if item is None else as_int(item, name, least) for item in axes]


def choose(columns: Mapping[str, ColumnLike], keys: Sequence[str] | None) -> dict[str, ColumnLike]:
    """The columns of a batch, in the order of `keys`."""
    if keys is None:
        return dict(columns)
    chosen = as_list(keys, "keys", "keys")
    for key in chosen:
        if key not in columns:
            raise KeyError(f"keys: {key!r} is not one of {sorted(columns)}")
    return {key: columns[key] for key in chosen}


def for_key(option: str, given: Any, keys: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """An option that is one value for all keys, or a mapping from some keys to theirs."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        for key in given:
            if key not in known:
                raise KeyError(f"{option}: {key!r} is not one of {sorted(known)}")
        return dict(given)
    return dict.fromkeys(keys, given)


def one_row(
    option: str, key: str, trailing: tuple[int, ...], dtype: np.dtype[Any], given: Any
) -> np.ndarray[Any, Any]:
    """One row of a value that the dtype has to hold; zeros where none is given."""
    row = np.zeros((1, *trailing), dtype)
    if given is None:
        return row
    value = np.asarray(given)
    if dtype.kind in "mM" and value.dtype.kind in "iu":  # in the unit of the dtype
        value = value.astype(np.int64).view(dtype)
    try:
        with np.errstate(all="ignore"):
            row[...] = value
    except (ValueError, TypeError, OverflowError) as error:
        raise type(error)(f"{option}: {given!r} for {key!r}: {error}") from None
    lost = (row[0] != value) & ((row[0] == row[0]) | (value == value))
    if dtype.kind == "f" and value.dtype.kind in "iuf":
        lost = np.isinf(row[0]) & ~np.isinf(value)  # rounding is what a float dtype does
    if np.any(lost):
        raise ValueError(f"{option}: {given!r} is no value of {dtype}, the dtype of {key!r} in the batch")
    return row
