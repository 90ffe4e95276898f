"""Pack sequences into bins of one size, with the keys that attention needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from varlen import _core
from varlen.arguments import as_mapping
from varlen.backends import backend_of
from varlen.backends.values import like
from varlen.data.batch import Batch
from varlen.data.bin_packing import BinPacking
from varlen.data.collation.arrow_samples import is_arrow
from varlen.data.collation.mappings import frame_as_columns, is_frame, rows_of_frames
from varlen.data.model_inputs import IGNORED, LABELS, PACKED_NAMES, as_label_dtype, labels_of_bins
from varlen.data.options import view_of
from varlen.errors import (
    error_of,
    instance_error,
    name_argument,
    naming,
    overflow_error,
    type_error,
    value_error,
)
from varlen.io.mappings import columns_of_mappings
from varlen.levels import describe_difference, same_levels
from varlen.ops.dense import padded
from varlen.types import Ragged

if TYPE_CHECKING:
    from varlen.backends.values import RowsLike
    from varlen.data.sampler import Ints
    from varlen.io.account import Account

__all__ = ["pack"]


def pack(
    sequences: Mapping[str, Any] | Any,
    size: int,
    *,
    fit: Literal["best", "first"] = "best",
    window: int = 10_000,
    too_long: Literal["raise", "skip", "split"] = "raise",
    labels: str | None = None,
    fill: RowsLike | None = None,
    max_bytes: int | None = None,
) -> Batch[Any]:
    """Pack sequences into rows of `size` tokens, with the keys that attention needs.

    The block holds every token once. The rest of a row is padding, which counts as a separate sequence:
    attention neither enters nor leaves it.

    Parameters
    ----------
    sequences
        A list of lists, arrays or tensors, or a Ragged of one level: the result calls them "values". Or a
        mapping from names to such lists, all of the same lengths: "input_ids" and "labels". Or samples that
        are such mappings: a list of dicts, an Arrow table, a Hugging Face dataset.
    size, fit, window, too_long
        As in `BinPacking`.
    labels
        The name of the tokens that the model predicts. The result copies them to `labels`, with -100 in
        padding and at the first token of each sequence. "labels" uses labels that you pass.
    fill
        The padding value: a number or a row for all names, or a mapping from names. Zero by default. `labels`
        are int64 or floats, and padded with -100 unless the mapping names them.
    max_bytes
        The largest size of a block; a larger one raises a ValueError. Half of the memory by default.

    Returns
    -------
    Batch
        Each name as a block (bins, size, ...); tensors stay tensors, with autograd. Also:

        * `position_ids`, int64 (bins, size): the position of each token in its sequence. Positions start at 0
        in each piece of a split sequence.
        * `document_ids`, int32 (bins, size): the number of each token's sequence within its row, from 0; -1
        in padding. State-space models call it `seq_idx`, and `document_mask` takes it.
        * `cu_seqlens`, int32: where each sequence begins in the flattened block of `bins * size` tokens, and
        where the last one ends. Attention over `cu_seqlens` takes it together with `max_seqlen`, an int.

        Its `account` counts the sequences and tokens that came in and those that were skipped.

    Raises
    ------
    ValueError, TypeError
        A sequence is longer than `size` and too_long is "raise"; sequences have several levels; names differ
        in their lengths, or clash with names of the result.
    KeyError
        `labels` or `fill` names no sequences.

    Examples
    --------
    >>> import varlen as vl
    >>> batch = vl.data.pack([[1, 2, 3], [4], [5, 6], [7, 8]], 5)
    >>> batch["values"]
    array([[1, 2, 3, 5, 6],
           [7, 8, 4, 0, 0]])
    >>> batch["position_ids"], batch["document_ids"]
    (array([[0, 1, 2, 0, 1],
           [0, 1, 0, 0, 1]]), array([[ 0,  0,  0,  1,  1],
           [ 0,  0,  1, -1, -1]], dtype=int32))
    >>> batch["cu_seqlens"], batch["max_seqlen"]
    (array([ 0,  3,  5,  7,  8, 10], dtype=int32), 3)
    """
    columns = _columns_of(sequences)
    new_names = {name: f"sequences[{name!r}]" for name in columns} if columns is sequences else {}
    containers = {name: _as_ragged(name, column, new_names.get(name)) for name, column in columns.items()}
    if not containers:
        raise value_error("sequences", "expected at least one name")
    first, *others = containers
    for name in others:
        if not same_levels(containers[name]._levels, containers[first]._levels):
            raise value_error(
                "sequences",
                f"{name!r} and {first!r} differ in their lengths: "
                f"{describe_difference(containers[name]._levels, containers[first]._levels)}",
            )
    fills = dict(as_mapping(fill, "fill", "names to values")) if isinstance(fill, Mapping) else None
    for name in fills or ():
        if name not in containers:
            raise error_of(KeyError, "fill", f"{name!r} is not one of {sorted(containers)}")
    if labels is not None:
        if not isinstance(labels, str):
            raise instance_error("labels", "the name of the tokens", labels)
        if labels not in containers:
            raise error_of(KeyError, "labels", f"{labels!r} is not one of {sorted(containers)}")
        if labels != LABELS and LABELS in containers:
            raise value_error("labels", f"{LABELS!r} are among the sequences", f"say labels={LABELS!r}")
    with naming(lengths="lengths", advice="give too_long='skip' or 'split'"):  # there is no max_len here
        packing = BinPacking(
            containers[first].lengths, size, fit=fit, window=window, too_long=too_long, shuffle=False
        )
    order, bins = packing._fill(np.random.default_rng(0))
    pieces = _core.Level.from_lengths(packing.lengths)
    level = _core.Level.from_lengths(packing.lengths[order])
    arrays: dict[str, Any] = {}
    for name, column in containers.items():
        values = column.values
        array, _ = backend_of(values).gather(values, (pieces,), order)
        row = fill if fills is None else fills.get(name)
        if name == LABELS:
            array = as_label_dtype(array)
            row = IGNORED if fills is None else fills.get(name, IGNORED)
        arrays[name] = _block(array, level, bins, packing.size, row, max_bytes)
    template = containers[first].values
    places = _packed_ids(level, bins, packing.size)
    for name, ids in places.items():
        arrays[name] = ids if isinstance(ids, int) else like(ids, template)
    if labels is not None:
        arrays[LABELS] = labels_of_bins(arrays[labels], arrays["position_ids"], arrays["document_ids"])
    batch = Batch(arrays)
    batch._account = _account(packing.account, containers, places["document_ids"])
    return batch


def _account(packing: Account, columns: Mapping[str, Ragged[Any]], document_ids: Ints) -> Account:
    """What came in by name, and what the block holds: its places that are no padding."""
    tokens = packing.columns.pop("tokens")
    count = int(np.count_nonzero(document_ids >= 0))
    for name, column in columns.items():
        packing.column(name).source.values = int(column.lengths.sum())
        packing.columns[name].reasons = dict(tokens.reasons)
    packing.set_result(packing.rows.result.values, dict.fromkeys(columns, count))
    packing.check()
    return packing


def packed_arrays(
    batch: Mapping[str, object],
    keys: Sequence[str],
    fills: Mapping[str, Any],
    size: int,
    bins: Any,
    rows: object,
    max_bytes: int | None,
) -> dict[str, Any]:
    """The arrays of a ragged batch as blocks of bins."""
    level = _core.Level.from_offsets(batch["dim1/offsets"])
    _refuse_too_long(level, size, rows)
    if bins is None:
        ends = _core.token_budget(level.lengths, size, max(len(level), 1), False)
        bins = np.concatenate([np.zeros(1, np.int64), ends])
    else:
        bins = np.asarray(bins, np.int64)
    _refuse_overfull(level, bins, size)
    token_keys = {*keys, "dim1/part", *(f"{key}/mask" for key in keys)}
    arrays: dict[str, Any] = {}
    for name, values in batch.items():
        if name in token_keys:
            row = fills[name][0, ...] if name in fills else None
            arrays[name] = _block(values, level, bins, size, row, max_bytes)
        elif name != "dim1/offsets" and name != "dim1/max_length":
            arrays[name] = values
    return arrays | _packed_ids(level, bins, size)


def _columns_of(sequences: Any) -> Mapping[str, Any]:
    """The sequences by their names."""
    if hasattr(sequences, "collator") or view_of(sequences) is not None:
        raise type_error(
            "sequences",
            f"rows of a {type(sequences).__name__} are packed by BinPacking and batches of layout='packed'",
        )
    sequences = frame_as_columns(sequences)
    if isinstance(sequences, Mapping):
        return sequences
    if is_arrow(sequences) and hasattr(sequences, "schema"):
        return {name: sequences.column(name) for name in sequences.schema.names}
    if isinstance(getattr(sequences, "column_names", None), list):
        return _columns_of(sequences[:])  # a dataset of Hugging Face, as its format says
    if isinstance(sequences, Sequence) and len(sequences) and is_frame(sequences[0]):
        sequences = rows_of_frames(sequences)
    if isinstance(sequences, Sequence) and len(sequences) and isinstance(sequences[0], Mapping):
        return columns_of_mappings("", list(sequences), "sequences")
    return {"values": sequences}


def _as_ragged(name: str, column: Any, place: str | None) -> Ragged[Any]:
    if name in PACKED_NAMES:
        raise value_error("sequences", f"{name!r} is a name that packed batches reserve")
    if isinstance(column, Ragged):
        ragged: Ragged[Any] = column
    else:
        try:
            ragged = Ragged.from_list(column)
        except (TypeError, ValueError) as error:
            if place is None:
                raise name_argument(error, data="sequences") from None
            raise name_argument(
                error, data=place, advice="give the columns that are packed, and no others"
            ) from None
    if len(ragged._levels) != 1:
        raise value_error(
            "sequences", f"{name!r} has {len(ragged._levels)} levels, expected sequences of tokens"
        )
    return ragged


def _refuse_too_long(level: _core.Level, size: int, rows: Any) -> None:
    if level.longest > size:
        i = int(np.argmax(level.lengths > size))
        raise value_error(
            "rows",
            f"row {rows[i]} has {level.lengths[i]} tokens, over pad_to={size}",
            "give max_len, or the rows of BinPacking(too_long='split')",
            row=rows[i],
        )


def _refuse_overfull(level: _core.Level, bins: Ints, size: int) -> None:
    if len(bins) == 0 or bins[0] != 0 or bins[-1] != len(level) or (np.diff(bins) < 0).any():
        raise value_error("rows", f"their bins do not hold {len(level)} rows")
    counts = np.diff(level.offsets[bins])
    if (counts > size).any():
        i = int(np.argmax(counts > size))
        raise value_error(
            "rows",
            f"bin {i} of the batch has {counts[i]} tokens, over pad_to={size}; its sampler has to "
            "count what the batch takes, prefix and suffix included",
        )


def _block(
    values: Any, level: _core.Level, bins: Ints, size: int, fill: RowsLike | None, max_bytes: int | None
) -> Any:
    """Sequences end to end as (bins, size, ...)."""
    tokens = _core.Level.from_offsets(level.offsets[bins])
    if tokens.longest:  # and none is over size, to which the longest is then rounded up
        try:
            return padded(values, (tokens,), "right", fill, False, None, "right", None, None, size, max_bytes)
        except OverflowError:
            raise overflow_error(
                "size", f"{len(bins) - 1} rows of {size} tokens do not fit 63 bits"
            ) from None
    # No token at all: the block is that of one full bin more, which is left out.
    spare = backend_of(values).zeros(values, (size, *values.shape[1:]))
    return _block(spare, _core.Level([size]), np.array([0] * len(bins) + [1]), size, fill, max_bytes)[:-1]


def _packed_ids(level: _core.Level, bins: Ints, size: int) -> dict[str, Any]:
    """Which sequence each place of the block is in, and where in it."""
    count = len(bins) - 1
    in_bin = np.arange(len(level)) - np.repeat(bins[:-1], np.diff(bins))
    room = size - np.diff(level.offsets[bins])
    ends, room = bins[1:][room > 0], room[room > 0]
    sequences = _core.Level.from_lengths(np.insert(level.lengths, ends, room))
    numbers = np.insert(in_bin, ends, -1).astype(np.int32)
    return {
        "position_ids": sequences.positions.reshape(count, size).copy(),
        "document_ids": _core.expand(numbers, sequences).reshape(count, size),
        "cu_seqlens": sequences.offsets32.copy(),
        "max_seqlen": sequences.longest,
    }
