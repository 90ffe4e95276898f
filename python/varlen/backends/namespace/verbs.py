"""The verbs that the core has kernels for: called with arrays over the memory of those that are given."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level, on_tensors
from varlen.arguments import as_dtype, as_ints
from varlen.backends import arrays
from varlen.backends.namespace.library import LibraryVerbs, at_device
from varlen.backends.namespace.values import always_fits
from varlen.backends.numpy.attention import weighable
from varlen.backends.numpy.dense import DenseOptions, numbers_named, picked_levels
from varlen.backends.numpy.edit import edit_distance
from varlen.backends.numpy.mask import mask as mask_on_host
from varlen.backends.numpy.mask import pair_of, sizes_of
from varlen.backends.numpy.search import search
from varlen.backends.table import Backend
from varlen.errors import type_error


def core_verb(verb: str, function: Callable[..., Any] | None = None) -> Any:
    """A verb of the core, or a function that calls it; the table says which numbers the host reads."""
    call, meaning = function or getattr(_core, verb), getattr(Backend, verb)
    arguments = list(inspect.signature(meaning).parameters.values())[1:]
    read = [
        (place, parameter.name)
        for place, parameter in enumerate(arguments)
        if parameter.annotation == "Numbers"
    ]

    @wraps(meaning)
    def method(self: LibraryVerbs, *args: Any, **kwargs: Any) -> Any:
        for place, name in read:
            if place < len(args):
                args = (*args[:place], self.on_host(args[place]), *args[place + 1 :])
            elif name in kwargs:
                kwargs[name] = self.on_host(kwargs[name])
        return on_tensors(call, *args, **kwargs)

    return method


class Verbs(LibraryVerbs):
    """Verbs that are more than one call of the core."""

    if TYPE_CHECKING:
        cast: Callable[..., Any]
        contiguous: Callable[..., Any]
        expand: Callable[..., Any]
        gather: Callable[..., Any]
        take_rows: Callable[..., Any]

    backprop_reduce = core_verb("backprop_reduce", arrays.backprop_reduce)
    roll = core_verb("roll", arrays.roll)
    scan_extreme = core_verb("scan_extreme", arrays.scan_extreme)
    shift = core_verb("shift", arrays.shift)
    _pad = core_verb("pad")

    def pad(
        self,
        values: Any,
        levels: Any,
        padding_side: str = "right",
        fill: Any = None,
        mask: bool = False,
        max_len: Any = None,
        truncate: str = "right",
        out: Any = None,
        dtype: Any = None,
        *options: Any,
        **kwargs: Any,
    ) -> Any:
        """A rectangle of sequences, or that and its mask; numbers that may not fit a dtype are looked at."""
        if dtype is not None and not always_fits(values.dtype, as_dtype(dtype, "dtype")):
            values, dtype = self.cast(values, dtype, "values"), None
        how = (padding_side, fill, mask, max_len, truncate, out, dtype, *options)
        return self._pad(values, levels, *how, **kwargs)

    def gather_dense(
        self, values: Any, levels: Any, indices: Any, positions: bool, *args: Any
    ) -> tuple[Any, ...]:
        """A rectangle and its mask, with positions behind them; nobody looks at indices on a device."""
        options = DenseOptions(*args)
        dtype = options.dtype
        if dtype is not None and not always_fits(values.dtype, as_dtype(dtype, "dtype")):
            as_they_are = options._replace(fill=None, dtype=None)
            parts = self.gather_dense(values, levels, indices, positions, *as_they_are)
            return self._cast_dense(values, parts, options.fill, dtype)
        on_device = self.library.name_of_device(values) != "cpu"
        unseen = on_device and isinstance(indices, self.type) and indices.dtype.kind in "iu"
        index = self._unseen(indices) if unseen else self.on_host(indices)
        if not (index is None or unseen or all(level.is_on_host for level in levels)):
            index, unseen = self.like(numbers_named(levels, index), values), True
        nest = levels if index is None or unseen else picked_levels(levels, index)
        source = None if index is None else levels
        how = options._replace(fill=self.on_host(options.fill))
        result: tuple[Any, ...] = on_tensors(_core.gather_dense, values, nest, source, index, positions, *how)
        return result

    @at_device
    def _unseen(self, indices: Any) -> Any:
        """Integers as int64; those that it does not hold are out of range."""
        wide = indices.astype(np.int64, copy=False)
        return self.xp.where(wide < 0, 2**63 - 1, wide) if indices.dtype == np.uint64 else wide

    @at_device
    def _cast_dense(self, values: Any, parts: tuple[Any, ...], fill: Any, dtype: Any) -> tuple[Any, ...]:
        """A rectangle of values in another dtype, which its numbers are looked at for, not the others."""
        block, mask, *positions = parts
        kind = as_dtype(dtype, "dtype")
        row = None if fill is None else _core.fill_row(self.on_host(fill), kind, values.shape[1:], "fill")[0]
        try:
            block = self.cast(block, kind, "values")
        except ValueError:
            self.cast(values, kind, "values")  # which says where it lies among the values
            raise
        if row is not None:
            marks = mask.reshape(*mask.shape, *(1 for _ in values.shape[1:]))
            block = self.xp.where(marks, block, self.like(row, block))
        return (block, mask, *positions)

    def weighable(self, values: Any, scores: Any) -> tuple[Any, Any]:
        """Values and scores in one float dtype; the scores of halves in float32."""
        return weighable(values, self.like(scores, values))

    def search(self, values: Any, level: Level, queries: Any, sequences: Any, side: str) -> Any:
        """The place inside its sequence before which each query goes, found on the host."""
        places = search(self.on_host(values), level, self.on_host(queries), sequences, side)
        return self.like(places, values)

    def counts_there(self, ids: Any, level: Level, minlength: int, weights: Any) -> None:
        """The host counts."""

    def reduce_end(self, values: Any, level: Level, last: bool, empty: Any = None) -> Any:
        """The first or last row of each sequence; `empty`, a number or a row, where there is none."""
        return arrays.reduce_end(values, level, last, empty, self)

    def broadcast_rows(self, rows: Any, level: Level) -> Any:
        """Row i for every row of sequence i."""
        return self.expand(self.contiguous(rows), level)

    def repeat(self, values: Any, levels: Any, times: Level) -> Any:
        """The sequences of the first level, each as often as `times` is long, with the levels below them."""
        return self.gather(values, levels, times.row_ids)

    def ragged2packed(self, values: Any, level: Level, table: Any) -> Any:
        """Rows of sequences in the packed order of a table."""
        return on_tensors(_core.ragged2packed, values, level, "stable", table._fields)[0]

    def packed2ragged(self, values: Any, table: Any) -> Any:
        """Packed rows in the order of their sequences."""
        return on_tensors(_core.packed2ragged, values, *table._fields)[0]

    def permute_rows(self, values: Any, rows: Any, inverse: Any) -> Any:
        """Rows under a permutation, whose inverse is `inverse`."""
        return self.take_rows(values, rows)

    def mask(
        self,
        level: Level,
        max_len: int | None,
        padding_side: str,
        width: int | None,
        multiple: int,
        max_bytes: int | None,
        model: Any,
    ) -> Any:
        """The mask of the padded sequences: True where there is data."""
        if not isinstance(model, self.type):
            return mask_on_host(level, max_len, padding_side, width, multiple, max_bytes)
        sizes = sizes_of(max_len, padding_side, width, multiple, max_bytes)
        return on_tensors(_core.mask, level, *sizes, model)

    def level_array(self, level: Level, name: str, model: Any) -> Any:
        """The row ids, positions, lengths or int32 offsets of a level, on the device of an array."""
        return on_tensors(_core.level_numbers, level, name, model)

    def block_mask(
        self,
        level: Level,
        dtype: Any,
        lookback: int | None,
        lookahead: int | None,
        out: Any,
        max_bytes: int | None,
        model: Any = None,
    ) -> Any:
        """Which rows may look at which, (total, total), on the device of an array or of `out`."""
        pair = pair_of(dtype)
        return on_tensors(_core.block_mask, level, pair, lookback, lookahead, out, max_bytes, model)

    def scatter_add(self, table: Any, indices: Any, values: Any) -> None:
        """Add each row of values to the table row at its index, in place."""
        rows = values if isinstance(values, self.type) else self.like(as_ints(values), table)
        on_tensors(_core.scatter_add, table, indices, rows)

    def add_rows(self, table: Any, rows: Any, places: Any) -> Any:
        """A copy of a table after each of rows was added to the row that its place names."""
        return on_tensors(_core.scatter_added, table, places, rows)

    def concat_levels(self, levels: list[Level]) -> Level:
        """Levels one after another, which lie on the host."""
        return _core.concat_levels(levels)

    def lstm(
        self, params: Any, H0: Any, C0: Any, X: Any, sizes: list[int], training: bool
    ) -> tuple[Any, tuple[Any, ...]]:
        """Refused: the LSTM has kernels for the CPU alone."""
        raise type_error("params", "lie on a device, where varlen has no LSTM; use torch.nn.LSTM")

    def backprop_lstm(
        self, dY: Any, sizes: list[int], params: Any, state: tuple[Any, ...]
    ) -> tuple[Any, Any]:
        """Refused, as `lstm`."""
        raise type_error("params", "lie on a device, where varlen has no LSTM; use torch.nn.LSTM")

    def edit_distance(
        self, a: Any, a_level: Level, b: Any, b_level: Level, normalize: bool, counts: bool
    ) -> tuple[Any, Any]:
        """Distances and the counts of edits, which the host compares."""
        numbers = self.on_host(a), self.on_host(b)
        distances, kinds = edit_distance(numbers[0], a_level, numbers[1], b_level, normalize, counts)
        return self.like(distances, a), None if kinds is None else self.like(kinds, a)

    def ctc_loss(self, *args: Any) -> Any:
        """Refused, as its gradient is: CTC has kernels for the CPU alone."""
        raise type_error("log_probs", "lie on a device, where varlen has no CTC; pass a torch tensor")

    backprop_ctc_loss = ctc_loss
