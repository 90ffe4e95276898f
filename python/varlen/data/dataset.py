"""Nested rows from files, shards or memory as one sequence, and batches of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as np

from varlen import _core
from varlen._hints import DATASET, hint_names
from varlen._methods import adopt_methods
from varlen.arguments import as_bool, as_int
from varlen.data.arrow_table import ArrowTable
from varlen.data.batch import Batch
from varlen.data.collation.collator import Collator, StagedCollator
from varlen.data.display import DisplayMethods
from varlen.data.epoch import Epoch
from varlen.data.options import BatchOptions, OptionsCache, with_options
from varlen.data.plan import SeedLike
from varlen.data.sources.memory import Ints, MemorySource, rest_of
from varlen.data.sources.reload import count_known, reload_source
from varlen.data.views import own_attributes
from varlen.errors import error_of, value_error
from varlen.io import ShardSet
from varlen.io.deletions import delete_rows, folder_with_index

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch
    from numpy.typing import NDArray
    from typing_extensions import Self, Unpack

    from varlen.backends.kinds import CupyArray
    from varlen.backends.values import Indices, RowsLike, Values
    from varlen.data.buffers import Buffers
    from varlen.data.options import ArrayBatchKeywords, BatchKeywords, DataBatchKeywords
    from varlen.dims import DataDict

    class _EpochKeywords(ArrayBatchKeywords, total=False):
        batches: Iterable[Any] | None
        shuffle: bool
        seed: SeedLike
        epoch: int | None
        drop_last: bool
        prefetch: int
        progress: bool


__all__ = ["Dataset"]


@adopt_methods
class Dataset(DisplayMethods, ArrowTable):
    """A map-style dataset of nested rows, in one or many files, that makes batches in one call.

    `varlen.open` makes one over files; this constructor also takes data in memory. Nothing is copied, and
    mapped files are read only on access.

    Parameters
    ----------
    source
        A JointNestedRaggedTensorDict, or a sequence of them with the same keys at the same dims. If integer
        dtypes differ, batches get one that holds all. Or what makes one: a dict from keys to nested lists, or
        a list of dicts, one for each row.

    Examples
    --------
    >>> import varlen as vl
    >>> J = vl.JointNestedRaggedTensorDict({"time": [[0.5, 2.0], [5.5]], "code": [[[7, 8], [9]], [[1]]]})
    >>> ds = vl.data.Dataset(J)
    >>> len(ds), ds.lengths, ds.depth, ds.paths
    (2, array([2, 1]), 2, [''])
    >>> len(vl.data.Dataset([{"time": [0.5, 2.0]}, {"time": [5.5]}, {"time": []}]))
    3
    >>> ds.schema["time"], ds.fields["code"].dim, ds.fields["code"].vocabulary
    (dtype('float32'), 2, None)
    >>> ds.batch([1, 0])["time"]
    array([[5.5, 0. ],
           [0.5, 2. ]], dtype=float32)
    """

    def __init__(self, source: Any) -> None:
        self._begin(source)
        rows = rest_of(self._source)
        if rows is not None:
            base: Any = self._with_source(self._source)
            self._base, self._index, self._count = base, rows, len(rows)

    def _begin(self, source: Any) -> None:
        """All rows of a source, those that were deleted too."""
        super().__init__(source)
        self._options = OptionsCache()
        self._collate: Collator[NDArray[Any]] | None = None
        self._new_rows: range | None = None

    @overload
    def batch(
        self, rows: Any, *, layout: Literal["named"], framework: Literal["torch", "numpy"] | None = None,
        device: torch.device | str | int | None = None, start: Any = None, end: Any = None,
        seed: SeedLike = None, epoch: int = 0, out: Any = None, **options: Unpack[DataBatchKeywords],
    ) -> DataDict: ...  # fmt: skip
    @overload
    def batch(
        self, rows: Indices, *, framework: Literal["cupy"], device: torch.device | str | int | None = None,
        start: RowsLike | None = None,
        end: RowsLike | None = None, seed: SeedLike = None, epoch: int = 0,
        out: Mapping[str, Values] | Buffers | None = None,
        **options: Unpack[ArrayBatchKeywords],
    ) -> Batch[CupyArray]: ...  # fmt: skip
    @overload
    def batch(
        self, rows: Indices, *, device: torch.device | str | int, framework: Literal["torch"] | None = None,
        start: RowsLike | None = None, end: RowsLike | None = None, seed: SeedLike = None, epoch: int = 0,
        out: Mapping[str, Values] | Buffers | None = None,
        **options: Unpack[ArrayBatchKeywords],
    ) -> Batch[torch.Tensor]: ...  # fmt: skip
    @overload
    def batch(
        self, rows: Indices, *, framework: Literal["torch"], start: RowsLike | None = None,
        end: RowsLike | None = None,
        seed: SeedLike = None, epoch: int = 0, out: Mapping[str, Values] | Buffers | None = None,
        **options: Unpack[ArrayBatchKeywords],
    ) -> Batch[torch.Tensor]: ...  # fmt: skip
    @overload
    def batch(
        self, rows: Indices, *, framework: Literal["numpy"] | None = None, start: RowsLike | None = None,
        end: RowsLike | None = None,
        seed: SeedLike = None, epoch: int = 0, out: Mapping[str, Values] | Buffers | None = None,
        **options: Unpack[ArrayBatchKeywords],
    ) -> Batch[NDArray[Any]]: ...  # fmt: skip
    @with_options()
    def batch(
        self,
        rows: Indices,
        *,
        start: RowsLike | None = None,
        end: RowsLike | None = None,
        seed: SeedLike = None,
        epoch: int = 0,
        out: Mapping[str, Values] | Buffers | None = None,
        **options: Unpack[BatchKeywords],
    ) -> Batch[Any] | DataDict:
        """Make one padded or ragged batch of rows or windows, in one call from the file to the arrays.

        The numbers are those of `JointNestedRaggedTensorDict.vstack([ds[i, a:b] for ...]).to_dense()`; keys
        of dim 0, one value for each row, are in the batch too, unless `keys` leaves them out.

        Parameters
        ----------
        rows
            Row numbers, negative ones counted from the end; or a mask, or a slice.
        keys
            Read only these keys. Levels that none of them has are ignored.
        start, end
            (rows,) integers: take only the events `[start, end)` of each row, clipped as slices are.
        max_len
            The most events per row in the batch, prefix and suffix included. In a sequence of numbers the
            first is this limit; the others cut the inner axes of a padded batch, at the `truncate` side. An
            inner axis without a limit is as wide as its longest kept sequence, so it differs from batch to
            batch.
        window
            The events to take from a longer row: "from_start", "to_end", "random" (every window is equally
            likely) or "balanced_random" (every event is equally likely: a window may reach over either end of
            the row, and is then shorter). None cuts at the `truncate` side.
        seed, epoch
            The seed of random windows. With an int the window of a row depends only on seed, epoch and row
            number, not on the other rows of the batch. A numpy.random.Generator, or None for fresh
            randomness, is drawn from once per batch.
        flatten
            Use one axis instead of many: events become the rows of the deepest dim, and start, end and
            max_len count those. `fill_mode` says how keys of dims above spread over the rows under each of
            their values.
        fill_mode
            "first": the value goes to the first of these rows; the others get zero, or padding if the key has
            a vocabulary. "nan": the same with NaN, NaT for times, and zero or padding for integers. "repeat":
            the value goes to all of them.
        padding_side, truncate
            The side of the padding, "right" or "left", on every axis.
        fill
            The padding value: one for all padded keys, or a mapping from keys to values. By default zero, or
            the id of "[PAD]" if the key has a vocabulary with this word. For keys of times, integers count in
            the unit of the key, NaN means NaT, and Python dates and texts such as "2020-01-31" are times. For
            keys with a vocabulary, a word means its id.
        dtype
            The dtype of the outputs: one for all keys, or a mapping. Values that do not fit raise a
            ValueError.
        nan
            A number that replaces NaN: for all float keys, or a mapping. The batch then has `key/mask` too,
            which is False for NaN and padding.
        pad_to, pad_to_multiple_of
            The size of the first ragged axis, or of each: exactly this (ValueError if a row needs more), or
            the next multiple of it. With `layout="packed"` pad_to is the size of the bins: rows of a
            `BinPacking` go to its bins; other rows fill bins in order, and one that does not fit opens a new
            bin.
        prefix, suffix
            Events to join before and after each window, on the first ragged axis: a mapping of keys to lists,
            or a JointNestedRaggedTensorDict. With one level less than the batch it is one record for all
            rows; with as many levels it holds a record for each row. Missing keys are filled. If both do not
            fit into max_len, the suffix has priority.
        masks
            Add `dimK/mask`, bool, True where data is present.
        layout
            "padded"; or "ragged": values end to end, with `dimK/offsets` int64, and for the first axis
            `dim1/cu_seqlens` int32 and `dim1/max_length`; or "packed": rows end to end in bins of `pad_to`
            events, each key a block `(bins, pad_to, ...)`, with `position_ids`, `document_ids`, `cu_seqlens`
            and `max_seqlen`, as `varlen.data.pack` gives them; or "named": a `varlen.dims.DataDict`, in
            which every level is a Dim, and keys are Data that share them.
        dims
            With `layout="named"`: a Dim for the rows and one for each level, or a `varlen.dims.DataSpecs`, as
            `data_schema` takes them. Its keys are those of the batch, and so are its dtypes. Options of
            padding are refused; `fill` is for keys that prefix or suffix lacks.
        lengths, positions, parts, windows
            If True, add `dim1/lengths` (int64, events of each row of the batch), `dim1/positions` (ragged
            only, int64, position of each event), `dim1/part` (uint8: 1 prefix, 2 window, 3 suffix, 0
            padding), or `window/start` and `window/end` (int64, inside the row).
        cu_seqlens
            False leaves out `cu_seqlens`, which allows more than 2**31 - 1 events.
        names, labels, attention_mask, position_ids, document_ids
            Options for `model(**batch)`, as in `varlen.data.Collate`; `names` are the model's names of keys.
            The batch then has the keys under these names, integers as int64, and what these options ask for,
            nothing else; for a packed batch, `cu_seqlens=True` asks for `cu_seqlens`. A key called
            "attention_mask" is left out of ragged and packed batches, and must not hide a token there. Such a
            batch is made on the host, and moves to a `device` as a whole.
        max_bytes
            The largest size of a batch; a larger one raises a ValueError before it is made. Half of the
            memory by default.
        out
            A mapping from names to arrays that are written instead of new ones: of the right dtype,
            C-contiguous, of the right shape or with room for as many entries. The batch then holds views of
            their front. Or a `Buffers`, which grow as needed.
        framework
            "numpy"; "torch" for tensors, which share the arrays' memory on the CPU; or "cupy" for arrays of
            CuPy on a device. Tensors of integers are int64, which torch takes as indices, unless `dtype` says
            otherwise: keys that are stored as integers of any width, ids of words, and `dim1/part`. Times are
            int64 in their unit. By default NumPy arrays without a `device`. With one, the arrays of the
            device object's library; if `device` is a name or a number, tensors if torch was imported, else
            CuPy arrays if CuPy is installed, else tensors.
        device
            The device of the batch: "cuda", "cuda:1", a number, a torch.device or a cupy.cuda.Device; by
            default the CPU, or CuPy's current device. One copy from pinned memory moves the rows there, end
            to end and in their stored dtypes; one kernel makes the padding, masks and dtypes and replaces
            NaN, on the library's current stream and in memory of its allocator. A ragged batch is views of
            the copy. `out` is then a mapping to tensors or arrays there. Times are int64 there, and so are
            integers of tensors.

        Returns
        -------
        Batch or DataDict
            The arrays by name, outer dims first, masks or offsets of a dim before its keys. A padded key of
            dim d has the shape `(len(rows), slots 1, ..., slots d, ...)`.

        Raises
        ------
        IndexError
            A row is out of range.
        KeyError
            There is no such key.
        ValueError, TypeError
            An option does not fit, a batch exceeds `max_bytes`, or a file is damaged. The message names file
            and place.
        OverflowError
            There are more events than cu_seqlens can count.
        RuntimeError
            CUDA cannot be used here; the message says what is missing.
        MemoryError
            The host has no pinned memory left.

        Examples
        --------
        >>> import varlen as vl
        >>> J = vl.JointNestedRaggedTensorDict({"time": [[0.5, 2.0], [5.5]], "code": [[[7, 8], [9]], [[1]]]})
        >>> ds = vl.data.Dataset(J)
        >>> how = {"padding_side": "left", "fill": {"code": -1}, "dtype": {"code": "int64"}}
        >>> batch = ds.batch([0, 1], flatten=True, **how)
        >>> batch["code"]
        array([[ 7,  8,  9],
               [-1, -1,  1]])
        >>> batch["time"]
        array([[0.5, 0. , 2. ],
               [0. , 0. , 5.5]], dtype=float32)
        >>> ds.batch([0, 1], layout="ragged", keys=["time"])["dim1/offsets"]
        array([0, 2, 3])
        """
        batch = self._run(self._options(options), rows, start, end, seed, epoch, out)
        return cast("Batch[Any] | DataDict", batch)

    def windows(
        self, max_len: int, stride: int | None = None, *, flatten: bool = False
    ) -> tuple[Ints, Ints, Ints]:
        """List all windows of at most `max_len` events, `stride` apart, in every row.

        With a stride of at most max_len the windows cover every event, and the last window of a row ends
        where the row ends. A larger stride leaves out events between windows and after the last one. Empty
        rows have no window.

        Parameters
        ----------
        max_len
            The events per window, at least 1; the last window of a row may have fewer.
        stride
            The distance between the starts of windows, at least 1. By default max_len, so that windows do not
            overlap.
        flatten
            Events are the rows of the deepest dim, as `batch(flatten=True)` counts them.

        Returns
        -------
        tuple of ndarray
            Row, start and end of each window, int64, for `batch(rows, start=, end=)`.

        Raises
        ------
        TypeError, ValueError
            A number is not an integer, or is below 1.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> rows, starts, ends = ds.windows(2)
        >>> rows, starts, ends
        (array([0, 0, 2]), array([0, 2, 0]), array([2, 3, 1]))
        >>> ds.batch(rows, start=starts, end=ends)["x"]
        array([[1, 2],
               [3, 0],
               [4, 0]], dtype=uint8)
        """
        size = as_int(max_len, "max_len", 1)
        step = size if stride is None else as_int(stride, "stride", 1)
        return _core.step_windows(self.lengths_at(None if as_bool(flatten, "flatten") else 1), size, step)

    @overload
    def collator(
        self, *, framework: Literal["cupy"], device: torch.device | str | int | None = None,
        seed: SeedLike = None,
        **options: Unpack[ArrayBatchKeywords],
    ) -> StagedCollator: ...  # fmt: skip
    @overload
    def collator(
        self, *, device: torch.device | str | int, framework: Literal["torch"] | None = None,
        seed: SeedLike = None, **options: Unpack[ArrayBatchKeywords],
    ) -> StagedCollator: ...  # fmt: skip
    @overload
    def collator(
        self, *, framework: Literal["torch"], seed: SeedLike = None, **options: Unpack[ArrayBatchKeywords]
    ) -> Collator[torch.Tensor]: ...
    @overload
    def collator(
        self, *, framework: Literal["numpy"] | None = None, seed: SeedLike = None,
        **options: Unpack[ArrayBatchKeywords],
    ) -> Collator[NDArray[Any]]: ...  # fmt: skip
    def collator(self, *, seed: SeedLike = None, **options: Unpack[BatchKeywords]) -> Collator[Any]:
        """Make a picklable `collate_fn` for a DataLoader, with these options.

        It takes row numbers, the result of `__getitems__`, or records of a similar dataset.

        Parameters
        ----------
        seed
            The seed of random windows, as in `batch`; see `Collator` for epochs and workers.
        **options
            As in `batch`.

        Returns
        -------
        Collator
            The function. With a `device` it makes `StagedBatch` objects in workers; the parent copies them to
            the device with `to`.

        Raises
        ------
        TypeError, ValueError
            An option does not fit.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> ds.collator(max_len=2)([0, 2])["x"]
        array([[1, 2],
               [4, 0]], dtype=uint8)
        """
        config = BatchOptions(**options)
        if config.goes_to is not None:
            kind = "batches for models" if config.model is not None else "packed batches"
            raise value_error(
                "device",
                f"workers make {'Data' if config.is_named else kind} on the host",
                "leave device out, and take batches there by to()",
            )
        return Collator(self, config, seed) if config.device is None else StagedCollator(self, config, seed)

    @property
    def collate(self) -> Collator[NDArray[Any]]:
        """Make a padded batch of whole rows, as `collator()` without options does.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> ds.collate([2, 1])["dim1/mask"].tolist()
        [[True], [False]]
        """
        if self._collate is None:
            self._collate = Collator(self, BatchOptions(), None)
        return self._collate

    @overload
    def epoch(
        self, batch_size: int | None = None, *, framework: Literal["cupy"],
        device: torch.device | str | int | None = None,
        **options: Unpack[_EpochKeywords],
    ) -> Epoch[CupyArray]: ...  # fmt: skip
    @overload
    def epoch(
        self, batch_size: int | None = None, *, device: torch.device | str | int,
        framework: Literal["torch"] | None = None, **options: Unpack[_EpochKeywords],
    ) -> Epoch[torch.Tensor]: ...  # fmt: skip
    @overload
    def epoch(
        self, batch_size: int | None = None, *, framework: Literal["torch"],
        **options: Unpack[_EpochKeywords],
    ) -> Epoch[torch.Tensor]: ...  # fmt: skip
    @overload
    def epoch(
        self, batch_size: int | None = None, *, framework: Literal["numpy"] | None = None,
        **options: Unpack[_EpochKeywords],
    ) -> Epoch[NDArray[Any]]: ...  # fmt: skip
    def epoch(
        self,
        batch_size: int | None = None,
        *,
        batches: Iterable[Any] | None = None,
        shuffle: bool = False,
        seed: SeedLike = None,
        epoch: int | None = None,
        drop_last: bool = False,
        prefetch: int = 0,
        progress: bool = False,
        **options: Unpack[BatchKeywords],
    ) -> Epoch[Any]:
        """Iterate over the dataset once, in batches.

        Parameters
        ----------
        batch_size
            The rows per batch; the last batch may have fewer, unless `drop_last`.
        batches
            Instead of batch_size: lists of row numbers, for example from a sampler.
        shuffle
            Whether to take the rows in random order.
        seed, epoch
            The seed and epoch of the order and of random windows: equal ints give equal results. The epoch
            defaults to the sampler's, or 0.
        drop_last
            Drop the last batch if it has fewer than batch_size rows.
        prefetch
            The batches to make ahead, in a thread; of rows behind URLs, in a thread each. Their memory is
            reused once you drop them. With a `device` the next batch is copied there while the loop works on
            the current one.
        progress
            Show a progress bar.
        **options
            As in `batch`.

        Returns
        -------
        Epoch
            Iterate it for batches, as often as you like.

        Raises
        ------
        TypeError, ValueError
            An argument or an option does not fit.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> [batch["x"].shape for batch in ds.epoch(2)]
        [(2, 3), (1, 1)]
        """
        return Epoch(
            self,
            self._options(options),
            batch_size=batch_size,
            batches=batches,
            shuffle=shuffle,
            seed=seed,
            epoch=epoch,
            drop_last=drop_last,
            prefetch=prefetch,
            progress=progress,
        )

    def reload(self) -> Self:
        """Open the same files again, to see rows that were added at the end, and others deleted.

        This dataset stays as it is. Where rows were deleted, those behind them have other numbers. Files that
        are not what they were are compared row by row, so a folder that was built anew with wider dtypes is
        fine if its old rows hold the same numbers.

        Returns
        -------
        Dataset
            The rows that `varlen.open` gives now; `new_rows` says which are new. A dataset in memory is the
            same.

        Raises
        ------
        ValueError
            Old rows changed: the message names the first row, its key or level, and both numbers. Or this is
            a view, whose rows are chosen already.

        Examples
        --------
        >>> import os, tempfile, varlen as vl
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = os.path.join(folder.name, "visits")
        >>> with vl.io.ShardWriter(path, rows_per_shard=2) as writer:
        ...     writer.append({"x": [[1, 2], [3]]})
        >>> ds = vl.open(path)
        >>> with vl.io.ShardWriter(path, rows_per_shard=2, append=True) as writer:
        ...     writer.append({"x": [[], [4]]})
        >>> grown = ds.reload()
        >>> len(ds), len(grown), grown.new_rows
        (2, 4, range(2, 4))
        >>> folder.cleanup()
        """
        if not self._is_whole:
            raise value_error(
                "reload", "this is a view of some rows", "reload its dataset, and take it again"
            )
        source = reload_source(self._source)
        if source is self._source:
            return self
        result = self._with_source(source)._without_deletions()
        result._new_rows = range(count_known(self._source, source), len(result))
        return result

    def delete(self, rows: Any = None, *, ids: RowsLike | None = None) -> Self:
        """Delete rows of a folder of shards: a list in its index leaves them out from now on.

        Only the index is written. Whoever opens the folder, or reloads, sees the other rows; datasets that
        are open keep all of theirs. `varlen.io.compact` takes deleted rows out of the files.

        Parameters
        ----------
        rows
            As `row_numbers` takes them: integers, a mask or a slice; or one integer, or a function of columns
            that returns a mask, as `filter` takes it.
        ids
            Instead of rows: their ids, as `rows_of` takes them.

        Returns
        -------
        Dataset
            The other rows, as `reload` opens them. This dataset stays as it is.

        Raises
        ------
        IndexError
            A row is out of range, or the mask has another length.
        KeyError
            An id belongs to no row.
        TypeError
            There are neither rows nor ids, or both, or of another type.
        ValueError
            The rows are not those of one folder with an index: this is a view, a file, in memory, joined,
            or behind a URL. The message says what to do.
        varlen.io.StaleFileError
            The files were written anew, so that rows may have other numbers.
        BlockingIOError
            Another writer is at work in the folder.

        Examples
        --------
        >>> import os, tempfile, varlen as vl
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = os.path.join(folder.name, "visits")
        >>> J = vl.JointNestedRaggedTensorDict({"id": [7, 8, 9], "x": [[1, 2], [], [3]]}, row_ids="id")
        >>> vl.Dataset(J).save(path, rows_per_shard=2)
        >>> ds = vl.open(path)
        >>> rest = ds.delete(ids=[7])
        >>> len(ds), len(rest), rest[:].to_list()
        (3, 2, {'id': [8, 9], 'x': [[], [3]]})
        >>> len(rest.delete(rest.lengths == 0)), len(vl.open(path))
        (1, 1)
        >>> folder.cleanup()
        """
        if (rows is None) == (ids is None):
            what = "rows or ids" if rows is None else "rows or ids, not both"
            raise error_of(TypeError, "", f"pass {what}", context="delete")
        if not self._is_whole:
            advice = "delete them from its dataset; select and filter leave rows out of a view"
            raise value_error("", "this is a view of some rows", advice, context="delete")
        source: Any = self._source
        if not isinstance(source, ShardSet):
            reason = "these rows are not in one folder of shards alone: they are in memory, or joined"
            raise value_error("", reason, "delete them from the dataset of each folder", context="delete")
        folder_with_index(source)
        if ids is not None:
            numbers = self.rows_of(ids).reshape(-1)
        elif callable(rows):
            numbers = np.flatnonzero(self._mask(rows))
        else:
            is_one = isinstance(rows, (int, np.integer)) and not isinstance(rows, (bool, np.bool_))
            numbers = self.row_numbers([rows] if is_one else rows)
        if len(numbers):
            delete_rows(source, np.unique(self._source_rows(numbers)))
        return self.reload()

    @property
    def new_rows(self) -> range:
        """The rows that `reload` found beside those that were there.

        Examples
        --------
        >>> import varlen as vl
        >>> vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3]]})).reload().new_rows
        range(1, 1)
        """
        return range(len(self), len(self)) if self._new_rows is None else self._new_rows

    def close(self) -> None:
        """Close the files. Earlier batches and views stay valid; the dataset has no rows any more.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3]]}))
        >>> ds.close()
        >>> len(ds)
        0
        """
        for name in _MADE_LATER:
            self.__dict__.pop(name, None)
        Dataset.__init__(self, MemorySource([]))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        own = own_attributes(self, Dataset, _BASE_ATTRIBUTES)
        how = (_restore, (type(self), self._source, None if self._is_whole else self._index))
        return (*how, (None, own)) if own else how

    def _init_like(self, result: Self, source: object) -> None:
        Dataset._begin(result, source)  # a subclass may be made of other arguments
        for name, value in own_attributes(self, Dataset, _BASE_ATTRIBUTES).items():
            object.__setattr__(result, name, value)


def _restore(kind: type[Dataset], source: object, index: Ints | None = None) -> Dataset:
    result = object.__new__(kind)
    if index is None:
        Dataset.__init__(result, source)
        return result
    Dataset._begin(result, source)
    return result._with_rows(index)


_MADE_LATER = ("_only_joint", "_places")  # when they are first asked for

# What every dataset has; a subclass's own attributes are the others.
_BASE_ATTRIBUTES = {*vars(Dataset(MemorySource([]))), *_MADE_LATER}


hint_names(Dataset, DATASET)
