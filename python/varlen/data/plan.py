"""Turn options into the core's batcher, and rows into a batch."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.arguments import as_dtype, as_mapping, over_limit
from varlen.data.batch import Batch
from varlen.data.devices import usable_device
from varlen.data.devices.staged_batch import StagedBatch
from varlen.data.devices.staging import ring_of
from varlen.data.edges import edge_joint
from varlen.data.model_inputs import PACKED_NAMES
from varlen.data.options import (
    BatchOptions,
    fill_row,
    overflow_of_padding,
    padding_rows,
    per_key,
    select_columns,
)
from varlen.data.packing import packed_arrays
from varlen.data.sources.memory import ColumnLike
from varlen.data.tensors import as_small, memory_of_buffer, tensor_dtype, to_tensors, torch_name, writing
from varlen.errors import type_error, value_error
from varlen.io import small_floats
from varlen.io.dtypes import kind_of, small_keys, widen

if TYPE_CHECKING:
    from varlen.backends.values import Indices
    from varlen.io.file import BitColumn


__all__ = []

Array = np.ndarray[tuple[Any, ...], np.dtype]
Arrays = dict[str, Any]
SeedLike = int | np.random.Generator | None

_PARTS = "dim1/part"


class BatchPlan:
    """The options of a batch, resolved for a list of joints, so that a batch is one call of the core.

    lift: every joint is one record, as for samples that are to be put together. bits: of each joint, the keys
    beside it that lie in blocks of bits.
    """

    def __init__(
        self,
        joints: Sequence[_core.Joint],
        labels: Sequence[str],
        columns: Mapping[str, ColumnLike],
        options: BatchOptions,
        *,
        lift: bool = False,
        bits: Sequence[Sequence[BitColumn]] = (),
    ) -> None:
        self.options = options
        values = options.values
        selection = select_columns(columns, values["keys"])
        self.keys = tuple(selection)
        self._user_dtypes = casts = per_key("dtype", values["dtype"], selection, columns)
        model = options.model
        as_tensors = options.tensors or model is not None
        self._dtypes = dtypes = {
            key: _output_dtype(key, column, casts.get(key), as_tensors) for key, column in selection.items()
        }
        joints = [_with_numbers(joint, selection) for joint in joints]
        if model is not None:
            small = [k for k, dtype in dtypes.items() if small_floats.name_of(dtype) and not casts.get(k)]
            dtypes |= dict.fromkeys(small, np.dtype(np.float32))
            dtypes |= {key: model.dtype_before(key, dtypes[key]) for key in dtypes if casts.get(key) is None}
        self._torch_names = {
            key: name for key, dtype in dtypes.items() if (name := small_floats.name_of(dtype))
        }
        # Of 8 bits, which nothing here computes with: float32 up to here, and then torch's.
        self._small_tensors = {
            key: name
            for key, column in selection.items()
            if (name := torch_name(column)) and as_tensors and casts.get(key) is None
            if key not in self._torch_names
        }
        if self._small_tensors and options.device is not None:
            key, name = next(iter(self._small_tensors.items()))
            raise type_error("device", f"{key!r} is {name}, which needs the package ml_dtypes there")
        needs_fill = values["layout"] in ("padded", "packed") or options.has_edges
        fill = values["fill"]
        if model is not None:
            model.check_keys(selection, fill)
            padded = [key for key, column in selection.items() if needs_fill and column.dim > 0]
            model_fills = {key: model.fill_of(key, fill, None) for key in padded}
            fill = {**per_key("fill", fill, {}, columns), **model_fills}
        self._fills = rows = padding_rows(fill, selection, columns, dtypes, needs_fill)
        self._depths = {
            key: min(column.dim, 1 if values["flatten"] else column.dim) for key, column in selection.items()
        }
        axes = max([1, *self._depths.values()])
        for name in ("max_len", "pad_to", "pad_to_multiple_of"):
            if (count := len(options.per_axis(name))) > axes:
                raise value_error(name, f"{count} numbers for {axes} ragged axes")
        self._token_keys = [key for key, column in selection.items() if column.dim > 0]
        nans = _nan_replacements(values["nan"], selection, columns, dtypes)
        _refuse_reserved(selection, nans)
        if options.bin_size is not None:
            _check_packed(selection)
        if options.bin_size is not None or (model is not None and values["layout"] == "ragged"):
            _refuse_nested(self._depths)
        edges = [
            None if value is None else edge_joint(which, value, selection, rows, values["flatten"])
            for which, value in (("prefix", values["prefix"]), ("suffix", values["suffix"]))
        ]
        prefix, suffix = edges
        self._edge_counts = [None if edge is None else len(edge) for edge in edges]
        self.batcher = _core.Batcher(
            list(joints),
            list(labels),
            prefix,
            suffix,
            list(selection),
            [column.dim for column in selection.values()],
            list(rows.values()),
            [nans.get(key) for key in selection],
            {**options.core_options(), "lift": lift},
            [self._fills_of(key, column, values["fill_mode"]) for key, column in selection.items()],
            [list(columns) for columns in bits],
        )

    def _fills_of(self, key: str, column: ColumnLike, fill_mode: str) -> Array | None:
        """The row of slots that `fill_mode` leaves: padding of ids of words, where 0 is one of them."""
        is_nan = fill_mode == "nan" and self._dtypes[key].kind not in "iu"
        return None if column.vocabulary is None or is_nan else self._fills[key]

    def _edge_records(self, rows: Indices, count: int) -> tuple[Any, Any]:
        """The records of prefix and suffix for rows of a dataset of `count` rows; None for one that all
        share.
        """
        prefix, suffix = ((rows if n is not None and n > 1 else None) for n in self._edge_counts)
        for name, n in zip(("prefix", "suffix"), self._edge_counts, strict=True):
            if n is not None and n not in (1, count):
                raise value_error(name, f"has {n} records; one for all, or one for each of {count} rows")
        return prefix, suffix

    def run(
        self,
        rows: Any,
        start: Any = None,
        end: Any = None,
        seed: SeedLike = None,
        epoch: int = 0,
        out: Mapping[str, Any] | None = None,
        counters: Any = None,
        edge_rows: tuple[Any, int] | None = None,
        bins: Any = None,
    ) -> Any:
        """The batch of these rows.

        counters: what random windows know the rows by, where it is not `rows`. edge_rows: rows in the dataset
        and how many it has, where a prefix of as many records has one for each row of it, not of the batch.
        bins: where each bin of a packed batch begins among the rows.
        """
        numbers = rows if counters is None else counters
        options, prefix_rows, suffix_rows = self.options, None, None
        if edge_rows is not None and options.has_edges:
            prefix_rows, suffix_rows = self._edge_records(*edge_rows)
        if options.bin_size is not None and out is not None and not hasattr(out, "grow"):
            raise value_error("out", "a packed batch cannot be written into given arrays; leave it out")
        number = 0
        if options.is_random:
            number, row_counters = draw_seed(seed, rows)
            counters = counters if row_counters is None else row_counters
        if options.device is not None:
            request = rows, start, end, number, epoch, counters, prefix_rows, suffix_rows
            return self._run_on(options.device, request, out)
        buffers, grow = None, getattr(out, "grow", None)
        arguments = rows, start, end, number, epoch, counters, prefix_rows, suffix_rows
        try:
            if out is None or grow is not None:
                result: Arrays = self.batcher(*arguments, None, grow)
            else:
                if not isinstance(out, dict):
                    as_mapping(out, "out", "names to arrays")
                with writing(out):
                    dtypes = self._dtypes
                    buffers = {
                        name: memory_of_buffer(buffer, dtypes.get(name)) for name, buffer in out.items()
                    }
                    result = self.batcher(*arguments, buffers, None)
        except OverflowError as error:
            raise overflow_of_padding(error, options.values) from None
        except ValueError as error:
            raise over_limit(error) from None
        if options.bin_size is not None:
            max_bytes = options.values["max_bytes"]
            result = packed_arrays(
                result, self._token_keys, self._fills, options.bin_size, bins, numbers, max_bytes
            )
        if options.tensors:
            if _PARTS in result and _PARTS not in (buffers or ()):
                result[_PARTS] = result[_PARTS].astype(np.int64)  # torch takes uint8 for a mask
            result = to_tensors(result, self._torch_names)
            for key, name in self._small_tensors.items():
                result[key] = as_small(result[key], name)
        if options.model is not None:
            result = options.model.batch_keywords(result, self._depths, self._user_dtypes)
        return Batch(result)

    def _run_on(self, device: str, request: tuple[Any, ...], out: Any) -> Any:
        """The batch on a device, or in a block of the staging that `out` is."""
        is_staging = hasattr(out, "take")
        framework = self.options.values["framework"] or "torch"
        staging = out if is_staging else ring_of(usable_device(device, framework).number)
        if hasattr(out, "grow"):
            raise type_error("out", "Buffers are memory of the host; the allocator of a device keeps its own")
        try:
            plan = _core.StagedBatch(self.batcher, *request)
        except OverflowError as error:
            raise overflow_of_padding(error, self.options.values) from None
        batch = StagedBatch(plan, staging, device, framework, self._torch_names)
        return batch if is_staging else batch.to(out=out)


def draw_seed(seed: SeedLike, rows: Any) -> tuple[int, Array | None]:
    """64 bits, and what names each window's sequence: its row for a given number, else its place in the
    batch.
    """
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool):
        return int(seed) & 0xFFFF_FFFF_FFFF_FFFF, None
    if seed is None:
        number = int.from_bytes(os.urandom(8), "little")
    elif isinstance(seed, np.random.Generator):
        number = int(seed.integers(0, 2**63))
    else:
        raise type_error(
            "seed", f"expected an int, a numpy.random.Generator or None; got {type(seed).__name__}"
        )
    return number, np.arange(len(rows))


def reserved_names(depth: int) -> list[str]:
    """Names that a batch may hold beside its keys."""
    per_axis = ("mask", "offsets", "cu_seqlens", "max_length", "positions", "lengths", "part")
    return [
        "window/start",
        "window/end",
        *(f"dim{d}/{name}" for d in range(1, depth + 1) for name in per_axis),
    ]


def _refuse_reserved(selection: Mapping[str, object], nans: Mapping[str, object]) -> None:
    masks = {f"{name}/mask": name for name in nans}
    for name in selection:
        if name in masks:
            raise value_error("keys", f"{name!r} is the name of the mask that nan= gives {masks[name]!r}")
        if "/" in name and name in reserved_names(64):
            raise value_error("keys", f"{name!r} is a name that batches reserve")


def _check_packed(selection: Mapping[str, ColumnLike]) -> None:
    """Refuse keys that have no place in a block of bins."""
    for name in selection:
        if name in PACKED_NAMES:
            raise value_error("keys", f"{name!r} is a name that packed batches reserve")
    if not any(column.dim for column in selection.values()):
        raise value_error("layout", "a packed batch needs a key of dim 1 or more")


def _refuse_nested(depths: Mapping[str, int]) -> None:
    for name, depth in depths.items():
        if depth > 1:
            raise value_error("layout", f"{name!r} is of dim {depth}", "give flatten=True, or keys of dim 1")


def _output_dtype(key: str, column: ColumnLike, user_dtype: object, tensors: bool) -> np.dtype:
    """The dtype of a key in the batch."""
    default = tensor_dtype(column) if tensors else column.dtype
    native: np.dtype = default
    if user_dtype is not None:
        native = as_dtype(user_dtype, f"dtype of {key!r}", stand_in=tensors)
    native = native.newbyteorder("=")
    if tensors and column.dtype.kind in "mM" and native == np.int64:
        return column.dtype
    return native


def _with_numbers(joint: _core.Joint, selection: Mapping[str, ColumnLike]) -> _core.Joint:
    """The joint with float32 in place of floats of 8 bits that NumPy has not, which the core moves only."""
    small = {name: dtype for name, dtype in small_keys(joint).items() if name in selection}
    small = {name: dtype for name, dtype in small.items() if joint.values(name).dtype != _core.bfloat16}
    return widen(joint, small)


def _nan_replacements(
    value: object,
    selection: Mapping[str, ColumnLike],
    columns: Mapping[str, ColumnLike],
    dtypes: Mapping[str, np.dtype],
) -> dict[str, Array]:
    """The value that replaces NaN, in the dtype of the output, for each key where NaN is replaced."""
    replacements = per_key("nan", value, selection, columns)
    out = {}
    for key, column in selection.items():
        if replacements.get(key) is None:
            continue
        if kind_of(column.dtype) == "f":
            if column.dtype.itemsize == 1:
                advice = "name other keys in nan="
                raise value_error("nan", f"{key!r} is {column.dtype}, whose NaN is not replaced", advice)
            out[key] = fill_row("nan", key, (), dtypes[key], replacements[key])
        elif isinstance(value, Mapping):
            raise value_error("nan", f"{key!r} is {column.dtype}, which has no NaN")
    return out
