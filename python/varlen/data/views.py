"""Views of datasets: row numbers over a source, with nothing copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.arguments import as_array, as_bool, as_few, as_int, as_shuffle, vocabularies_of
from varlen.data.batching import Batching
from varlen.data.plan import SeedLike
from varlen.data.saving import map_rows, save_rows
from varlen.data.sources.chain import JoinedSource
from varlen.data.sources.extra_key import KeyedSource
from varlen.data.sources.memory import Array, Column, ColumnLike, Ints, map_shards, rest_of, rows_in_shards
from varlen.data.sources.translation import join_vocabularies
from varlen.data.steps import FilterStep, MapStep, run_step, stable_options
from varlen.errors import error_of, instance_error, type_error, value_error
from varlen.io.bits import as_compress
from varlen.io.building.engines import MOST_WORKERS
from varlen.io.dtypes import refuse_misfits
from varlen.io.errors import name_only_file
from varlen.joint import JointNestedRaggedTensorDict
from varlen.types.attributes import attributes_of

if TYPE_CHECKING:
    import os

    from typing_extensions import Self

    from varlen.backends.values import DTypes

__all__ = []

_LENGTHS = "dim1/lengths"


class RowColumns(Mapping[str, Array]):
    """One value per row, by name: the keys of dim 0, and "dim1/lengths". Each is read on access."""

    def __init__(self, dataset: Views) -> None:
        self._dataset = dataset

    def __getitem__(self, name: str) -> Array:
        return self._dataset._row_values(name)

    def __iter__(self) -> Iterator[str]:
        dataset = self._dataset
        yield from (name for name, field in dataset.fields.items() if field.dim == 0)
        if dataset.depth and _LENGTHS not in dataset.fields:
            yield _LENGTHS

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Views(Batching):
    """The verbs that return other datasets."""

    def select(self, rows: Any) -> Self:
        """Take rows in the given order, as a view: nothing is copied.

        All methods count rows by their position in the view, including the seeds of random windows.

        Parameters
        ----------
        rows
            As `row_numbers` takes them: integers, which may repeat, a mask or a slice.

        Returns
        -------
        Dataset
            A view of these rows. A view of a view refers to the same source.

        Raises
        ------
        IndexError
            A row is out of range, or the mask has another length.
        TypeError
            `rows` has another type.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> some = ds.select([2, 0])
        >>> some, some.select([1])[0].to_list()
        (Dataset(2 of 3 rows, x: uint8@1), {'x': [1, 2, 3]})
        """
        is_slice = isinstance(rows, slice) and self._index is not None  # of the row numbers that are there
        return self._with_rows(rows if is_slice else self.row_numbers(rows), "select")

    def filter(
        self,
        function: Callable[[Mapping[str, Array]], Any] | Any = None,
        *,
        min_len: int | None = None,
        max_len: int | None = None,
        path: str | os.PathLike[str] | None = None,
        rows_per_shard: int | None = None,
        engine: Any = None,
        workers: int = 1,
        progress: bool = False,
    ) -> Self:
        """Keep the rows for which a condition holds, as a view, or in new files.

        Parameters
        ----------
        function
            A bool for each row; or a function that returns them for all rows at once. It gets a mapping of
            names to arrays of one value per row: the keys of dim 0, as words if a key has a vocabulary, and
            "dim1/lengths".
        min_len, max_len
            The fewest and the most events of a row.
        path
            Write the rows that are kept to this folder of shards. The function is then called for the rows of
            one shard at a time.
        rows_per_shard, engine, workers, progress
            With `path`, as in `map`.

        Returns
        -------
        Dataset
            A view of the rows for which all conditions hold; with `path` the dataset of the new folder.

        Raises
        ------
        TypeError, ValueError
            There is no condition, a condition is not one bool per row, or a number is below 0.
        KeyError
            The function asks for a key that is not one of dim 0.

        Examples
        --------
        >>> import varlen as vl
        >>> J = vl.JointNestedRaggedTensorDict({"age": [61, 35, 70], "x": [[1, 2, 3], [], [4]]})
        >>> ds = vl.data.Dataset(J)
        >>> len(ds.filter(max_len=2)), ds.filter(lambda rows: rows["age"] > 60, min_len=2)[:].to_list()
        (2, {'age': [61], 'x': [[1, 2, 3]]})
        """
        if function is None and min_len is None and max_len is None:
            raise error_of(TypeError, "", "pass a function, a mask, min_len or max_len", context="filter")
        how = _engine_options(engine, workers, rows_per_shard, progress)
        if path is not None:
            if function is not None and not callable(function):
                function = self._mask(function)
            lens = [
                None if one is None else as_int(one, name)
                for one, name in ((min_len, "min_len"), (max_len, "max_len"))
            ]
            return self._with_source(
                run_step(self, FilterStep(self, function, *lens), path, stable_options(self), *how)
            )
        for name, is_usual in (
            ("engine", engine is None),
            ("workers", how[1] == 1),
            ("rows_per_shard", rows_per_shard is None),
        ):
            if not is_usual:
                raise value_error(name, "goes with path, the folder to write", context="filter")
        keep: Array | None = None
        if min_len is not None:
            keep = self.lengths >= as_int(min_len, "min_len")
        if max_len is not None:
            short = self.lengths <= as_int(max_len, "max_len")
            keep = short if keep is None else keep & short
        if function is not None:
            mask = self._mask(function)
            keep = mask if keep is None else keep & mask
        assert keep is not None
        return self._with_rows(np.flatnonzero(keep), "filter")

    def shuffle(self, seed: SeedLike = None) -> Self:
        """Shuffle the rows, as a view.

        Parameters
        ----------
        seed
            An int for the same order each time, a numpy.random.Generator, or None for a new order each time.

        Returns
        -------
        Dataset
            A view of the same rows.

        Raises
        ------
        TypeError
            The seed has another type.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> sorted(ds.shuffle(seed=0).lengths.tolist())
        [0, 1, 3]
        """
        return self._with_rows(_generator(seed).permutation(len(self)))

    def split(
        self, sizes: Mapping[str, float] | str, *, shuffle: bool = True, seed: SeedLike = None
    ) -> dict[str, Self]:
        """Split the rows into named views, each row in exactly one.

        Parameters
        ----------
        sizes
            Names mapped to fractions that add up to 1, such as `{"train": 0.9, "test": 0.1}`, or to numbers
            of rows that add up to all rows; or a key of dim 0, whose values name the parts.
        shuffle
            If True, distribute the rows in random order; otherwise the first rows go to the first part. The
            parts of a key always keep the order.
        seed
            As in `shuffle`.

        Returns
        -------
        dict of str to Dataset
            The views by name, in the order of `sizes`; the values of a key are sorted.

        Raises
        ------
        KeyError
            There is no such key.
        TypeError, ValueError
            The sizes do not add up to all rows, or the key has more than one value per row.

        Examples
        --------
        >>> import varlen as vl
        >>> J = vl.JointNestedRaggedTensorDict({"part": ["a", "b", "a"], "x": [[1], [2], [3]]},
        ...                                    schema={"part": str})
        >>> ds = vl.data.Dataset(J)
        >>> {name: len(part) for name, part in ds.split({"train": 2, "test": 1}, seed=0).items()}
        {'train': 2, 'test': 1}
        >>> ds.split("part")["a"].source is ds.source, len(ds.split("part")["a"])
        (True, 2)
        """
        if isinstance(sizes, str):
            return self._split_by(sizes)
        if not isinstance(sizes, Mapping):
            raise instance_error(
                "sizes", "names to sizes, such as {'train': 0.9, 'test': 0.1}, or a key", sizes
            )
        counts = _counts(sizes, len(self))
        ends = np.cumsum([0, *counts])
        random = as_shuffle(shuffle)
        order = _generator(seed).permutation(len(self)) if random else np.arange(len(self))
        return {
            name: self._with_rows(order[begin:end], "split")
            for name, begin, end in zip(sizes, ends[:-1], ends[1:], strict=True)
        }

    def concat(self, *others: Batching, vocabularies: Mapping[str, Sequence[str]] | None = None) -> Self:
        """Join this dataset with others, in files or in memory, as a view.

        Parameters
        ----------
        *others
            Datasets with the same keys at the same dims. Dtypes of numbers are widened to hold all. If
            vocabularies of a key differ, the result has one with the words of all: those of this dataset,
            then new ones. Ids of the others are translated as rows are read; files stay as they are.
        vocabularies
            Words by key, which the ids of the result begin with, such as those of a model.

        Returns
        -------
        Dataset
            A view of all rows.

        Raises
        ------
        TypeError, ValueError
            A part is not a dataset, or does not fit. The message names the part and the key.

        Examples
        --------
        >>> import varlen as vl
        >>> one = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], []]}))
        >>> two = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[400]]}))
        >>> one.concat(two).batch([2, 0])["x"].tolist()
        [[400, 0, 0], [1, 2, 3]]

        Words of both have the ids of one vocabulary.

        >>> one = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [["fever"], ["cough"]]}))
        >>> two = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [["rash", "cough"]]}))
        >>> both = one.concat(two)
        >>> both.fields["x"].vocabulary, both.batch([1, 2])["x"].tolist()
        (('[PAD]', 'fever', 'cough', 'rash'), [[2, 0], [3, 2]])
        """
        for i, other in enumerate(others):
            if not isinstance(other, Batching):
                raise instance_error(f"others[{i}]", "a Dataset", other, row=i)
        parts: list[Batching] = [self, *others]
        sources = list({id(part._source): part._source for part in parts}.values())
        begins = dict(zip(map(id, sources), np.cumsum([0, *map(len, sources)]), strict=False))
        same_words = join_vocabularies(sources, vocabularies_of(vocabularies))
        result = self._with_source(JoinedSource(same_words) if len(same_words) > 1 else same_words[0])
        if len(sources) == len(parts) and all(part._is_whole for part in parts):
            return result._without_deletions()
        rows = [part._source_rows(np.arange(len(part))) + begins[id(part._source)] for part in parts]
        return result._with_rows(np.concatenate(rows))

    def with_key(
        self,
        name: str,
        values: Any,
        dim: int | None = None,
        *,
        dtype: DTypes | None = None,
        padding_id: bool = True,
    ) -> Self:
        """Add or replace a key, whose values stay in memory.

        Parameters
        ----------
        name, values, dim, dtype, padding_id
            As `JointNestedRaggedTensorDict.with_key` takes them, for the rows of this dataset in their order.

        Returns
        -------
        Dataset
            A dataset of the same rows. `save` writes the key with the others.

        Raises
        ------
        ValueError
            The lengths are not those of the rows, or a row is in this view twice.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> ds.select([2, 0]).with_key("y", [[5], [6, 7, 8]])[0].to_list()
        {'x': [4], 'y': [5]}
        """
        is_flat = isinstance(values, np.ndarray)
        max_dim = (0 if dim is None else as_int(dim, "dim")) if is_flat else self.depth
        if max_dim > self.depth:
            raise value_error("dim", f"{name!r} at dim {max_dim}, but these rows have {self.depth} levels")
        levels = self._levels(max_dim)
        rows = JointNestedRaggedTensorDict._wrap(_core.Joint([], [], [], levels, len(self)))
        is_padded = as_bool(padding_id, "padding_id") and name != self.source.row_ids
        joint = rows.with_key(name, values, dim, dtype=dtype, padding_id=is_padded)._view()
        own, own_dim = joint.values(name), joint.dims[joint.names.index(name)]
        words = (joint.meta or {}).get("vocabularies", {}).get(name)
        column = Column(own_dim, own.dtype, own.shape[1:], words)
        own = own if self._index is None else self._in_source_order(own, own_dim)
        view = self._with_source(KeyedSource(self._source, name, column, own))
        return view if self._index is None else view._with_rows(self._index)

    def map(
        self,
        function: Callable[[JointNestedRaggedTensorDict], Any],
        path: str | os.PathLike[str],
        *,
        batched: bool = False,
        batch_size: int = 1000,
        progress: bool = False,
        rows_per_shard: int | None = None,
        engine: Any = None,
        workers: int = 1,
    ) -> Self:
        """Apply a function to each row, or to many at once, and write the results to a new file or folder.

        With `rows_per_shard`, `engine` or `workers` the result is a folder of shards, made shard by shard as
        `varlen.io.build` makes one: the same by every engine and any number of workers. A stopped run
        resumes, and does not repeat shards whose rows, function and options are the same.

        Parameters
        ----------
        function
            Takes a row, as `ds[i]` returns it, and returns one: a joint dict, or a dict from keys to nested
            lists, which may hold words, dates, arrays, tensors, Raggeds, and None for NaN or NaT. For many
            rows it may also return an Arrow table. All results have the same keys at the same dims. A key of
            dim 0 is an array of one value in a row, and stays a key of dim 0 where such an array is returned
            under its name; a value that is no list, such as `float(row["age"][0])`, makes a new one. Words
            are ids in a row, and words again where its array, or a view of it, is returned, or an array of
            their dtype under their name.
        path
            The file to write. An existing file is replaced once all rows are done; an error leaves it
            unchanged. Or the folder.
        batched
            Pass up to `batch_size` rows to the function at once; it may return another number of rows.
        batch_size
            The number of rows to read and write at once.
        progress
            Show a progress bar.
        rows_per_shard
            The rows of this dataset that become one shard of the folder. By default those of each of its own
            shards.
        engine
            "processes", "dask", a Client of Dask, or "ray", as in `varlen.io.build`. Other processes need to
            pickle the function, so define it in a module.
        workers
            The number of processes.

        Returns
        -------
        Dataset
            The dataset of the new file. Integers have the dtype that holds those of all rows.

        Raises
        ------
        Exception
            The function raised an error, or its result is wrong; a note or the message names the row.

        Examples
        --------
        >>> import os, tempfile, varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "first.nrt")
        ...     ds.map(lambda row: {"first": row["x"].tolist()[:1]}, path)[:].to_list()
        {'first': [[1], [], [4]]}
        """
        size = as_int(batch_size, "batch_size", 1)
        is_batched = as_bool(batched, "batched")
        if not callable(function):
            raise instance_error("function", "a function", function)
        how = _engine_options(engine, workers, rows_per_shard, progress)
        if engine is not None or rows_per_shard is not None or how[1] > 1:
            return self._with_source(
                run_step(self, MapStep(self, function, is_batched, size), path, {}, *how)
            )
        has_bar = how[-1]
        return self._with_source(map_rows(self, function, path, is_batched, size, has_bar))

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        rows_per_shard: int | None = None,
        progress: bool = False,
        checksums: bool = False,
        compress: bool = False,
    ) -> None:
        """Write the rows with all keys, vocabularies and row ids, in bounded memory.

        Parameters
        ----------
        path
            The file to write. An existing file is replaced once the new one is complete.
        rows_per_shard
            The rows per file: write a folder of files with an index instead of one file.
        progress
            Show a progress bar.
        checksums
            Store checksums, as `varlen.io.save` does.
        compress
            True stores the numbers in as few bits as they need, as `varlen.io.save` says; only varlen reads
            such files.

        Raises
        ------
        FileExistsError
            The folder already holds shards.
        ValueError
            The rows have no key, or have a dtype that a file cannot hold.

        Examples
        --------
        >>> import os, tempfile, varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "some.nrt")
        ...     ds.select([2, 0]).save(path)
        ...     vl.open(path)[:].to_list()
        {'x': [[4], [1, 2, 3]]}
        """
        size = None if rows_per_shard is None else as_int(rows_per_shard, "rows_per_shard", 1)
        show, has_checksums = as_bool(progress, "progress"), as_bool(checksums, "checksums")
        save_rows(self, path, size, show, has_checksums, as_compress(compress))

    def _with_source(self, source: object) -> Self:
        """A dataset of this class, with its own attributes, over another source."""
        result = object.__new__(type(self))
        self._init_like(result, source)
        return result

    def _init_like(self, result: Self, source: object) -> None:
        raise NotImplementedError

    def _with_rows(self, rows: Ints | slice, verb: str | None = None) -> Self:
        base = self if self._base is None else self._base
        view = self._with_source(self._source)
        view._base, view._index = base, self._source_rows(rows)
        view._count = len(view._index)
        view._verbs = self._verbs if verb is None else (*self._verbs, verb)
        return view

    def _without_deletions(self) -> Self:
        """These rows of a source, all but those that were deleted."""
        rows = rest_of(self._source)
        return self if rows is None else self._with_rows(rows)

    def _mask(self, function: object) -> Array:
        mask = as_array(function(RowColumns(self)) if callable(function) else function, "function")
        if mask.dtype != bool:
            advice = "a function gets arrays of one value a row by key: `lambda columns: columns['age'] > 30`"
            raise type_error("function", f"expected a bool for each row, got dtype {mask.dtype}", advice)
        if mask.shape != (len(self),):
            raise value_error(
                "function", f"expected a bool for each of {len(self)} rows, got shape {mask.shape}"
            )
        return mask

    def _split_by(self, name: str) -> dict[str, Self]:
        """A part for each value of a key of dim 0, in their order."""
        values = self._stored_values(name)
        if values.ndim != 1:
            raise value_error("sizes", f"{name!r} has values of shape {values.shape[1:]}, expected one a row")
        uniques, part = np.unique(values, return_inverse=True)
        words = self._words_of(name)
        if words is not None:
            uniques, again = np.unique(_as_text(name, words)[uniques], return_inverse=True)
            part = again[part]
        order, ends = np.argsort(part, kind="stable"), np.cumsum(np.bincount(part, minlength=len(uniques)))
        begins = [0, *ends[:-1]]
        return {
            str(name): self._with_rows(order[begin:end], "split")
            for name, begin, end in zip(uniques, begins, ends, strict=False)
        }

    def _words_of(self, name: str) -> tuple[str, ...] | None:
        field = self.fields.get(name)
        return None if field is None else field.vocabulary

    def _id_values(self, name: str) -> Array:
        """The values of a key of ids; row ids are found also where `keys` left them out."""
        source: Any = self._source
        if name in self.fields or name != source.row_ids or not hasattr(source, "id_field"):
            return self._row_values(name)
        return self._in_words(name, self._stored_values(name, source.id_field), source.id_field.vocabulary)

    def _row_values(self, name: str) -> Array:
        """One value a row: of a key of dim 0, words where it has a vocabulary; or the lengths."""
        values = self._stored_values(name)
        return self._in_words(name, values, self._words_of(name))  # complete only now: reading may add some

    def _in_words(self, name: str, values: Array, words: tuple[str, ...] | None) -> Array:
        """Words in place of their ids; numbers as they are."""
        if words is None:
            return values
        if values.size and not 0 <= int(values.min()) <= int(values.max()) < len(words):
            text = f"key {name!r}: ids {values.min()} to {values.max()}, for {len(words)} words"
            raise name_only_file(value_error("", text), self._source.paths)
        return _as_text(name, words)[values]

    def _stored_values(self, name: str, hidden: ColumnLike | None = None) -> Array:
        """One value a row: of a key of dim 0, ids where it has a vocabulary; or the lengths."""
        field = self.fields.get(name, hidden)
        if field is None and name == _LENGTHS:
            return self.lengths
        if field is None:
            raise error_of(KeyError, "", f"{name!r} is no key of these rows; there are {sorted(self.fields)}")
        if field.dim != 0:
            raise error_of(
                KeyError, "", f"{name!r} lies at dim {field.dim}; a key of dim 0 has one value a row"
            )
        source = self._source
        shards, places = np.flatnonzero(source.counts), None
        if self._index is not None:
            shards, places = rows_in_shards(source, self._index)
        parts = map_shards(source, lambda shard: source.values(shard, name), shards.tolist())
        dtype = self.fields.get(name, field).dtype
        parts = [self._widen(name, part, dtype, i) for i, part in zip(shards.tolist(), parts, strict=True)]
        values = np.concatenate(parts) if parts else np.empty((0, *field.trailing), dtype)
        return values if places is None else values[places]

    def _widen(self, name: str, values: Array, dtype: np.dtype, shard: int) -> Array:
        """Values of a shard for a key of dim 0, in the dtype of all; refuses a row that does not fit."""
        if values.dtype == dtype:
            return values
        source, index = self._source, self._index
        joint = _core.Joint([name], [0], [values], [], len(values))
        begin, end = source.offsets[shard : shard + 2].tolist()
        rows = np.arange(begin, end) if index is None else index[(index >= begin) & (index < end)]
        refuse_misfits(joint.take(rows - begin), {name: dtype}, rows, source.paths[shard])
        with np.errstate(all="ignore"):  # of the other rows
            return values.astype(dtype)

    def _levels(self, depth: int) -> list[_core.Level]:
        """The first levels of these rows."""
        if depth == 0:
            return []
        source = self._source

        def levels(shard: int) -> _core.Joint:
            ends = [source.ends(shard, d) for d in range(1, depth + 1)]
            return _core.Joint([], [], [], ends, int(source.counts[shard]), None, source.paths[shard])

        parts = map_shards(source, levels)
        if not parts:
            return [_core.Level.from_lengths(np.zeros(0, np.int64))] * depth
        joint = parts[0] if len(parts) == 1 else _core.Joint.concat(parts)
        joint = joint if self._index is None else joint.take(self._index)
        return [joint.level(d) for d in range(1, depth + 1)]

    def _in_source_order(self, values: Array, dim: int) -> Array:
        """Values of the rows of a view where the source has its rows; zeros for rows that are not in it."""
        base, index = self._base, self._index
        assert base is not None
        assert index is not None
        counts = np.bincount(index, minlength=len(base))
        if len(index) and counts.max() > 1:
            row = int(np.argmax(counts))
            pair = np.flatnonzero(index == row)[:2]
            raise value_error(
                "",
                f"rows {pair[0]} and {pair[1]} of this view are the same row",
                "save it first",
                context="with_key",
                row=pair[1],
            )
        lengths = np.ones(len(base), np.int64) if dim == 0 else base.lengths_at(dim)
        begins = np.cumsum(lengths) - lengths
        own = lengths[index]
        places = np.repeat(begins[index] - np.cumsum(own) + own, own) + np.arange(len(values))
        result = np.zeros((int(lengths.sum()), *values.shape[1:]), values.dtype)
        result[places] = values
        return result


def _as_text(name: str, words: tuple[str, ...]) -> Array:
    """The words of a key as an array of text; refuses one that would be another there."""
    for word in words:
        if word.endswith("\0"):
            raise value_error("", f"key {name!r}: NumPy's text leaves out the null at the end of {word!r}")
    return np.array(words, np.str_)


def own_attributes(dataset: Views, kind: type, base: set[str]) -> dict[str, Any]:
    """What a subclass keeps beside the attributes of every dataset."""
    return {name: value for name, value in attributes_of(dataset, kind).items() if name not in base}


def _engine_options(
    engine: Any, workers: int, rows_per_shard: int | None, progress: bool
) -> tuple[Any, int, int | None, bool]:
    size = None if rows_per_shard is None else as_int(rows_per_shard, "rows_per_shard", 1)
    return engine, as_few(workers, "workers", MOST_WORKERS, 1), size, as_bool(progress, "progress")


def _generator(seed: SeedLike) -> np.random.Generator:
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, (bool, np.bool_)) or not (seed is None or isinstance(seed, (int, np.integer))):
        raise type_error(
            "seed", f"expected an int, a numpy.random.Generator or None; got {type(seed).__name__}"
        )
    return np.random.default_rng(None if seed is None else as_int(seed, "seed", maximum=None))


def _counts(sizes: Mapping[str, float], n: int) -> Sequence[int]:
    """The rows of each part."""
    for name, size in sizes.items():
        if isinstance(size, (bool, np.bool_)) or not isinstance(size, (int, float, np.integer, np.floating)):
            raise type_error("sizes", f"expected a number for {name!r}, got {type(size).__name__}")
        if not size >= 0:
            raise value_error("sizes", f"{name!r} is {size}; expected at least 0")
    counts = list(sizes.values())
    if all(isinstance(size, (int, np.integer)) for size in counts):
        if sum(counts) != n:
            raise value_error("sizes", f"the parts have {sum(counts)} rows, but there are {n}")
        return [int(size) for size in counts]
    if not all(isinstance(size, (float, np.floating)) for size in counts):
        raise type_error("sizes", "expected fractions or numbers of rows, got both")
    if abs(sum(counts) - 1) > 1e-6:
        raise value_error("sizes", f"expected fractions that add up to 1, got {sum(counts):g}")
    ends = [round(float(part) * n) for part in np.cumsum(counts)]
    return [end - begin for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
