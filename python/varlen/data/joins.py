"""Keys of other files and datasets beside those that there are."""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.arguments import check_key, option_error
from varlen.data.manifest import find_rows, open_source, save_manifest
from varlen.data.sources.alignment import TakenSource, align
from varlen.data.sources.memory import Array, Source
from varlen.data.views import Views
from varlen.errors import file_error, instance_error, value_error
from varlen.io import open_shards

if TYPE_CHECKING:
    from typing_extensions import Self

__all__: list[str] = []

_OPTIONS = [*list(inspect.signature(open_shards).parameters)[1:], "version"]


class JoinMethods(Views):
    """Datasets with the keys of several."""

    def with_file(
        self, path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], **options: Any
    ) -> Self:
        """Add the keys of a file, a folder of shards or a manifest, which has the same rows in this order.

        Nothing is copied or written: embeddings may lie beside the files that they were made of. Shards need
        not begin at the same rows.

        Parameters
        ----------
        path
            As `varlen.open` takes it.
        **options
            As in `varlen.open`: `keys`, `cache`, `storage_options`, `verify`, `version`. `mmap` is this
            dataset's.

        Returns
        -------
        Dataset
            The same rows with the keys of both.

        Raises
        ------
        ValueError
            The numbers of rows differ, or the sequences of a row, or its ids: the message names the row and
            both numbers. Or both have the same key.
        FileNotFoundError
            There is no such file.

        Examples
        --------
        >>> import os, tempfile, varlen as vl
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = os.path.join(folder.name, "scores.nrt")
        >>> vl.JointNestedRaggedTensorDict({"score": [[0.5, 1.0], [2.0]]}).save(path)
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"code": [[7, 8], [9]]}))
        >>> ds.with_file(path).batch([1, 0])["score"]
        array([[2. , 0. ],
               [0.5, 1. ]], dtype=float32)
        >>> folder.cleanup()
        """
        for option in options:
            if option not in _OPTIONS:
                raise option_error(option, advice=f"the options are {', '.join(_OPTIONS)}")
        other: Any = open_source(path, **{"mmap": self._source.mmap or self._source.decodes, **options})
        rows = self._with_source(other)._without_deletions()
        name = ", ".join(map(os.fsdecode, path if isinstance(path, (list, tuple)) else [path]))
        count, other_count = len(self), len(rows)
        if count != other_count:
            one = f"row {min(count, other_count)} is only {'there' if other_count > count else 'here'}"
            raise file_error(name, f"{other_count} rows, but there are {count}: {one}")
        ids = self._source.row_ids
        if ids is not None and ids == other.row_ids:
            self._compare_ids(ids, self._id_values(ids), rows._id_values(ids), name)
        return self._align(other, name, {ids})

    def join(self, other: Views, on: str | None = None) -> Self:
        """Add the keys of another dataset, whose rows are found by their ids, in any order.

        It is a left join: this dataset's rows stay as they are, and rows of the other that have no match are
        left out. Rows in the same order cost nothing; others cost a batch of each dataset, put together.

        Parameters
        ----------
        other
            The dataset with the other keys, in files or in memory, or a view.
        on
            The key of dim 0 whose values identify rows in both. By default the row ids of each.

        Returns
        -------
        Dataset
            The rows of this dataset with the keys of both; of `on`, or of row ids, those of this one.

        Raises
        ------
        KeyError
            A row's id is not in the other dataset, or there is no such key.
        ValueError
            The sequences of a row differ in their lengths: the message names the row, its keys and both
            numbers. Or there are no ids, or an id twice, or both have the same key.
        TypeError
            `other` is not a Dataset, or `on` is not a name.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"id": [7, 9], "code": [[1, 2], [3]]}))
        >>> ages = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"id": [9, 8, 7], "age": [30, 40, 50]}))
        >>> ds.join(ages, on="id")[:].to_list()
        {'id': [7, 9], 'code': [[1, 2], [3]], 'age': [50, 30]}
        """
        if not isinstance(other, Views):
            raise instance_error("other", "a Dataset", other)
        if on is not None:
            check_key(on, "on")
        for part, argument in ((self, "on"), (other, "other")):
            if on is None and part._source.row_ids is None:
                raise value_error(
                    argument, "these rows have no ids", "name a key of dim 0: join(other, on=...)"
                )
        name, other_name = (on or part._source.row_ids or "" for part in (self, other))
        index = other._source_rows(find_rows(self, name, other, other_name))
        source = other._source
        if len(index) != len(source) or not np.array_equal(index, np.arange(len(index))):
            source = TakenSource(source, index, (name, other_name))
        return self._align(source, "other", {other_name} if name == other_name else set())

    def save_manifest(self, path: str | os.PathLike[str]) -> int:
        """Keep in a manifest which files this dataset is made of, for `varlen.open`.

        A manifest is a small JSON file in a folder above the files, with paths relative to it. Each call adds
        a version, which lists the files with their rows, sizes and headers; `varlen.open(path, version=)`
        opens it again, also after rows were added to the folders.

        Parameters
        ----------
        path
            The manifest, with a name that ends in ".json". It is made if it is missing.

        Returns
        -------
        int
            The number of the version, from 1. It is the last one if the files are the same.

        Raises
        ------
        ValueError
            Rows or keys are in memory, behind a URL or outside the manifest's folder; this is a view; or the
            file is something else.
        BlockingIOError
            Another writer is at work in the folder.

        Examples
        --------
        >>> import os, tempfile, varlen as vl
        >>> folder = tempfile.TemporaryDirectory()
        >>> for name in ("code", "score"):
        ...     path = os.path.join(folder.name, f"{name}.nrt")
        ...     vl.JointNestedRaggedTensorDict({name: [[1, 2], [3]]}).save(path)
        >>> ds = vl.open(os.path.join(folder.name, "code.nrt")).with_file(path)
        >>> manifest = os.path.join(folder.name, "set.json")
        >>> ds.save_manifest(manifest), vl.open(manifest).keys()
        (1, ['code', 'score'])
        >>> folder.cleanup()
        """
        return save_manifest(self, path)

    def _align(self, other: Source, argument: str, ids: Set[str | None]) -> Self:
        """The dataset with the keys of a source of the same rows; both may have the keys of `ids`."""
        twins = [name for name in other.fields if name in self.fields and name not in ids]
        if twins:
            raise value_error(argument, f"both have a key {twins[0]!r}", "open one with keys=[...]")
        own = self._source
        if not self._is_whole:
            assert self._index is not None
            own = TakenSource(own, self._index)
        source = align([own, other])
        source.check()
        return self._with_source(source)._without_deletions()

    @staticmethod
    def _compare_ids(name: str, ids: Array, other: Array, file: str) -> None:
        bad = np.flatnonzero(ids != other)
        if len(bad):
            row = int(bad[0])
            text = f"row {row} has the id {other[row]} in {name!r}, but {ids[row]} here"
            advice = "join(vl.open(...)) finds rows by their ids"
            raise value_error("", text, advice, file=file, row=row)
