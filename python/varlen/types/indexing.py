"""Indexing: NumPy's rules on the first axis, ints and slices on ragged ones, anything on the axes below."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import tracing
from varlen._core import RaggedBase
from varlen.arguments import check_step, index_array, number_in, raise_index
from varlen.backends import backend_of
from varlen.backends.values import as_values
from varlen.errors import as_record, index_error
from varlen.ops.support.outputs import ragged_like

if TYPE_CHECKING:
    from varlen.types.ragged import Ragged


subscript = RaggedBase.__getitem__  # that of C, before a tracer is shown another


def get(r: Ragged[Any], key: Any) -> Any:
    """`r[key]`.

    A slice of step 1 shares values, any other choice of sequences copies them.
    """
    kind = type(key)
    if kind is int:
        return row(r, key)
    plain = kind is np.ndarray and key.ndim == 1 and (tracing.is_tracing() or key.dtype.kind in "iub")
    if kind is slice or plain:
        return _take(r, key)
    if kind is list:
        return _take(r, _index(key) if tracing.is_tracing() else index_array(key))
    if isinstance(key, tuple):
        return _index_levels(r, key)
    if key is Ellipsis:
        return r[:]
    i = int_index(key)
    return row(r, i) if i is not None else _pick(r, key)


def row(r: Ragged[Any], i: Any) -> Any:
    """Sequence i, sharing memory."""
    values, inner_levels = backend_of(r._values).gather_row(r._values, r._levels, i)
    return ragged_like(r, values, inner_levels) if inner_levels else values


def _pick(r: Ragged[Any], key: object) -> Ragged[Any]:
    """The sequences of a slice, a mask or integers."""
    return _take(r, key if isinstance(key, slice) else _index(key))


def _index(key: object) -> Any:
    return tracing.tensors.as_key(key) if tracing.is_traced(key) else index_array(key)


def _take(r: Ragged[Any], index: slice | np.ndarray[Any, np.dtype]) -> Ragged[Any]:
    result: Ragged[Any] = ragged_like(r, *backend_of(r._values).gather(r._values, r._levels, index))
    return result


def _window(r: Ragged[Any], window: slice, index: object = None) -> Ragged[Any]:
    """A slice of every sequence, or of those of an index."""
    parts = backend_of(r._values).gather_window(r._values, r._levels, window, index)
    result: Ragged[Any] = ragged_like(r, *parts)
    return result


def _index_levels(r: Ragged[Any], key: tuple[Any, ...]) -> Any:
    if len(key) == 2 and type(key[0]) is slice and type(key[1]) is slice and key[0] == slice(None):
        return _window(r, key[1])
    keys = _expand_ellipsis(key, r.ndim)
    i = int_index(keys[0])
    if i is not None:
        result = row(r, i)
        return _index_content(result, keys[1:]) if len(keys) > 1 else result
    if len(keys) == 1:
        return r[keys[0]]
    if _is_all(keys[0]):
        return _inner(r, keys[1:])
    if len(keys) == 2 and isinstance(keys[1], slice) and not _is_view(keys[0]):
        index = keys[0] if isinstance(keys[0], slice) else _index(keys[0])
        return _window(r, keys[1], index)  # what the window leaves out is not copied
    return _inner(_pick(r, keys[0]), keys[1:])


def _inner(r: Ragged[Any], keys: tuple[Any, ...]) -> Any:
    """Axis 1 and those below it, for every sequence of r."""
    if all(_is_all(key) for key in keys):
        return r
    first, inner_keys = keys[0], keys[1:]
    all_rows = (slice(None), *inner_keys)
    position = int_index(first)
    if position is not None:
        values, rest = backend_of(r._values).gather_column(r._values, r._levels, position)
        content = ragged_like(r, values, rest) if rest else values
        return _index_content(content, all_rows) if inner_keys else content
    if not isinstance(first, slice):
        raise index_error("", f"a ragged axis takes an int or a slice, got {type(first).__name__}")
    if not _is_all(first):
        r = _window(r, first)
    if all(_is_all(key) for key in inner_keys):
        return r
    # Below axis 1 lies a container or an array of its own, whose first axis is that of the rows of axis 1.
    outer, inner = r.levels[0], r.levels[1:]
    content = ragged_like(r, r.values, inner) if inner else r.values
    content = _index_content(content, all_rows)
    if tracing.holds_surely(content.shape[0] != outer.total):
        raise index_error("", "the indices below the ragged axis must keep its rows in place")
    if inner and hasattr(content, "levels"):
        return ragged_like(r, content.values, (outer, *content.levels))
    return ragged_like(r, as_values(content), (outer,))


def _index_content(content: Any, keys: tuple[Any, ...]) -> Any:
    """The content below the first axis, at these keys; errors of an array's library become records."""
    try:
        return content[keys]
    except (IndexError, ValueError) as error:
        if isinstance(content, RaggedBase) or tracing.is_tracing():
            raise
        for size, key in zip(content.shape, keys, strict=False):
            if isinstance(key, slice):
                check_step(key)
            i = None if isinstance(key, slice) else int_index(key)
            if i is not None and not -size <= i < size:
                text = f"index {i} is out of range for an axis of size {size}"
                raise index_error("", text, number=i) from None
        raise as_record(error, type(error)) from None


def _expand_ellipsis(key: tuple[Any, ...], ndim: int) -> tuple[Any, ...]:
    """The key with its Ellipsis written out; never empty."""
    dots = [k for k, item in enumerate(key) if item is Ellipsis]
    if any(item is None for item in key):
        raise index_error("", "new axes (None) cannot stand between ragged axes; put them after the last one")
    if len(dots) > 1:
        raise index_error("", "an index can only have a single ellipsis ('...')")
    if len(key) - len(dots) > ndim:
        raise index_error(
            "", f"too many indices: there are {ndim} axes, but {len(key) - len(dots)} were indexed"
        )
    if dots:
        fill = (slice(None),) * (ndim - len(key) + 1)
        key = (*key[: dots[0]], *fill, *key[dots[0] + 1 :])
    return key or (slice(None),)


def _is_all(key: object) -> bool:
    return isinstance(key, slice) and key.start in (None, 0) and key.stop is None and key.step in (None, 1)


def _is_view(key: object) -> bool:
    return isinstance(key, slice) and key.step in (None, 1)


def int_index(key: Any) -> int | None:
    """The integer that a key is, None for slices and arrays."""
    if type(key) is int:
        return key
    if isinstance(key, (bool, np.bool_)):
        raise_index(key)
    if isinstance(key, (slice, list, range)):
        return None
    if hasattr(key, "dtype"):
        if tracing.is_tracing():
            number: int | None = tracing.tensors.int_in(key)
            return number
        return operator.index(number_in(key)) if key.ndim == 0 and "int" in str(key.dtype) else None
    try:
        return operator.index(key)
    except TypeError:
        return None
