"""Joint dicts joined into one, and changes of shape."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable
from typing import TypeVar

import numpy as np

from varlen import _core
from varlen.arguments import SMALLEST, as_int, as_list, one_of
from varlen.errors import contract_error, type_error, value_error
from varlen.io.dtypes import cast_exactly, shared_dtype
from varlen.io.schema import ids_of_words, union_of_words
from varlen.joint.dense import padding_rows
from varlen.joint.state import JointState

__all__: list[str] = []

Self = TypeVar("Self", bound="CombineMethods")


class CombineMethods(JointState):
    """Shapes of a joint dict: `concatenate`, `vstack`, `unsqueeze`, `squeeze`, `flatten`."""

    @classmethod
    def concatenate(cls: type[Self], tensors: Iterable[Self]) -> Self:
        """Concatenate along dim 0.

        Parameters
        ----------
        tensors
            Joint dicts with the same keys at the same dims and dtypes. A single one is returned as it is.

        Returns
        -------
        JointNestedRaggedTensorDict
            The rows of all, in order.

        Raises
        ------
        ValueError
            There are no joint dicts, or one differs from the first in keys, dims or dtypes.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict as J
        >>> J.concatenate([J({"T": [[1, 2], [3]]}), J({"T": [[4, 5]]})]).to_list()
        {'T': [[1, 2], [3], [4, 5]]}
        """
        parts = _check_parts(tensors, "tensors")
        if len(parts) == 1:
            return parts[0]
        return _join(cls, parts, "tensors", stack=False)

    @classmethod
    def vstack(cls: type[Self], tensor_dicts: Iterable[Self]) -> Self:
        """Stack joint dicts as the rows of a new dim 0: the inverse of `J[i]`.

        Keys that an integer index left with a single value become rows of dim 0 again, if all parts have
        them.

        Parameters
        ----------
        tensor_dicts : iterable of JointNestedRaggedTensorDict
            Joint dicts with the same keys at the same dims and dtypes.

        Returns
        -------
        JointNestedRaggedTensorDict
            A joint dict with one row per part.

        Raises
        ------
        ValueError
            As in `concatenate`.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"S": [8, 9], "T": [[1, 2], [3]]})
        >>> JointNestedRaggedTensorDict.vstack([J[1], J[0]]).to_list()
        {'S': [9, 8], 'T': [[3], [1, 2]]}
        """
        parts = _check_parts(tensor_dicts, "tensor_dicts")
        if len(parts) == 1:
            return cls._wrap(parts[0]._view().unsqueeze(), parts[0]._given_schema)
        return _join(cls, parts, "tensor_dicts", stack=True)

    def unsqueeze(self: Self, dim: int) -> Self:
        """Add an outermost dim of length 1; values are shared.

        Parameters
        ----------
        dim : int
            The position of the new dim, always 0.

        Returns
        -------
        JointNestedRaggedTensorDict
            A joint dict of one row, which holds all rows of this one.

        Raises
        ------
        ValueError
            `dim` is not 0.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> JointNestedRaggedTensorDict({"T": [1, 2]}).unsqueeze(0).to_list()
        {'T': [[1, 2]]}
        """
        if as_int(dim, "dim", SMALLEST) != 0:
            raise contract_error(ValueError, "dim", f"Only supports dim = 0 for now; got {dim}")
        return self._wrap(self._view().unsqueeze(), self._given_schema)

    def squeeze(self: Self, dim: int) -> Self:
        """Remove the outermost dim, which must have length 1; values are shared.

        Parameters
        ----------
        dim : int
            The dim to remove, always 0.

        Returns
        -------
        JointNestedRaggedTensorDict
            The rows inside the only row of this one.

        Raises
        ------
        ValueError
            `dim` is not 0, or its length is not 1.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> JointNestedRaggedTensorDict({"T": [[1, 2]]}).squeeze(0).to_list()
        {'T': [1, 2]}
        """
        if as_int(dim, "dim", SMALLEST) != 0:
            raise contract_error(ValueError, "dim", f"Only supports dim = 0 for now; got {dim}")
        return self._wrap(self._view().squeeze())

    def flatten(self: Self, dim: int = -1, *, fill_mode: str = "first") -> Self:
        """Merge the two deepest dims.

        Keys at the deepest dim keep their values. A key one dim above has one value for each merged sequence,
        which moves to the first place of that sequence. The value of an empty sequence is left out; if all
        are empty, a warning says so.

        Parameters
        ----------
        dim
            -1, or the deepest dim's number.
        fill_mode
            The fill of the other places: 0 with "first", NaN (NaT; 0 in integers) with "nan", in both cases
            the id of "[PAD]" if the key's vocabulary has this word. "repeat" puts the value into all of them.

        Returns
        -------
        JointNestedRaggedTensorDict
            The joint dict with one dim fewer.

        Raises
        ------
        ValueError
            `dim` is not the deepest, there is only one dim, or `fill_mode` is unknown.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"ts": [1, 2, 3], "id": [[1, 2, 3], [3, 4], [1, 2]]})
        >>> J.flatten().to_list()
        {'ts': [1, 0, 0, 2, 0, 3, 0], 'id': [1, 2, 3, 3, 4, 1, 2]}
        >>> J.flatten(fill_mode="repeat").to_list()["ts"]
        [1, 1, 1, 2, 2, 3, 3]
        """
        deepest = self.max_n_dims - 1
        one_of(fill_mode, "fill_mode", ("first", "repeat", "nan"))
        dim = as_int(dim, "dim", SMALLEST)
        if (dim + deepest + 1 if dim < 0 else dim) != deepest:
            raise contract_error(ValueError, "dim", f"Only supports dim = -1 or {deepest} for now; got {dim}")
        if deepest < 1:
            raise value_error("flatten", f"needs at least two dims, there are {self.max_n_dims}")
        view = self._view()
        outer = [name for d, name in zip(view.dims, view.names, strict=True) if d == deepest - 1]
        if outer and view.rows(deepest) == 0 and view.rows(deepest - 1) > 0:
            warnings.warn(
                "flatten(): all inner ragged rows are empty, so the flattened length is 0. Values at "
                f"outer-dim key(s) {sorted(outer)} will be dropped because there are no positions to "
                "broadcast them into.",
                stacklevel=2,
            )
        return self._wrap(view.flatten(fill_mode, padding_rows(view, outer)), self._given_schema)


def _check_parts(joints: Iterable[Self], argument: str) -> list[Self]:
    parts = as_list(joints, argument, "joint dicts")
    for i, part in enumerate(parts):
        if not isinstance(part, JointState):
            raise type_error(argument, f"item {i}: expected a joint dict, got {type(part).__name__}", row=i)
    return parts


def _join(cls: type[Self], parts: list[Self], argument: str, stack: bool) -> Self:
    if not parts:
        raise contract_error(ValueError, argument, "Can't concatenate an empty list!")
    join = _core.Joint.stack if stack else _core.Joint.concat
    try:
        joint = join([part._joint or part._view() for part in parts])
    except ValueError:
        parts = _check_alike(_unify([part.unsqueeze(0) for part in parts] if stack else parts))
        joint = _core.Joint.concat([part._view() for part in parts])
    out = cls._wrap(joint, parts[0]._given_schema)
    order = tuple(parts[0]._live) if parts[0]._live is not None else parts[0]._order
    if order is not None and not stack and not cls._own_init:
        out._order = order
    return out


def _check_alike(parts: list[Self]) -> list[Self]:
    """Refuse parts that differ, in upstream's words; parts of other dtypes get a common one."""
    first = parts[0]
    keys, dims, schema = first.keys(), first.max_n_dims, first.schema
    for part in parts[1:]:
        if part.keys() != keys:
            raise value_error("", f"Keys inconsistent! {part.keys()} != {keys}")
        if part.max_n_dims != dims:
            raise value_error("", f"Max dims inconsistent! {part.max_n_dims} != {dims}")
        if _dtypes(part) != _dtypes(first) and part.schema != schema:
            raise value_error("", f"Schema inconsistent! {part.schema} != {schema}")
        for d in range(dims):
            own_keys, first_keys = part.keys_at_dim(d), first.keys_at_dim(d)
            if own_keys != first_keys:
                raise value_error("", f"Keys inconsistent @ dim {d}! {own_keys} != {first_keys}")
    return _promote(parts)


def _unify(parts: list[Self]) -> list[Self]:
    """The same rows with one vocabulary for all parts: the words of the first, then new ones."""
    tables = [part._meta.get("vocabularies", {}) for part in parts]
    if not tables[0] or any(words.keys() != tables[0].keys() for words in tables):
        return parts
    union = {key: union_of_words(words[key] for words in tables) for key in tables[0]}
    out = []
    for part, words in zip(parts, tables, strict=True):
        view, metadata = part._view(), {**part._meta, "vocabularies": union}
        for dim, name in zip(view.dims, view.names, strict=True):
            if name in union and dim >= 0:
                new_ids = ids_of_words(words[name], union[name])
                view = view.with_column(name, dim, new_ids[view.values(name)], metadata)
        out.append(part._wrap(view, part._given_schema))
    return out


def _dtypes(part: JointState) -> dict[str, np.dtype]:
    view = part._view()
    return {name: view.values(name).dtype for name in view.names}


def _promote(parts: list[Self]) -> list[Self]:
    maps = [_dtypes(part) for part in parts]
    out = []
    for number, (part, own) in enumerate(zip(parts, maps, strict=True)):
        view = part._view()
        for dim, name in zip(view.dims, view.names, strict=True):
            common = functools.reduce(functools.partial(shared_dtype, name), (kinds[name] for kinds in maps))
            if own[name] != common and dim >= 0:
                values = cast_exactly(f"tensors[{number}]: {name}", view.values(name), common)
                view = view.with_column(name, dim, values, view.meta)
        out.append(part._wrap(view, part._given_schema))
    return out
