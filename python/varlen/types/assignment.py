"""Assignment: `r[key] = x` writes into the values, wherever `r[key]` reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import tracing
from varlen._core import RaggedBase
from varlen.backends import backend_of
from varlen.backends.numeric import is_bool, is_complex, is_float
from varlen.backends.values import is_tensor, like, readable, row_as
from varlen.errors import dtype_error, index_error, type_error, value_error
from varlen.levels import check_nest, same_levels
from varlen.ops.gather import boolean_mask
from varlen.ops.support.inputs import same_kind
from varlen.ops.support.operands import operand
from varlen.types import indexing

if TYPE_CHECKING:
    from varlen.types.ragged import Ragged

_FIXED = "the lengths of a Ragged stay; vl.concatenate makes another"


def put(r: Ragged[Any], key: Any, value: Any) -> None:
    """`r[key] = value`, in place, if the values may be written."""
    _writable(r._values)
    if isinstance(key, RaggedBase) and is_bool(key._values) and len(key._levels) == len(r._levels):
        check_nest(key._levels, r._levels, "mask")
        nest = (r._levels, boolean_mask(r, key)._levels) if isinstance(value, RaggedBase) else ()
        marks = _index_of(key._values, r._values)
        if nest and same_levels(value._levels, nest[0]):
            value = value._values[_index_of(key._values, value._values)]
        elif nest:
            check_nest(value._levels, nest[1], "value")
            value = value._values
        _write(r._values, marks, value, None)
        return
    if type(key) is int or (isinstance(key, slice) and key.step in (None, 1)):
        part = r[key]  # it shares memory
        if isinstance(part, RaggedBase):
            _write(part._values, ..., value, part)
        else:
            _write(part, ..., value, None)
        return
    keys = indexing.keys_of(key, r.ndim)
    if any(item is None for item in keys):
        raise index_error("", "new axes (None) have no place in an assignment")
    if len(keys) > 1 and indexing.is_view(keys[0]) and not indexing.is_all(keys[0]):
        put(r[keys[0]], (slice(None), *keys[1:]), value)  # it shares memory
        return
    depth = len(r._levels) + 1
    places = _places_of(r, keys[:depth])
    row_keys = keys[depth:]
    model = None
    if isinstance(places, RaggedBase):
        key = (slice(None), *row_keys)
        row = r._values[:0][key] if row_keys else r._values[:0]
        model, places = r._make(row, places._levels), places._values
    where = like(places, r._values) if isinstance(places, np.ndarray) else int(places)
    _write(r._values, (where, *row_keys) if row_keys else where, value, model)


def put_traced(r: Ragged[Any], key: Any, value: Any) -> None:
    """`r[key] = value` in a graph, which checks the numbers when it runs."""
    if isinstance(key, RaggedBase) and is_bool(key._values):
        put_marks(r, key, value)
        return
    values, depth = r._values, len(r._levels) + 1
    keys = indexing.keys_of(key, r.ndim)
    if any(item is None for item in keys):
        raise index_error("", "new axes (None) have no place in an assignment")
    numbers = same_kind(r, tracing.tensors.arange(r._levels[-1].total))
    places = numbers[keys[:depth] if len(keys) > 1 else keys[0]]
    where = (places._values if isinstance(places, RaggedBase) else places, *keys[depth:])
    place, backend = values[where], backend_of(values)
    if isinstance(value, (bool, int, float)):
        rows = backend.row_as(value, values.reshape(-1), "value").reshape(())
    elif isinstance(places, RaggedBase):
        rows = operand(value, same_kind(places, place), place.ndim - 1)
    elif isinstance(value, RaggedBase):
        raise type_error("value", "a Ragged in the place of an array", "give an array of its shape")
    else:
        rows = backend.as_array(value, "value")
    tracing.tensors.write_rows(values, where, backend.cast(rows, values.dtype, "value"), place)


def put_marks(r: Ragged[Any], mask: Any, value: Any) -> None:
    """`r[mask] = value` in a graph: a number, or sequences that nest like r."""
    check_nest(mask._levels, r._levels, "mask")
    values, other = r._values, value
    if isinstance(value, RaggedBase):
        check_nest(value._levels, r._levels, "value")
        other = value._values
        if other.dtype != values.dtype or other.shape[1:] != values.shape[1:]:
            raise value_error("value", f"holds {other.dtype} {other.shape}, r {values.dtype} {values.shape}")
    else:
        other = backend_of(values).row_as(value, values, "value")
    marks = mask._values.reshape((-1, *mask._values.shape[1:], *(1,) * (values.ndim - mask._values.ndim)))
    values.copy_(values.where(marks.logical_not(), other))


def _places_of(r: Ragged[Any], keys: tuple[Any, ...]) -> Any:
    """The numbers of rows in the whole that keys of sequences pick, nested as those rows would be."""
    if len(keys) == 2 == len(r._levels) + 1 and indexing.is_all(keys[0]):
        i = indexing.int_index(keys[1])
        if i is not None and abs(i) <= r.total:
            level, count = r._levels[0], len(r)
            return indexing.inner_places(np.full(count, i), level, np.arange(count))
    numbers: Any = r._make(np.arange(r.total), r._levels)
    return numbers[keys if len(keys) > 1 else keys[0]]


def _index_of(marks: Any, values: Any) -> Any:
    """Marks as what the values take as an index."""
    if is_tensor(values):
        return marks.to(values.device) if is_tensor(marks) else like(marks, values)
    return readable(marks) if isinstance(values, np.ndarray) else marks


def _writable(values: Any) -> None:
    """Refuse values that nobody may write."""
    if isinstance(values, np.ndarray):
        if not values.flags.writeable:
            raise value_error("", "the values are read-only", "r.copy() has values of its own")
    elif is_tensor(values) and values.requires_grad and values.is_leaf:
        from varlen.backends.torch.followers import is_followed

        if is_followed(values):
            raise value_error(
                "",
                "the values are a leaf that requires a gradient, which nobody may write in place",
                "use vl.where(mask, x, r), r.clone(), or torch.no_grad()",
            )


def _write(target: Any, where: Any, value: Any, model: Any) -> None:
    """Numbers to places of the target; a model is what stands there as sequences, whose rows they match."""
    rows = _rows_of(value, target, model)
    shape = tuple(rows.shape)
    if not shape:
        target[where] = rows
        return
    place = target[where]
    while len(shape) > place.ndim and shape[:1] == (1,):
        shape = shape[1:]
    pairs = list(zip(shape[::-1], tuple(place.shape)[::-1], strict=False))
    if len(shape) > place.ndim or any(a not in (1, b) for a, b in pairs):
        raise value_error("value", f"has shape {shape}, its place {tuple(place.shape)}", _FIXED)
    rows = rows.reshape(shape)
    if is_tensor(target) and rows.untyped_storage().data_ptr() == target.untyped_storage().data_ptr():
        rows = rows.clone()
    target[where] = rows


def _rows_of(value: Any, target: Any, model: Any) -> Any:
    """A value as what broadcasts against its place, of the kind and dtype of the values and exact."""
    is_list = isinstance(value, list) and bool(value) and isinstance(value[0], (list, tuple, np.ndarray))
    if is_list and model is not None:
        value = type(model).from_list(value)
    if isinstance(value, RaggedBase):
        if model is None:
            raise type_error("value", "a Ragged in the place of an array", "give an array of its shape")
        value = operand(value, model, max(model._values.ndim, value._values.ndim) - 1)
    elif np.ndim(value) == 0 and not is_tensor(value):
        return row_as(value, target.reshape(-1), "value").reshape(())
    elif model is not None:
        value = operand(value, model, model._values.ndim - 1)
    rows: Any = value
    if is_tensor(target) and not is_tensor(value):
        from varlen.backends.torch.cast import exactly

        rows = exactly(value)
    elif not hasattr(value, "dtype"):
        rows = np.asarray(value)
    return _exact(rows, target)


def _exact(rows: Any, target: Any) -> Any:
    """Numbers in the dtype of the values, which has to hold them; floats may round."""
    if rows.dtype == target.dtype:
        return rows
    kind = getattr(rows.dtype, "kind", "")
    if (kind in ("U", "S", "M", "m", "O") and kind != target.dtype.kind) or (
        is_complex(rows) and not is_complex(target)
    ):
        raise dtype_error("value", f"numbers that {target.dtype} holds", rows.dtype)
    with np.errstate(all="ignore"):
        result = backend_of(target).to_dtype(rows, target.dtype)
    if is_float(rows) and is_float(target):
        return result
    bad = result != rows
    if bool(bad.any()):
        raise value_error("value", f"{rows[bad].reshape(-1)[0]} does not fit {target.dtype}", "use astype")
    return result
