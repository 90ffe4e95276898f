"""The contents of a joint dict: a view of the core, a live dict of arrays, or a file that is not open yet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from varlen import _core
from varlen.arguments import SMALLEST, as_bool, as_int, vocabularies_of
from varlen.errors import error_of, instance_error, type_error, value_error
from varlen.io.schema import make_metadata

__all__: list[str] = []

Array = np.ndarray[tuple[Any, ...], np.dtype]
Self = TypeVar("Self", bound="JointState")

_new = object.__new__
_is_unchanged = _core.Joint.unchanged
_INT64 = np.dtype(np.int64)


def _split(full: str) -> tuple[int, str]:
    """The dim and the bare name in `dimK/name`; the name may hold slashes."""
    if not isinstance(full, str):
        raise type_error("tensors", f"names are strings like 'dimK/name', got {full!r}")
    front, slash, name = full.partition("/")
    digits = front[3:]
    if not slash or front[:3] != "dim" or not digits.removeprefix("-").isdecimal():
        raise value_error("", f"{full!r} is not the name of a tensor: expected 'dimK/name'")
    return int(digits), name


def _is_bounds(dim: int, name: str) -> bool:
    return name == "bounds" and dim > 0


class JointState:
    """The state of `JointNestedRaggedTensorDict`, and the members that read it directly.

    One of three holds: `_joint` is a view of the core; or `_live` is the dict that `.tensors` returned, which
    is the truth from then on; or neither, and `_tensors_fp` is a file to open on first use.
    """

    _joint: _core.Joint | None = None
    _live: dict[str, Array] | None = None
    _given_schema: dict[str, Any] | None = None  # the schema, where one was given, inferred or assigned
    _joint_cache: tuple[tuple[str, ...], tuple[Array, ...], _core.Joint] | None = None  # of _live, reused
    _level_cache: tuple[_core.Joint, list[_core.Level]] | None = None  # levels of _joint, from the top down
    _order: tuple[str, ...] | None = None  # of the tensors, where it is not the keys' own
    _metadata: Any = None  # the view's meta, kept for when the view is gone
    _tensors_fp: Path | None = None
    _subset_keys: list[str] | None = None
    _origin: Any = None  # the dataset that this is of, for errors
    _own_init: bool = False  # a subclass has an __init__ of its own

    @classmethod
    def _wrap(cls: type[Self], joint: _core.Joint, schema: dict[str, Any] | None = None) -> Self:
        """An object of this class around a view, as `cls(processed_tensors=...)` would be."""
        if cls._own_init:
            out = _new(cls)
            out._joint = joint
            metadata = joint.meta
            out = cls(processed_tensors=out.tensors, schema=schema)  # type: ignore[call-arg]
            out._metadata = metadata
            return out
        out = _new(cls)
        out._joint = joint
        if schema is not None:
            out._given_schema = dict(schema)
        return out

    def _view(self) -> _core.Joint:
        """The core's view of the contents, built anew if the live dict has changed."""
        if self._joint is not None:
            return self._joint
        live = self._live
        if live is None:
            self._joint = self._open()
            return self._joint
        cache = self._joint_cache
        if cache is not None and _is_unchanged(live, cache[0], cache[1]):
            return cache[2]
        view, is_reusable = _build(live, self._metadata)
        # Bounds are read where they lie, so a change inside them is seen; a copied array would go stale.
        self._joint_cache = (tuple(live), tuple(live.values()), view) if is_reusable else None
        return view

    def __varlen_joint__(self) -> _core.Joint:
        """The core's columns, by which writers and datasets recognize a joint dict."""
        return self._view()

    def _levels_of(self, joint: _core.Joint, depth: int) -> tuple[_core.Level, ...]:
        """The first levels of the view, the same objects for every key: checked once, known to be equal."""
        cache = self._level_cache
        if cache is None or cache[0] is not joint:
            cache = (joint, [])
            if joint is self._joint:  # the bounds of a live dict may be written to
                self._level_cache = cache
        levels = cache[1]
        while len(levels) < depth:
            levels.append(joint.level(len(levels) + 1))
        return tuple(levels[:depth])

    def _open(self) -> _core.Joint:
        raise NotImplementedError

    def _file_order(self) -> tuple[str, ...] | None:
        return None

    @property
    def _is_lazy(self) -> bool:
        return self._tensors_fp is not None and self._live is None

    @property
    def _meta(self) -> dict[str, Any]:
        """Vocabularies and the like: {"vocabularies": {...}, "row_ids": name}; shared, not to be changed."""
        metadata = self._view().meta if self._live is None else self._metadata
        return metadata if metadata is not None else {}

    def _names(self) -> list[tuple[int, str]]:
        """(dim, name) of every key, in their order; with those that an index left behind, without bounds."""
        if self._live is not None:
            return [pair for pair in map(_split, self._live) if not _is_bounds(*pair)]
        view = self._view()
        return list(zip(view.dims, view.names, strict=True))

    def _arrays(self, *, writable: bool = False) -> dict[str, Array]:
        """Every tensor under its full name; shared memory is not copied."""
        if self._live is not None:
            return self._live
        view = self._view()
        out: dict[str, Array] = {}
        level = 0
        for dim, name in zip(view.dims, view.names, strict=True):
            while level < dim:
                level += 1
                out[f"dim{level}/bounds"] = view.bounds(level)
            values = view.values(name)
            if writable and (not values.flags.writeable or type(values) is not np.ndarray):
                values = np.array(values)
            out[f"dim{dim}/{name}"] = values
        while level < view.depth:
            level += 1
            out[f"dim{level}/bounds"] = view.bounds(level)
        order = self._order or self._file_order()
        if order is not None and out.keys() <= set(order):
            return {name: out[name] for name in order if name in out}
        return out

    @property
    def tensors(self) -> dict[str, Array]:
        """The flat arrays as an editable dict: `dim{d}/{name}`, and `dim{d}/bounds` for each level.

        From the first access on, the object works on this dict: you may assign, add and pop arrays, and every
        operation sees it. A key that an integer index left with a single value is called `dim-1/{name}`.
        Arrays are plain and writable; those of a file are copied at the first access.

        Returns
        -------
        dict of str to ndarray
            Values in their own dtypes, bounds int64: the ends of each sequence, without a leading 0.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> JointNestedRaggedTensorDict({"a": [[1, 2], [3]]}).tensors
        {'dim1/bounds': array([2, 3]), 'dim1/a': array([1, 2, 3], dtype=uint8)}
        """
        if self._live is None:
            arrays = self._arrays(writable=True)
            self._metadata = self._view().meta
            self._live = arrays
            self._joint = self._level_cache = None
        return self._live

    @property
    def _tensors(self) -> dict[str, Array] | None:
        return None if self._is_lazy else self.tensors

    @_tensors.setter
    def _tensors(self, tensors: dict[str, Array]) -> None:
        if self._live is None and (self._joint is not None or self._tensors_fp is not None):
            self._metadata = self._view().meta
        self._live = tensors
        self._joint = self._level_cache = None

    @property
    def _tensor_keys(self) -> set[str]:
        depth = self._depth
        bounds = {f"dim{d}/bounds" for d in range(1, depth + 1)} if self._live is None else set(self._live)
        return bounds | {f"dim{dim}/{name}" for dim, name in self._names()}

    @contextmanager
    def _tensor_at_key(self, key: str) -> Iterator[Array]:
        if self._subset_keys is not None and key not in self._subset_keys:
            raise error_of(
                KeyError, "", f"Key {key!r} is not part of the loaded subset {sorted(self._subset_keys)}."
            )
        yield self._arrays()[key]

    @property
    def _depth(self) -> int:
        """The number of levels; -1 if every dim was indexed away or there is no key."""
        if self._live is not None:
            return max((_split(full)[0] for full in self._live), default=-1)
        view = self._view()
        return view.depth if view.names or view.depth > 0 else -1

    @property
    def schema(self) -> dict[str, Any]:
        """The dtype of each key, under its bare name.

        The schema that the constructor was given or inferred, in its original form; NumPy dtypes for data
        from a file or an index.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"a": [[1, 2], [3]]})
        >>> J.schema, J[:1].schema
        ({'a': <class 'numpy.uint8'>}, {'a': dtype('uint8')})
        """
        if self._given_schema:
            return self._given_schema
        if self._live is not None:
            kinds = {full: array.dtype for full, array in self._live.items() if not _is_bounds(*_split(full))}
        else:
            view = self._view()
            kinds = {
                f"dim{dim}/{name}": view.values(name).dtype
                for dim, name in zip(view.dims, view.names, strict=True)
            }
        return {_split(full)[1]: kinds[full] for full in sorted(kinds)}

    @property
    def _schema(self) -> dict[str, Any]:
        return self.schema

    @_schema.setter
    def _schema(self, schema: dict[str, Any] | None) -> None:
        self._given_schema = None if schema is None else dict(schema)

    @property
    def max_n_dims(self) -> int:
        """The dimensions of the deepest key or level; 0 if nothing is left to index.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"a": [1, 2], "b": [[[1]], [[2], [3]]]})
        >>> J.max_n_dims, J.min_n_dims
        (3, 1)
        """
        return self._depth + 1

    @property
    def min_n_dims(self) -> int:
        """The dimensions of the shallowest key; 0 if an index left one behind, or there is no key.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> JointNestedRaggedTensorDict({"a": [1, 2], "b": [[1], [2, 3]]}).min_n_dims
        1
        """
        dims = [dim for dim, _ in self._names()]
        if self._depth > 0:
            dims.append(1)  # its bounds
        return min(dims, default=-1) + 1

    def keys(self) -> set[str]:
        """The names of the keys, including those that an index left with a single value.

        Returns
        -------
        set of str
            The names, without levels and masks.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> sorted(JointNestedRaggedTensorDict({"b": [1, 2], "a": [[1], [2]]}).keys())
        ['a', 'b']
        """
        return {name for _, name in self._names() if name != "mask"}

    def keys_at_dim(self, dim: int) -> set[str]:
        """The names of the keys that lie under `dim` levels.

        Parameters
        ----------
        dim : int
            The number of levels; 0 for keys with one value per row.

        Returns
        -------
        set of str
            The names; empty if there are none.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> JointNestedRaggedTensorDict({"b": [1, 2], "a": [[1], [2]]}).keys_at_dim(1)
        {'a'}
        """
        level = as_int(dim, "dim", SMALLEST)
        return {name for d, name in self._names() if d == level and name != "mask"}

    def _get_dim(self, key: str) -> int:
        for dim, name in self._names():
            if name == key:
                return dim
        keys = "', '".join(sorted(self.keys()))
        raise error_of(KeyError, "", f"Key '{key}' not found in '{keys}'")

    @staticmethod
    def _is_meta_key(k: str) -> bool:
        return k.endswith(("/bounds", "/mask"))

    @staticmethod
    def _get_dim_from_key_str(full_key_str: str) -> int:
        return _split(full_key_str)[0]

    def equals(self, other: object, equal_nan: bool = False) -> bool:
        """Whether both hold the same keys at the same dims, with equal lengths and values.

        Parameters
        ----------
        other
            Any object; only a joint dict can be equal.
        equal_nan
            True lets NaN equal NaN. Dtypes are not compared: 1 equals 1.0.

        Returns
        -------
        bool
            False if `other` is not a joint dict.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"a": [[float("nan")], [1.0]]})
        >>> J.equals(J), J.equals(J, equal_nan=True)
        (False, True)
        """
        if not isinstance(other, JointState):
            return False
        mine, theirs = self._arrays(), other._arrays()
        if mine.keys() != theirs.keys():
            return False
        is_nan_equal = as_bool(equal_nan, "equal_nan")
        words = self._meta.get("vocabularies", {}), other._meta.get("vocabularies", {})
        return words[0] == words[1] and all(
            np.array_equal(array, theirs[full], equal_nan=is_nan_equal and array.dtype.kind in "fcmM")
            for full, array in mine.items()
        )

    def __eq__(self, other: object) -> bool:
        return self.equals(other, equal_nan=False)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self._view())

    def _file_parts(self) -> dict[str, Any]:
        view = self._view()
        view.check()
        keys = {name: view.values(name) for name in view.names}
        levels = self._levels_of(view, view.depth)
        return {"keys": keys, "dims": view.dims, "levels": levels, "count": len(view), "words": self._meta}

    @classmethod
    def _from_saved(
        cls: type[Self], keys: dict[str, Array], dims: list[int], levels: Any, count: int, words: Any
    ) -> Self:
        metadata = make_metadata(vocabularies_of(words.get("vocabularies")), words.get("row_ids"))
        return cls._wrap(_core.Joint(list(keys), dims, list(keys.values()), levels, count, metadata))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("_joint_cache", None)
        state.pop("_level_cache", None)
        state.pop("_origin", None)
        if self._is_lazy:
            state.pop("_joint", None)  # the path is enough
        return state


def _build(live: dict[str, Array], metadata: object) -> tuple[_core.Joint, bool]:
    """A view of a dict of arrays, and whether it shares all of them."""
    names: list[str] = []
    dims: list[int] = []
    values: list[Array] = []
    bounds: dict[int, Array] = {}
    is_reusable = True
    for full, array in live.items():
        dim, name = _split(full)
        if not isinstance(array, np.ndarray):
            raise instance_error(full, "an array", array)
        is_reusable = is_reusable and array.flags.c_contiguous
        if _is_bounds(dim, name):
            bounds[dim] = array
            is_reusable = is_reusable and array.dtype == _INT64 and array.dtype.isnative
        elif name in names:
            raise value_error(full, f"there is a key {name!r} at another dim")
        else:
            names.append(name)
            dims.append(dim)
            values.append(array)
    depth = max((*dims, *bounds), default=0)
    for d in range(1, depth + 1):
        if d not in bounds:
            raise value_error("", f"dim{d}/bounds is missing, a key at dim {depth} needs it")
    return _core.Joint(
        names, dims, values, [bounds[d] for d in range(1, depth + 1)], -1, metadata
    ), is_reusable
