"""Names that other libraries use for what has another name here: reading one names the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

# What awkward, TensorFlow, torch, pandas and NumPy call it, and what to use.
RAGGED = {
    "T": ".to_dense().T",
    "apply": "varlen.vmap(f)(r), or functions of NumPy and torch on r",
    "bounding_shape": ".shape and .lengths.max()",
    "cat": "varlen.concatenate()",
    "clip": "numpy.clip(r, low, high)",
    "col_offsets": ".offsets",
    "data_ptr": ".values.data_ptr()",
    "dot": ".values",
    "dropna": "r[~numpy.isnan(r)]",
    "expand": ".broadcast_rows() or .tile()",
    "explode": ".values and .row_ids",
    "fields": "print(r) or .shape",
    "fill": "r[:] = x",
    "fillna": "numpy.nan_to_num(r)",
    "filter": "r[mask], with a Ragged of bools of the same lengths, or r[r.lengths > 1]",
    "flat": ".values",
    "flat_values": ".values",
    "from_lengths": "Ragged(values, lengths)",
    "from_lists": "from_list()",
    "from_padded": "from_dense(), or Padded.to_ragged()",
    "from_row_lengths": "Ragged(values, lengths)",
    "from_row_splits": "from_offsets()",
    "from_value_rowids": "from_row_ids()",
    "groupby": "from_row_ids()",
    "head": "r[:n]",
    "iloc": "r[...]",
    "indptr": ".offsets",
    "is_contiguous": ".values.is_contiguous()",
    "isin": "numpy.isin(r, numbers)",
    "isna": "numpy.isnan(r)",
    "isnan": "numpy.isnan(r)",
    "isnull": "numpy.isnan(r)",
    "item": ".values.item()",
    "layout": ".values and .levels",
    "loc": "r[...]",
    "map": "varlen.vmap(f)(r), or functions of NumPy and torch on r",
    "median": "numpy.median(r, axis=1)",
    "nelement": ".numel()",
    "new_empty": ".values.new_empty()",
    "new_full": ".values.new_full()",
    "new_ones": ".values.new_ones()",
    "new_zeros": ".values.new_zeros()",
    "nonzero": "numpy.nonzero(r)",
    "nrows": "len(r)",
    "num": ".lengths",
    "nunique": "r.unique().lengths",
    "pad": ".to_dense() or .to_padded()",
    "pad_none": ".to_dense(fill=...)",
    "permute": "r.values and .levels, or .to_dense()",
    "quantile": "numpy.quantile(r, q, axis=1)",
    "ravel": ".values",
    "repeat": "numpy.repeat(r, k, axis=1)",
    "rolling": ".sliding_window()",
    "round": "numpy.round(r, decimals)",
    "row_lengths": ".lengths",
    "row_splits": ".offsets",
    "rows": "list(r)",
    "sample": "r[rng.choice(len(r), k)]",
    "segment_ids": ".row_ids",
    "seqlens": ".lengths",
    "show": "print(r)",
    "shuffle": "r[rng.permutation(len(r))]",
    "squeeze": ".drop_level()",
    "storage": ".values",
    "tail": "r[-n:]",
    "take": "r[indices] or .gather()",
    "to_padded_tensor": ".to_dense(fill=...)",
    "to_tensor": ".to_dense(fill=...)",
    "to_torch": ".torch()",
    "type": ".to(dtype)",
    "value_counts": ".describe() or numpy.unique(r.values, return_counts=True)",
    "value_rowids": ".row_ids",
    "view": ".reshape()",
    "where": "numpy.where(mask, r, other)",
}
# Of a Padded and a Data, and of a Packed.
BLOCK = {"to_numpy": ".numpy()", "to_torch": ".torch()"}
PACKED = BLOCK | {"to_list": ".tolist()"}
BATCH = {
    "numpy": "varlen.data.Dataset(...).batch(rows, framework='numpy')",
    "to_numpy": "varlen.data.Dataset(...).batch(rows, framework='numpy')",
    "to_torch": "varlen.data.Dataset(...).batch(rows, framework='torch')",
    "tolist": "batch[key].tolist(), or .to_arrow() and its to_pylist()",
    "to_list": "batch[key].tolist(), or .to_arrow() and its to_pylist()",
    "torch": "varlen.data.Dataset(...).batch(rows, framework='torch')",
}
JOINT = {
    "columns": ".keys()",
    "dtypes": ".schema",
    "from_dict": "JointNestedRaggedTensorDict(columns)",
    "from_list": "JointNestedRaggedTensorDict(rows)",
    "from_pylist": "JointNestedRaggedTensorDict(rows)",
    "from_records": "JointNestedRaggedTensorDict(rows)",
    "iloc": "J[...]",
    "loc": "J[...] and .rows_of()",
    "num_rows": "len(J)",
    "sample": "varlen.data.Dataset(J).shuffle()",
    "tail": "J[-n:]",
    "to_dict": ".to_list()",
    "to_numpy": "J[key].to_numpy()",
    "to_torch": "varlen.data.Dataset(J).batch(rows, framework='torch')",
    "tolist": ".to_list()",
    "values": "J[key]",
}
DATASET = {
    "add_column": ".with_key()",
    "append": ".concat(), or varlen.io.ShardWriter for a folder",
    "apply": ".map()",
    "assign": ".with_key() and .map()",
    "column_names": ".keys()",
    "columns": ".keys()",
    "concatenate": ".concat()",
    "count": "len(ds)",
    "drop": "keys=[...] in varlen.open(), .batch() and .epoch()",
    "drop_columns": "keys=[...] in varlen.open(), .batch() and .epoch()",
    "dtypes": ".schema",
    "features": ".schema and .fields",
    "from_dict": "varlen.data.Dataset(columns)",
    "from_list": "varlen.data.Dataset(rows)",
    "group_by": ".split(key)",
    "groupby": ".split(key)",
    "iloc": "ds[...]",
    "info": "print(ds) or .describe()",
    "interleave": "varlen.data.Mix",
    "items": ".keys() and ds[key]",
    "iter": ".epoch()",
    "iter_batches": ".epoch()",
    "limit": "ds[:n]",
    "loc": "ds[...] and .rows_of()",
    "merge": ".join()",
    "num_columns": "len(ds.keys())",
    "num_rows": "len(ds)",
    "nunique": "numpy.unique(ds[key])",
    "prefetch": ".epoch(prefetch=2)",
    "remove_columns": "keys=[...] in varlen.open(), .batch() and .epoch()",
    "rename": ".map()",
    "rename_column": ".map()",
    "sample": ".shuffle()",
    "select_columns": "keys=[...] in varlen.open(), .batch() and .epoch()",
    "set_format": ".batch(rows, framework='torch')",
    "shape": "len(ds) and .keys()",
    "shard": "ds[i::n]",
    "skip": "ds[n:]",
    "sort": ".select(numpy.argsort(ds[key]))",
    "sort_values": ".select(numpy.argsort(ds[key]))",
    "tail": "ds[-n:]",
    "take": ".select()",
    "to_dict": "ds[:].to_list()",
    "to_iterable_dataset": "varlen.data.IterableDataset",
    "to_list": "ds[:].to_list()",
    "to_numpy": "ds[key] or .batch()",
    "to_torch": ".batch(rows, framework='torch')",
    "tolist": "ds[:].to_list()",
    "train_test_split": ".split()",
    "union": ".concat()",
    "unique": "numpy.unique(ds[key])",
    "values": "ds[key]",
    "with_columns": ".with_key() and .map()",
    "with_format": ".batch(rows, framework='torch')",
    "zip": ".join() and .with_file()",
}


class Elsewhere:
    """A name that a class does not have; others do not look at it, so their access costs nothing more."""

    __slots__ = ("_name", "_way")

    def __init__(self, name: str, way: str) -> None:
        self._name, self._way = name, way

    def __get__(self, owner: object, kind: type) -> NoReturn:
        text = f"{kind.__name__!r} object has no attribute {self._name!r}; use {self._way}"
        raise AttributeError(text, name=self._name, obj=kind if owner is None else owner)


class OfTensors(Elsewhere):
    """A name that objects of a class have where they hold tensors."""

    __slots__ = ("_find",)

    def __init__(self, name: str, way: str, find: Callable[[Any, str], Any]) -> None:
        super().__init__(name, way)
        self._find = find

    def __get__(self, owner: object, kind: type) -> Any:
        method = None if owner is None else self._find(owner, self._name)
        return super().__get__(owner, kind) if method is None else method


def hint_names(
    kind: type, ways: Mapping[str, str], tensor_finders: Mapping[str, Callable[[Any, str], Any]] | None = None
) -> None:
    """Let a class say what to use in the place of names that it does not have, or has for tensors alone."""
    finders = tensor_finders or {}
    for name, way in ways.items():
        if not hasattr(kind, name):
            hint = OfTensors(name, way, finders[name]) if name in finders else Elsewhere(name, way)
            setattr(kind, name, hint)
    own_names: Any = kind.__dir__

    def list_names(self: Any) -> list[str]:
        return [name for name in own_names(self) if name not in ways or hasattr(self, name)]

    list_names.__name__, list_names.__qualname__ = "__dir__", f"{kind.__qualname__}.__dir__"
    list_names.__module__ = kind.__module__
    kind.__dir__ = list_names  # type: ignore[method-assign, assignment]
