"""Conversions around a layer: of X to the container that it takes, and of its result back.

Each function returns the converted X and a function for the way back, which takes results and gradients
alike. They share levels and the small arrays of a Padded wherever lengths stay the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from varlen import ops
from varlen._core import Level
from varlen.arguments import scalar_error
from varlen.backends import backend_of
from varlen.backends.values import as_values, is_array
from varlen.errors import type_error, value_error
from varlen.transforms import fields as tuples
from varlen.transforms.kinds import expect, kind, kind_error
from varlen.types import Padded, Ragged

ndarray = np.ndarray

Conversion = tuple[Any, Callable[[Any], Any]]

_make_ragged = Ragged._make


def as_array(X: Any, pad: int = 0) -> Conversion:
    """The values of a Ragged, the data of a Padded, a list's arrays end to end, or the array itself."""
    if isinstance(X, Ragged):
        return X._values, partial(_wrap_ragged, X)
    if isinstance(X, Padded):
        return X._data, partial(_wrap_padded, X)
    if isinstance(X, (list, tuple)):
        flat = ops.flatten(X, pad=pad)
        return flat, partial(_cut_rows, type(X) is tuple, Level(list(map(len, X))), pad, len(flat))
    if is_array(X):
        return X, _identity
    raise kind_error(X, expected="a Ragged, a Padded, a list of arrays or an array")


def as_array2d(X: Any, pad: int = 0) -> Conversion:
    """The result of `as_array` as a table: an axis of rows, and all trailing axes in one.

    A result as wide as the table gets the trailing axes back.
    """
    values, leave = as_array(X, pad)
    if values.ndim == 0:
        raise scalar_error("X")
    n_axes = 2 if isinstance(X, Padded) else 1
    table = values.reshape(math.prod(values.shape[:n_axes]), math.prod(values.shape[n_axes:]))
    return table, partial(_from_array2d, tuple(values.shape), n_axes, leave)


def as_padded(X: Any) -> Conversion:
    """A Padded of the sequences; an array (steps, columns, ...) is one of columns equally long."""
    if isinstance(X, Padded):
        return X, partial(expect, Padded)
    if isinstance(X, Ragged):
        return innermost(X).to_padded(), partial(_ragged_of_padded, X)
    if tuples.is_four(X):
        way: Conversion = tuples.four_as_padded(X)
        return way
    if isinstance(X, (list, tuple)):
        return ops.list2padded(list(X)), partial(_list_of_padded, type(X) is tuple)
    if is_array(X):
        if X.ndim < 2:
            raise value_error("X", f"expected an array (steps, columns, ...), got shape {tuple(X.shape)}")
        steps, columns = X.shape[:2]
        fields = [columns] * steps, [steps] * columns, np.arange(columns)
        return Padded(X, *(np.array(field, np.int64) for field in fields)), _array_of_padded
    raise kind_error(X, expected="a Ragged, a Padded, a list of arrays or an array (steps, columns, ...)")


def as_ragged(X: Any) -> Conversion:
    """A Ragged of the sequences."""
    if isinstance(X, Ragged):
        return X, partial(_ragged_of_ragged, X)
    if isinstance(X, Padded):
        return X.to_ragged(), partial(_padded_of_ragged, X)
    if tuples.is_pair(X):
        way: Conversion = tuples.pair_as_ragged(X)
        return way
    if isinstance(X, (list, tuple)):
        return list_to_ragged(X), partial(_list_of_ragged, type(X) is tuple)
    raise _no_lengths(X)


def as_list(X: Any) -> Conversion:
    """A list with an array for each sequence, those of the innermost level of a Ragged."""
    if isinstance(X, list):
        return X, partial(expect, list)
    if isinstance(X, tuple):
        return list(X), partial(_list_of_list, True)
    if isinstance(X, Ragged):
        return ops.ragged2list(innermost(X)), partial(_ragged_of_list, X)
    if isinstance(X, Padded):
        return X.to_list(), partial(_padded_of_list, X)
    raise _no_lengths(X)


def as_laid_out(d: Any, y: Any) -> Any:
    """A gradient that holds the same sequences as y, laid out as y is."""
    if type(y) is ndarray and d.shape == y.shape:
        return d
    if isinstance(y, Padded):
        return laid_out(d, y) if isinstance(d, Padded) else d
    if isinstance(y, Ragged):
        return y._make(d.values, y.levels)
    if is_array(y) and tuple(d.shape) != tuple(y.shape):
        return d.reshape(tuple(y.shape))
    return d


def laid_out(p: Padded[Any], like: Padded[Any]) -> Padded[Any]:
    """The same sequences in the columns of another Padded, and with as many steps."""
    if p.shape[:2] == like.shape[:2] and all(map(np.array_equal, p._fields, like._fields)):
        return p._make(p._data, *like._fields)
    block = p.to_ragged()[like.indices].to_padded(ties="stable").data
    missing = like.shape[0] - len(block)
    if missing > 0:
        block = ops.flatten([block, backend_of(block).zeros(block, (missing, *block.shape[1:]))])
    return p._make(block, *like._fields)


def innermost(r: Ragged[Any]) -> Ragged[Any]:
    """The sequences of the innermost level, without those above."""
    return r if len(r._levels) == 1 else r._make(r._values, r._levels[-1:])


def list_to_ragged(X: Any) -> Ragged[Any]:
    """Arrays of a list or tuple end to end."""
    values, level = ops.flatten(X), Level(list(map(len, X)))
    if level.total != len(values):  # rows of no width beside others: this says which
        return ops.list2ragged(list(X))
    return _make_ragged(values, (level,))


def as_given(r: Ragged[Any], as_tuple: bool) -> Any:
    """The sequences of a Ragged as a list, or as a tuple."""
    items = ops.ragged2list(r)
    return tuple(items) if as_tuple else items


def _identity(y: Any) -> Any:
    return y


def _wrap_ragged(X: Ragged[Any], y: Any) -> Ragged[Any]:
    if type(y) is not ndarray or y.ndim == 0 or len(y) != len(X._values):
        y = _rows(y, (X._values.shape[0],))
    return X._make(as_values(y, "Y"), X._levels)


def _wrap_padded(X: Padded[Any], y: Any) -> Padded[Any]:
    return X._make(as_values(_rows(y, tuple(X._data.shape[:2])), "Y"), *X._fields)


def _cut_rows(as_tuple: bool, level: Level, pad: int, rows: int, y: Any) -> Any:
    items = ops.unflatten(_rows(y, (rows,)), level, pad)
    return tuple(items) if as_tuple else items


def _rows(y: Any, shape: tuple[int, ...]) -> Any:
    """The result of the layer, which has to have as many rows as the container."""
    if not is_array(y):
        raise type_error("", f"the layer took an array, but returned a {kind(y)}")
    if tuple(y.shape[: len(shape)]) != shape:
        raise value_error("", f"the layer took {shape} rows, but returned {tuple(y.shape[: len(shape)])}")
    return y


def _from_array2d(shape: tuple[int, ...], n_axes: int, leave: Callable[[Any], Any], y: Any) -> Any:
    rows = math.prod(shape[:n_axes])
    y = _rows(y, (rows,))
    as_wide = y.ndim == 2 and y.shape[1] == math.prod(shape[n_axes:])
    return leave(y.reshape(shape if as_wide else (*shape[:n_axes], *y.shape[1:])))


def _ragged_of_padded(X: Ragged[Any], y: Any) -> Ragged[Any]:
    return _with_sequences(X, expect(Padded, y).to_ragged())


def _list_of_padded(as_tuple: bool, y: Any) -> Any:
    items = expect(Padded, y).to_list()
    return tuple(items) if as_tuple else items


def _array_of_padded(y: Any) -> Any:
    steps, columns = expect(Padded, y).shape[:2]
    if (y.lengths != steps).any() or (y.indices != np.arange(columns)).any():
        raise value_error(
            "", "the layer changed the order or the lengths of columns, which an array cannot express"
        )
    return y.data


def _ragged_of_ragged(X: Ragged[Any], y: Any) -> Ragged[Any]:
    y = expect(Ragged, y)
    levels = tuple(a if a == b else b for a, b in zip(X._levels, y._levels, strict=False))
    result: Ragged[Any] = y._make(y._values, (*levels, *y._levels[len(levels) :]))
    return result


def _padded_of_ragged(X: Padded[Any], y: Any) -> Padded[Any]:
    result: Padded[Any] = expect(Ragged, y).to_padded()
    lengths = y.levels[0].lengths
    if len(lengths) == len(X) and np.array_equal(lengths[X.indices], X.lengths):
        return laid_out(result, X)
    return result


def _list_of_ragged(as_tuple: bool, y: Any) -> Any:
    return as_given(expect(Ragged, y), as_tuple)


def _list_of_list(as_tuple: bool, y: Any) -> Any:
    return tuple(expect(list, y)) if as_tuple else expect(list, y)


def _ragged_of_list(X: Ragged[Any], y: Any) -> Ragged[Any]:
    if not expect(list, y) and len(X._levels[-1]) == 0:
        return X
    return _with_sequences(X, list_to_ragged(y))


def _padded_of_list(X: Padded[Any], y: Any) -> Padded[Any]:
    return X if not expect(list, y) and len(X) == 0 else _padded_of_ragged(X, list_to_ragged(y))


def _with_sequences(X: Ragged[Any], y: Ragged[Any]) -> Ragged[Any]:
    """X with the sequences of y in the place of its innermost ones."""
    old, new = X._levels[-1], y._levels[0]
    if len(X._levels) > 1 and len(new) != len(old):
        raise value_error(
            "", f"the layer took {len(old)} sequences of level {len(X._levels) - 1}, but returned {len(new)}"
        )
    return X._make(y._values, (*X._levels[:-1], old if new == old else new))


def _no_lengths(X: Any) -> TypeError:
    if is_array(X):
        return type_error(
            "X",
            f"a plain {kind(X)} does not say where its sequences end",
            "pass a Ragged, a Padded, or a list",
        )
    return kind_error(X)
