"""A joint dict as a dict of keys: choosing, renaming and adding them, lists, and rows by their ids."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from varlen import _core
from varlen.arguments import (
    as_bool,
    as_dtype,
    as_ids,
    as_int,
    as_list,
    as_mapping,
    check_hashable,
    new_words,
    refuse_mask,
)
from varlen.errors import error_of, index_error, name_item, value_error
from varlen.io import columns
from varlen.io.errors import name_only_file
from varlen.io.file import refuse_wordless
from varlen.joint.indexing import IndexMethods

if TYPE_CHECKING:
    from varlen.backends.values import DTypes
    from varlen.types import Ragged

__all__: list[str] = []

Self = TypeVar("Self", bound="KeyMethods")

Array = np.ndarray[tuple[Any, ...], np.dtype]


class KeyMethods(IndexMethods):
    """Keys of a joint dict."""

    def items(self) -> Iterator[tuple[str, Ragged[Array] | Any]]:
        """The keys with their values, in stored order.

        Returns
        -------
        iterator of (str, Ragged or ndarray)
            A Ragged, or an array for a key of dim 0; the values are shared.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"a": [1, 2], "b": [3, 4]})
        >>> {key: value.tolist() for key, value in J.items()}
        {'a': [1, 2], 'b': [3, 4]}
        """
        return ((name, self[name]) for _, name in self._names())

    def lengths(self, dim: int = 1) -> Array:
        """The lengths of a level's sequences, over all rows; no values are read.

        Parameters
        ----------
        dim : int, default 1
            The level; 1 is the outermost.

        Returns
        -------
        ndarray of int64
            One length for each sequence of that level.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> JointNestedRaggedTensorDict({"b": [[1], [2, 3]]}).lengths()
        array([1, 2])
        """
        view = self._view()
        d = as_int(dim, "dim", 1)
        if d > view.depth:
            raise index_error("dim", f"expected at most {view.depth}, got {d}")
        return view.level(d).lengths

    def select(self: Self, keys: str | Iterable[str], *more: str) -> Self:
        """Keep only these keys, in this order, with their levels; values are shared.

        Parameters
        ----------
        keys : str or iterable of str
            The keys to keep.
        *more : str
            Further keys.

        Returns
        -------
        JointNestedRaggedTensorDict
            A joint dict of the same rows.

        Raises
        ------
        KeyError
            There is no such key.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"a": [1, 2], "b": [[1], [2, 3]]})
        >>> J.select("a").to_list(), J.select(["b", "a"]).max_n_dims
        ({'a': [1, 2]}, 2)
        """
        names = _as_names(keys, more)
        _check_known(self, names, "keys")
        return self._wrap(self._view().select(names), _subset_schema(self._given_schema, names))

    def drop(self: Self, keys: str | Iterable[str], *more: str) -> Self:
        """Drop these keys, and levels that only they needed; values are shared.

        Parameters
        ----------
        keys : str or iterable of str
            The keys to leave out.
        *more : str
            Further keys.

        Returns
        -------
        JointNestedRaggedTensorDict
            A joint dict of the same rows.

        Raises
        ------
        KeyError
            There is no such key.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> JointNestedRaggedTensorDict({"a": [1, 2], "b": [[1], [2, 3]]}).drop("b").to_list()
        {'a': [1, 2]}
        """
        key_list = _as_names(keys, more)
        _check_known(self, key_list, "keys")
        names = [name for _, name in self._names() if name not in key_list]
        return self._wrap(self._view().select(names), _subset_schema(self._given_schema, names))

    def rename(self: Self, names: Mapping[str, str] | None = None, **more: str) -> Self:
        """Rename some keys; values are shared.

        Parameters
        ----------
        names : dict of str to str, optional
            Old names to new ones.
        **more : str
            The same, as keyword arguments.

        Returns
        -------
        JointNestedRaggedTensorDict
            A joint dict of the same rows.

        Raises
        ------
        KeyError
            There is no such key.
        ValueError
            Two keys would have the same name, or a name is reserved.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> JointNestedRaggedTensorDict({"a": [1, 2]}).rename(a="age").to_list()
        {'age': [1, 2]}
        """
        new = {**as_mapping({} if names is None else names, "names", "old to new names"), **more}
        _check_known(self, list(new), "names")
        view = self._view()
        new_names = [new.get(name, name) for name in view.names]
        repeats = sorted({name for name in new_names if new_names.count(name) > 1})
        if repeats:
            raise value_error("names", f"{repeats} would each name two keys")
        columns.check_names(list(new.values()), "names")
        metadata = dict(self._meta)
        if "vocabularies" in metadata:
            metadata["vocabularies"] = {
                new.get(key, key): words for key, words in metadata["vocabularies"].items()
            }
        if "row_ids" in metadata:
            metadata["row_ids"] = new.get(metadata["row_ids"], metadata["row_ids"])
        schema = (
            None
            if self._given_schema is None
            else {new.get(key, key): v for key, v in self._given_schema.items()}
        )
        return self._wrap(view.rename(new_names).with_meta(metadata or None), schema)

    def with_key(
        self: Self,
        name: str,
        values: Any,
        dim: int | None = None,
        *,
        dtype: DTypes | None = None,
        padding_id: bool = True,
    ) -> Self:
        """Add a key, or replace the key of that name.

        Parameters
        ----------
        name
            The key; its name must not be reserved.
        values
            Nested lists, a Ragged, or with `dim` a flat array: (rows of that dim, *trailing). Strings become
            ids with a vocabulary.
        dim
            The dim of a flat array; without it an array has dim 0.
        dtype
            The dtype of the values. By default arrays keep theirs, and that of lists is inferred as in the
            constructor.
        padding_id
            As in the constructor: a vocabulary of strings begins with "[PAD]".

        Returns
        -------
        JointNestedRaggedTensorDict
            A joint dict of the same rows; the other keys share their values with this one.

        Raises
        ------
        ValueError
            The lengths differ from those of the existing levels.

        Examples
        --------
        >>> import numpy as np
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"a": [[1, 2], [3]]})
        >>> J.with_key("b", [[5, 6], [7]]).with_key("c", np.array([8, 9, 10]), 1).to_list()
        {'a': [[1, 2], [3]], 'b': [[5, 6], [7]], 'c': [[8, 9], [10]]}
        """
        columns.check_names([name], "name")
        view = self._view()
        dim = None if dim is None else as_int(dim, "dim")
        levels: list[_core.Level] = []
        if dtype is not None:
            as_dtype(dtype, "dtype")
        options = columns.ColumnOptions(
            {} if dtype is None else {name: dtype},
            first_words=functools.partial(
                new_words, padding_id=as_bool(padding_id, "padding_id"), row_ids=self.row_ids
            ),
        )
        try:
            if isinstance(values, np.ndarray):
                flat, dim = columns.cast_array(name, refuse_mask(values, name), options), dim or 0
            else:
                flat, levels = columns.build_column(name, values, options)
        except (TypeError, ValueError, OverflowError) as error:
            raise name_item(error, "values") from None
        own_dim = len(levels) if dim is None else dim
        if levels and own_dim != len(levels):
            raise value_error("dim", f"{name} has {len(levels)} levels, not {dim}")
        for number, level in enumerate(levels, start=1):
            if number > view.depth:
                raise value_error("values", f"{name} has {len(levels)} levels, there are {view.depth}")
            try:
                columns.check_nesting(view.level(number), level, number, name, "the others")
            except ValueError as error:
                raise name_item(error, "values") from None
        metadata = dict(self._meta)
        vocabularies = {k: w for k, w in metadata.pop("vocabularies", {}).items() if k != name}
        vocabularies.update({k: tuple(words) for k, words in options.vocabularies.items()})
        if vocabularies:
            metadata["vocabularies"] = vocabularies
        schema = self._given_schema
        if schema is not None:
            schema = {**schema, name: options.schema.get(name, flat.dtype)}
        try:
            whole_view = view.with_column(name, own_dim, flat, metadata or None)
        except (TypeError, ValueError) as error:
            raise name_item(error, "values") from None
        return self._wrap(whole_view, schema)

    def to_list(self) -> dict[str, Any]:
        """Convert every key to nested lists.

        Returns
        -------
        dict of str to list
            The lists by key: strings if the key has a vocabulary, a single value if an index left the key
            with one.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"a": [1, 2], "b": [["x"], ["y", "x"]]}, schema={"b": str})
        >>> J.to_list()
        {'a': [1, 2], 'b': [['x'], ['y', 'x']]}
        """
        try:
            return self._lists()
        except ValueError as error:
            raise name_only_file(error, self._paths()) from None

    def _paths(self) -> list[str]:
        """The files that hold the values; empty if they were in memory from the start."""
        if self._origin is not None:
            paths: list[str] = self._origin.source.paths
            return paths
        return [] if self._tensors_fp is None else [str(self._tensors_fp)]

    def _lists(self) -> dict[str, Any]:
        view = self._view()
        out = {}
        for dim, name in zip(view.dims, view.names, strict=True):
            flat: Any = view.values(name)
            words = self.vocabularies.get(name)
            if words is not None:
                refuse_wordless(view, name, len(words))
            leaves = flat.tolist() if words is None else np.array(words, object)[flat].tolist()
            for number in range(dim, 0, -1):
                ends = view.bounds(number).tolist()
                leaves = [leaves[a:b] for a, b in zip([0, *ends], ends, strict=False)]
            out[name] = leaves if dim >= 0 or len(leaves) != 1 else leaves[0]
        return out

    @property
    def vocabularies(self) -> Mapping[str, tuple[str, ...]]:
        """The vocabulary of each key that has one.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"b": [["x"], ["y", "x"]]}, schema={"b": str})
        >>> J.vocabularies["b"], J["b"].values
        (('[PAD]', 'x', 'y'), array([1, 2, 1], dtype=uint8))
        """
        return MappingProxyType(self._meta.get("vocabularies", {}))

    @property
    def row_ids(self) -> str | None:
        """The key whose values identify the rows, or None.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> JointNestedRaggedTensorDict({"id": [30, 10]}, row_ids="id").row_ids
        'id'
        """
        name: str | None = self._meta.get("row_ids")
        return name

    def rows_of(self, ids: Any) -> Array:
        """Find the rows with these ids: an index for `J[...]`.

        Parameters
        ----------
        ids : array_like
            Ids of rows, numbers or strings, in any order.

        Returns
        -------
        ndarray of int64
            The row of each id, in the shape of `ids`.

        Raises
        ------
        ValueError
            No key is declared to hold row ids, or two rows share an id.
        KeyError
            No row has one of the ids.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"id": [30, 10, 20], "a": [[1], [], [2]]}, row_ids="id")
        >>> J.rows_of([20, 30])
        array([2, 0])
        """
        name = self.row_ids
        if name is None or name not in self.keys_at_dim(0):
            raise value_error("", "no key of dim 0 holds the ids of rows", "name one with row_ids=")
        own_ids = self._view().values(name)
        query = as_ids(ids, "ids")
        words = self.vocabularies.get(name)
        if words is not None:
            places = {word: i for i, word in enumerate(words)}
            query = np.array([places.get(word, -1) for word in query.reshape(-1).tolist()], np.int64)
        order = np.argsort(own_ids, kind="stable")
        sorted_ids = own_ids[order]
        if len(sorted_ids) > 1 and (repeats := np.flatnonzero(sorted_ids[1:] == sorted_ids[:-1])).size:
            rows = order[repeats[0] : repeats[0] + 2].tolist()
            raise value_error("", f"{name} has {sorted_ids[repeats[0]]} twice, at rows {rows}", row=rows[1])
        index = np.searchsorted(sorted_ids, query.reshape(-1))
        is_known = index < len(sorted_ids)
        is_known[is_known] = sorted_ids[index[is_known]] == query.reshape(-1)[is_known]
        if not is_known.all():
            missing = np.asarray(ids).reshape(-1)[np.flatnonzero(~is_known)[0]]
            raise error_of(KeyError, "ids", f"no row has {name} {missing}")
        where: Array = order[index].reshape(query.shape).astype(np.int64, copy=False)
        return where


def _as_names(keys: str | Iterable[str], others: tuple[str, ...]) -> list[str]:
    return [*([keys] if isinstance(keys, str) else as_list(keys, "keys", "keys")), *others]


def _check_known(self: IndexMethods, names: Iterable[str], argument: str) -> None:
    keys = [name for _, name in self._names()]
    for name in names:
        check_hashable(name, argument)
        if name not in keys:
            raise error_of(KeyError, argument, f"there is no key {name!r} among {sorted(keys)}")


def _subset_schema(schema: dict[str, Any] | None, names: list[str]) -> dict[str, Any] | None:
    return None if schema is None else {name: schema[name] for name in names if name in schema}
