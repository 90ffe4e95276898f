"""Rows of tensors taken and put in, and gradients of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core
from varlen._core import is_plain_tensor, on_plain_tensors
from varlen.arguments import as_int
from varlen.backends.numpy.rows import as_rows as rows_of_array
from varlen.backends.torch.autograd import AutogradOp, SavedContext, by_bytes, has_no_name, require_device
from varlen.backends.torch.cast import bits_of, by_width, has_bits_alone, pick
from varlen.backends.torch.memory import fill_row, like, on_host, tensor_of
from varlen.backends.torch.scatter import gather_add
from varlen.errors import type_error, value_error

if TYPE_CHECKING:
    from varlen._core import Level


# Up to so many numbers torch's own lookup and its gradient take half the time of an op of ours; measured.
# Halves are not for it: it adds their gradients in their own precision.
FEW = 1 << 14


def take_rows(x: torch.Tensor, rows: Any, max_bytes: int | None = None) -> torch.Tensor:
    """Some rows, in any order: lookups of one row each."""
    places = rows if isinstance(rows, torch.Tensor) else tensor_of(rows)
    _refuse(places.shape[0], x, max_bytes)
    if x.numel() <= FEW and places.dtype == torch.int64 and _is_plain(x) and _is_plain(places):
        try:
            return pick(x, places)
        except (IndexError, RuntimeError):  # ours says which row
            pass
    return pick(x, places) if x.is_complex() else gather_add(x, places[:, None])


def _is_plain(x: torch.Tensor) -> bool:
    """Whether it lies on the host, and nobody follows it."""
    return bool(is_plain_tensor(x) and on_host(x))


def spans(
    x: torch.Tensor, level: Level, groups: Level, pairs: Any, max_bytes: int | None = None
) -> tuple[torch.Tensor, Level]:
    """The rows of spans of sequences, and the level of the spans."""
    which, inner = _core.span_rows(level, groups, pairs)
    return take_rows(x, which, max_bytes), inner


def _refuse(count: int, x: torch.Tensor, max_bytes: int | None) -> None:
    """Refuse more rows than fit the bytes that the caller allows."""
    size = count * x.shape[1:].numel() * x.element_size()
    if max_bytes is not None and size > as_int(max_bytes, "max_bytes"):
        raise value_error("max_bytes", f"the result takes {size} bytes, over max_bytes={max_bytes}")


def take(x: torch.Tensor, rows: Any) -> torch.Tensor:
    """Some rows, in any order, watched by autograd."""
    places = rows if isinstance(rows, torch.Tensor) else like(rows, x)
    kind = x.device.type
    is_much = kind == "cuda" or (kind == "cpu" and (x.numel() > FEW or x.dtype.itemsize < 4))
    if x.requires_grad and is_much:  # torch would add by atomics on a device, in any order
        return take_rows(x, places)
    if places.ndim == 1 and places.dtype == torch.int64:
        return pick(x, places)
    return by_width(x, lambda rows: rows[places])


def true_places(marks: torch.Tensor) -> torch.Tensor:
    """The places of the bools that are True."""
    return marks.nonzero().reshape(-1)


def _parts(d: torch.Tensor, places: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows that were there, and those that were put in."""
    rows = torch.arange(d.shape[0] - places.shape[0], device=places.device)
    old_rows = rows + torch.searchsorted(places, rows, right=True)
    return take_rows(d, old_rows), take_rows(d, places + torch.arange(places.shape[0], device=places.device))


def _gradient_of_insert(context: SavedContext, d: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return _parts(d, context.rest[0])


_insert: AutogradOp = AutogradOp(
    "insert_rows(Tensor x, Tensor rows, Tensor before) -> Tensor",
    lambda x, rows, places: _core.insert_rows(x, places, rows),
    lambda x, rows, places: x.new_empty((x.shape[0] + rows.shape[0], *x.shape[1:])),
    _gradient_of_insert,
    columns=2,
)


def insert_rows(
    x: torch.Tensor, places: np.ndarray, rows: Any = None, max_bytes: int | None = None
) -> torch.Tensor:
    """New rows, zeros by default, each in front of the row that it names; watched by autograd."""
    shape = (len(places), *x.shape[1:])
    _refuse(len(places) + x.shape[0], x, max_bytes)
    if rows is None:
        rows = x.new_zeros(shape)
    if isinstance(rows, np.ndarray):
        raise type_error("rows", "expected a tensor as X, got ndarray")
    if not isinstance(rows, torch.Tensor):
        new_rows = rows_of_array(rows, "rows")
        rows = tensor_of(fill_row(new_rows, x.dtype, new_rows.shape, "rows"), x.dtype).to(x.device)
    if (rows.dtype, rows.shape) != (x.dtype, shape):
        raise value_error("rows", f"expected {x.dtype}{shape}, got {rows.dtype}{tuple(rows.shape)}")
    if has_no_name(x) and has_no_name(rows):
        new = rows.view(bits_of(rows.dtype))
        return by_bytes(x, lambda old: insert_rows(old, places, new))
    result: torch.Tensor = _insert(require_device(x, "X"), require_device(rows, "rows"), tensor_of(places))
    return result


def remove_rows(d: torch.Tensor, places: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows that were there before `insert_rows`, and those that it put in."""
    return _parts(require_device(d, "dY"), tensor_of(places))


def insert_row(x: torch.Tensor, places: np.ndarray, row: torch.Tensor) -> torch.Tensor:
    """One row (1, ...), in front of each of the rows that are named; watched by autograd."""
    copies = np.full(len(places), len(x))
    return take(torch.cat((x, row)), _core.insert_rows(np.arange(len(x)), places, copies))


def erase(x: torch.Tensor, level: Level, tokens: np.ndarray) -> Any:
    """The rows that equal none of the tokens, and their level; NotImplemented where somebody follows them."""
    result: Any = on_plain_tensors(_core.erase, x, level, tokens)
    return NotImplemented if result is None else result


def compress(x: torch.Tensor, level: Level, marks: np.ndarray) -> Any:
    """The rows that a bool each marks, and their level; NotImplemented where somebody follows them."""
    result: Any = on_plain_tensors(_core.compress, x, level, marks)
    return NotImplemented if result is None else result


def put_rows(x: torch.Tensor, places: Any, rows: torch.Tensor) -> torch.Tensor:
    """A copy of x with its rows `places` replaced; watched by autograd."""
    new_rows = rows.view(bits_of(rows.dtype)) if has_bits_alone(x.dtype) else rows
    return by_width(x, lambda old: old.index_copy(0, like(places, x), new_rows))
