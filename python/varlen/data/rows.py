"""The rows of a dataset: their number, keys, lengths and contents."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from varlen import _core
from varlen.arguments import as_array, as_int, refuse_mask
from varlen.data.records import Records
from varlen.data.sources.memory import (
    Array,
    ColumnLike,
    Ints,
    MemorySource,
    Source,
    as_joint,
    map_shards,
    rest_of,
    rows_in_shards,
)
from varlen.data.transport import raise_in_worker
from varlen.errors import error_of, index_error, instance_error, type_error, value_error
from varlen.io.dtypes import widen
from varlen.io.errors import FileFormatError, name_only_file
from varlen.joint import JointNestedRaggedTensorDict

if TYPE_CHECKING:
    from typing_extensions import Self

    from varlen.backends.values import RowsLike
    from varlen.io import Account
    from varlen.types import Ragged

__all__ = []

_new = object.__new__
_wrap = JointNestedRaggedTensorDict._wrap


class Rows:
    """The rows of a `Dataset`; batches are in `Dataset` itself."""

    def __init__(self, source: Any) -> None:
        if not hasattr(source, "read_many"):
            is_list = isinstance(source, (list, tuple))
            if isinstance(source[0] if is_list and len(source) else source, Mapping):
                source, is_list = JointNestedRaggedTensorDict(source), False
            parts = list(source) if is_list else [source]
            joints = [as_joint(part, f"source[{i}]" if is_list else "source") for i, part in enumerate(parts)]
            ids = {(joint.meta or {}).get("row_ids") for joint in joints}
            source = MemorySource(joints, ids.pop() if len(ids) == 1 else None)
        self._source = cast("Source", source)
        self._count = len(self._source)
        self._lengths: dict[int, Ints] = {}
        self._shard_lengths: dict[int, Ints] = {}  # events of the rows of a shard, until all are known
        # Of a view: the row of `_whole` behind each of its own, and the dataset of all rows of the source.
        self._index: Ints | None = None
        self._base: Self | None = None
        self._verbs: tuple[str, ...] = ()  # that made the view

    @functools.cached_property
    def _only_joint(self) -> _core.Joint | None:
        # Made when a row is asked for, so that opening a file of many keys only reads its header.
        is_one = self._index is None and self._source.mmap and len(self._source.counts) == 1
        return self._source.joint(0) if is_one and not self._source.wider(0) else None

    @property
    def _is_whole(self) -> bool:
        """Whether these are all rows of the source, but for those that were deleted."""
        return self._index is rest_of(self._source)

    @property
    def source(self) -> Source:
        """The source of the rows: a `varlen.io.ShardSet`, or rows in memory."""
        return self._source

    def __len__(self) -> int:
        return self._count

    def keys(self) -> list[str]:
        """The keys of every row.

        Returns
        -------
        list of str
            The names, in the order of the files.

        Examples
        --------
        >>> import varlen as vl
        >>> J = vl.JointNestedRaggedTensorDict({"id": [7, 9], "x": [[1, 2, 3], []]}, row_ids="id")
        >>> ds = vl.data.Dataset(J)
        >>> ds.keys()
        ['id', 'x']
        """
        return list(self._source.fields)

    @property
    def fields(self) -> Mapping[str, ColumnLike]:
        """Each key's dim, dtype, trailing dimensions, vocabulary and unit of time."""
        return self._source.fields

    @property
    def schema(self) -> dict[str, np.dtype]:
        """The dtype of each key."""
        return {name: field.dtype for name, field in self._source.fields.items()}

    @property
    def account(self) -> Account:
        """The account from the first source to these rows: what came in, went out, was left out, and why.

        It holds the account of the files, as `varlen info --account` shows it, and the rows that a view
        leaves out. Rows in memory, and files without an account, start a new one.
        """
        from varlen.data.accounts import account_of

        return account_of(self)

    @property
    def depth(self) -> int:
        """The number of levels of the deepest key."""
        return max((field.dim for field in self._source.fields.values()), default=0)

    @property
    def paths(self) -> list[str]:
        """The files, in the order of their rows; an empty string for rows in memory."""
        return list(self._source.paths)

    @property
    def lengths(self) -> Ints:
        """The length of each row on its first ragged axis, int64. Reads no values."""
        return self.lengths_at(1)

    def lengths_at(self, dim: int | None = None) -> Ints:
        """The number of items that each row has along a dim.

        Parameters
        ----------
        dim
            From 1, the first ragged axis, to `depth`, which is the default.

        Returns
        -------
        numpy.ndarray
            int64 (rows,), read-only, and kept: the next call returns the same array.

        Raises
        ------
        ValueError
            No key has this dim.

        Examples
        --------
        >>> import varlen as vl
        >>> vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[[1, 2], [3]], []]})).lengths_at(2)
        array([3, 0])
        """
        level = self.depth if dim is None else as_int(dim, "dim")
        if self.depth == 0:
            raise value_error("lengths", "every key has dim 0, so rows have no lengths")
        if not 1 <= level <= self.depth:
            raise value_error("dim", f"expected 1 to {self.depth}, got {level}")
        if level not in self._lengths:
            if self._index is not None and self._base is not None:
                result = self._lengths_of_view(level)
            else:
                shards = np.flatnonzero(self._source.counts).tolist()
                cache = _lengths_in(self._source, shards, level, self._shard_lengths if level == 1 else {})
                parts = [cache[shard] for shard in shards]
                result = parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.int64), *parts])
            result.flags.writeable = False
            self._lengths[level] = result
            if level == 1:
                self._shard_lengths = {}
        return self._lengths[level]

    def _lengths_of_view(self, level: int) -> Ints:
        """The lengths of a view, from the shards of its rows alone where those are not all."""
        base, index = self._base, self._index
        assert base is not None
        assert index is not None
        source = self._source
        if level in base._lengths:
            return base.lengths_at(level)[index]
        shards, places = rows_in_shards(source, index)
        if len(shards) >= np.count_nonzero(source.counts):
            return base.lengths_at(level)[index]
        numbers = shards.tolist()
        cache = _lengths_in(source, numbers, level, base._shard_lengths if level == 1 else {})
        result: Ints = np.concatenate([np.empty(0, np.int64), *(cache[shard] for shard in numbers)])[places]
        return result

    def _lengths_of_rows(self, rows: Ints, source_rows: Ints) -> Ints:
        """The events of some rows, from their own shards where those of all are not known yet."""
        base = self if self._base is None else self._base
        for lengths, numbers in ((self._lengths, rows), (base._lengths, source_rows)):
            if 1 in lengths:
                return lengths[1][numbers]
        offsets = self._source.offsets
        shards = offsets[1:].searchsorted(source_rows, side="right")
        uniques = np.unique(shards).tolist()
        base._shard_lengths = cache = _lengths_in(self._source, uniques, 1, base._shard_lengths)
        result = np.empty(len(rows), np.int64)
        for shard in uniques:
            mine = shards == shard
            result[mine] = cache[shard][source_rows[mine] - offsets[shard]]
        return result

    @overload
    def __getitem__(self, index: str) -> Ragged[Array] | Array: ...
    @overload
    def __getitem__(self, index: Any) -> JointNestedRaggedTensorDict: ...
    def __getitem__(self, index: Any) -> Any:
        """One row or several as a JointNestedRaggedTensorDict, or one key of all rows.

        They keep their vocabularies, units of time and row ids. An int, a tuple or a slice of step 1 gives
        views of a mapped file or of memory; other indices give copies.

        Parameters
        ----------
        index
            An int; a slice; a tuple, as `JointNestedRaggedTensorDict` takes it; integers or a mask. Or a key.

        Returns
        -------
        JointNestedRaggedTensorDict
            One row without its outermost dim, or several with it. A key gives its values for all rows: a
            Ragged, or an array if it has dim 0; ids if it has a vocabulary.

        Raises
        ------
        IndexError
            A row is out of range.
        KeyError
            There is no such key.
        TypeError
            The index names neither rows nor a key.

        Examples
        --------
        >>> import varlen as vl
        >>> J = vl.JointNestedRaggedTensorDict({"id": [7, 9], "x": [[1, 2, 3], []]}, row_ids="id")
        >>> ds = vl.data.Dataset(J)
        >>> ds[0].to_list(), ds[[1, 0]].to_list()
        ({'id': 7, 'x': [1, 2, 3]}, {'id': [9, 7], 'x': [[], [1, 2, 3]]})
        """
        joint = self._only_joint
        try:
            if joint is not None:
                try:
                    view = joint.get(index)
                except ValueError as error:
                    raise name_only_file(error, self._source.paths) from None
                if view is not None:
                    row = _new(JointNestedRaggedTensorDict)
                    row._joint = view
                    row._origin = self
                    return row
            if isinstance(index, str):
                return self._read(index)
            row = _wrap(self._pick(index))
        except Exception as error:
            raise_in_worker(error)
            raise
        row._origin = self
        return row

    def __getitems__(self, indices: Sequence[int] | Ints) -> Records:
        """The rows of a batch, for `collate` to make in one call; a sequence of the rows to anything else."""
        return Records(self, indices)

    def __iter__(self) -> Iterator[JointNestedRaggedTensorDict]:
        for i in range(len(self)):
            yield self[i]

    def __contains__(self, key: object) -> bool:
        return key in self._source.fields

    def _pick(self, index: Any) -> _core.Joint:
        if isinstance(index, tuple):
            if not index or not _is_int(index[0]):
                raise type_error("index", f"{index!r} is not integers and one final slice")
            row, rest = self._row(int(index[0])), index[1:]
            view = row.get(rest) if rest else row
            if view is None:
                raise type_error("index", f"{index!r} is not integers and one final slice")
            return view
        if _is_int(index):
            return self._row(int(index))
        if isinstance(index, slice) and index.indices(len(self))[2] == 1 and self._only_joint is not None:
            try:
                return self._only_joint.slice(*index.indices(len(self))[:2])
            except ValueError as error:
                raise name_only_file(error, self._source.paths) from None
        return self._source.read_many(self._source_rows(self.row_numbers(index)))

    def _read(self, key: str) -> Any:
        """The values of one key of all rows."""
        if key not in self:
            raise error_of(KeyError, "", f"{key!r} is no key of these rows; there are {sorted(self.fields)}")
        if self._only_joint is not None:
            return _wrap(self._only_joint.select([key]))[key]
        rows = self._source_rows(self.row_numbers(slice(None)))
        return _wrap(self._source.read_many(rows, keys=[key]))[key]

    def _row(self, index: int) -> _core.Joint:
        n = len(self)
        if not -n <= index < n:
            raise index_error("", f"Index {index} is out of range at dim 0 (length {n}).")
        row = index + n if index < 0 else index
        if self._index is not None:
            row = int(self._index[row])
        joint = (self if self._base is None else self._base)._only_joint
        if joint is not None:
            try:
                return joint.row(row)
            except ValueError as error:
                raise name_only_file(error, self._source.paths) from None
        if not self._source.mmap:
            return self._source.read_many(np.array([row])).row(0)
        shard = int(self._source.offsets[1:].searchsorted(row, side="right"))
        view, wider = self._source.joint(shard), self._source.wider(shard)
        row -= int(self._source.offsets[shard])
        number, path = row + int(self._source.offsets[shard]), self._source.paths[shard]
        try:
            return widen(view.slice(row, row + 1), wider, [number]).row(0) if wider else view.row(row)
        except ValueError as error:
            raise name_only_file(error, [path]) from None

    def row_numbers(self, rows: Any) -> Ints:
        """Row numbers as int64, from integers of any dtype, a mask or a slice; negatives count from the end.

        Parameters
        ----------
        rows
            Integers of one dimension, a bool for each row, or a slice.

        Returns
        -------
        numpy.ndarray
            int64, each at least 0 and below the number of rows.

        Raises
        ------
        IndexError
            A row is out of range, or the mask has another length.
        TypeError
            `rows` has another type.

        Examples
        --------
        >>> import varlen as vl
        >>> vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1], [], [4]]})).row_numbers([-1, 0])
        array([2, 0])
        """
        n = len(self)
        if isinstance(rows, slice):
            return np.arange(*rows.indices(n))
        numbers = _core.row_of_ints(rows) if isinstance(rows, list) else None
        if type(rows) is np.ndarray and rows.ndim == 1 and rows.dtype == np.int64:
            numbers = rows.copy()
        if numbers is not None and _core.in_range(numbers, n):
            return numbers
        array = as_array(refuse_mask(rows, "rows"), "rows")
        if array.ndim == 0 and array.dtype.kind not in "iu":
            raise instance_error("rows", "integers, a mask or a slice", rows)
        if array.ndim != 1:
            hint = f"; a batch of one row is [{array}]" if array.ndim == 0 else ""
            hint = "; a sampler of batches is a DataLoader's batch_sampler" if array.ndim == 2 else hint
            raise type_error("rows", f"expected one dimension, got {array.ndim}{hint}")
        if array.size == 0:
            return np.empty(0, np.int64)
        if array.dtype == bool:
            if len(array) != n:
                raise index_error("rows", f"a mask of {len(array)} for {n} rows")
            return np.flatnonzero(array)
        if array.dtype.kind not in "iu":
            hint = "; rows_of() finds rows by their ids" if array.dtype.kind in "USO" else ""
            raise type_error("rows", f"expected integers, got dtype {array.dtype}{hint}")
        out_of_range = (array < -n) | (array >= n)  # in the array's own dtype, where nothing wraps
        if out_of_range.any():
            i = int(np.argmax(out_of_range))
            text = f"index {array[i]} at position {i} is out of range for {n} rows"
            raise index_error("rows", text, row=i, number=int(array[i]))
        array = array.astype(np.int64, copy=False)
        return np.where(array < 0, array + n, array)

    def _source_rows(self, rows: Ints | slice) -> Ints:
        """The rows of the source behind rows of this dataset; a slice is one of a view."""
        if self._index is not None:
            return self._index[rows]
        assert not isinstance(rows, slice)
        return rows

    @functools.cached_property
    def _places(self) -> Ints:
        """Of a view: where each row of the source is, the first time; -1 for one that is not there."""
        assert self._index is not None
        places = np.full(len(self._source), -1)
        places[self._index[::-1]] = np.arange(len(self))[::-1]
        return places

    def rows_of(self, ids: RowsLike) -> Ints:
        """The row of each id, if the rows were written with `row_ids=`.

        Parameters
        ----------
        ids
            Integers or strings, of any shape.

        Returns
        -------
        numpy.ndarray
            int64, of the shape of the ids.

        Raises
        ------
        KeyError
            An id belongs to no row, or to none of the view; the message names the first.
        ValueError
            The rows have no ids.

        Examples
        --------
        >>> import varlen as vl
        >>> J = vl.JointNestedRaggedTensorDict({"id": [7, 9], "x": [[1, 2, 3], []]}, row_ids="id")
        >>> ds = vl.data.Dataset(J)
        >>> ds.rows_of([9])
        array([1])
        """
        rows = self._source.rows_of(ids)
        if self._index is None:
            return rows
        places = self._places[rows]
        missing = np.flatnonzero(places.reshape(-1) < 0)
        if len(missing):
            i = int(missing[0])
            raise error_of(
                KeyError,
                "ids",
                f"{np.asarray(ids).reshape(-1)[i]} at position {i} is no id of these rows",
                row=i,
            )
        return places

    def __repr__(self) -> str:
        shards = len(self._source.counts)
        where = f" in {shards} shards" if shards > 1 else ""
        rest = rest_of(self._source)
        total = "" if self._is_whole else f" of {len(self._source if rest is None else rest)}"
        keys = [f"{name}: {f.dtype}@{f.dim}" for name, f in self._source.fields.items()]
        return f"{type(self).__name__}({', '.join([f'{len(self)}{total} rows{where}', *keys])})"


def _is_int(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _lengths_in(
    source: Source, shards: Sequence[int], dim: int, cache: Mapping[int, Ints]
) -> dict[int, Ints]:
    """The lengths of the rows of some shards by their numbers, and those that are known."""
    new = [shard for shard in shards if shard not in cache]
    lengths = map_shards(source, lambda shard: _lengths_of(source, shard, dim), new)
    return {**cache, **dict(zip(new, lengths, strict=True))}


def _lengths_of(source: Source, shard: int, dim: int) -> Ints:
    ends = source.ends(shard, 1)
    for d in range(2, dim + 1):
        ends = np.concatenate([np.zeros(1, np.int64), source.ends(shard, d)])[ends]
    lengths = np.empty_like(ends)
    lengths[:1] = ends[:1]
    np.subtract(ends[1:], ends[:-1], out=lengths[1:])
    if len(lengths) and lengths.min() < 0:
        row = int(np.argmin(lengths))
        fault, path = f"row {row} ends before the row in front of it", source.paths[shard]
        kind = FileFormatError if path else ValueError
        raise error_of(kind, "", fault, file=path, row=row, context=f"dim{dim}/bounds")
    return lengths
