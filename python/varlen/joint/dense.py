"""Rectangles from a joint dict, and a function that prints them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from varlen import _core
from varlen.arguments import as_bool, as_int, as_mapping, ints_per_level, over_limit, padding_id, word_as_id
from varlen.errors import contract_error, error_of
from varlen.joint.state import JointState

__all__ = ["pprint_dense"]

Array = np.ndarray[tuple[Any, ...], np.dtype]

_MASK = re.compile(r"dim(\d+)/mask")


def pprint_dense(dense_dict: Mapping[str, Array]) -> None:
    """Print the result of `to_dense` key by key, without blank lines.

    Keys with the same number of dimensions form a group: the mask first, the others sorted. A line `.`
    separates keys and replaces NumPy's blank lines; `---` separates groups.

    Parameters
    ----------
    dense_dict : dict of str to ndarray
        A result of `to_dense`.

    Examples
    --------
    >>> from varlen import JointNestedRaggedTensorDict
    >>> from varlen.joint import pprint_dense
    >>> pprint_dense(JointNestedRaggedTensorDict({"S": [8, 9], "T": [[1, 2], [3]]}).to_dense())
    S
    [8 9]
    .
    ---
    .
    dim1/mask
    [[ True  True]
     [ True False]]
    .
    T
    [[1 2]
     [3 0]]
    """
    groups: dict[int, list[str]] = {}
    masks = {name: int(match[1]) for name in dense_dict if (match := _MASK.match(name))}
    for name, dim in masks.items():
        groups[dim] = [name]
    for name in sorted(dense_dict.keys() - masks.keys()):
        groups.setdefault(dense_dict[name].ndim - 1, []).append(name)
    blocks = [
        "\n.\n".join(name + "\n" + str(dense_dict[name]).replace("\n\n", "\n.\n") for name in groups[dim])
        for dim in sorted(groups)
    ]
    print("\n.\n---\n.\n".join(blocks))


class DenseMethods(JointState):
    """`to_dense` of a joint dict."""

    def to_dense(
        self,
        padding_side: str = "right",
        *,
        fill: Any = None,
        out: Mapping[str, Array] | None = None,
        masks: bool = True,
        max_len: int | Sequence[int | None] | None = None,
        truncate: str = "right",
        empty_keys: bool = False,
        max_bytes: int | None = None,
    ) -> dict[str, Array]:
        """Pad all keys to rectangles, at every level, with a mask for each dim that has a key.

        Parameters
        ----------
        padding_side
            "right" or "left": the side of the padding, at every level.
        fill
            The fill value: a scalar for all padded keys, or a dict from keys to scalars. A key with a
            vocabulary also takes one of its words. By default the id of "[PAD]" if the vocabulary has it,
            else 0.
        out
            Arrays to write into, by the names of the result; each of the right shape and dtype, C-contiguous.
        masks
            False leaves out the masks.
        max_len
            The length to which longer sequences are cut: an int for the first level, or one per level; None
            for no limit.
        truncate
            "right" or "left": the end that `max_len` cuts off.
        empty_keys
            True keeps a key whose sequences are all empty, with width 0; False leaves out the key, but not
            its mask.
        max_bytes
            Refuse a larger result; by default half of the machine's memory.

        Returns
        -------
        dict of str to ndarray
            Keys of dim 0, then for each dim d from 1 `dim{d}/mask`, bool, True where data is present, and the
            keys, shape (rows, longest of level 1, ..., longest of level d, *trailing), in their own dtypes.
            New arrays, all of them writable.

        Raises
        ------
        ValueError
            A side is neither "left" nor "right", an array in `out` does not fit, the result would be larger
            than `max_bytes`, or a level of a file is damaged.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> J = JointNestedRaggedTensorDict({"T": [[1, 2, 3], [4]]})
        >>> J.to_dense(padding_side="left", fill=9)["T"]
        array([[1, 2, 3],
               [9, 9, 4]], dtype=uint8)
        """
        for argument, side in (("padding_side", padding_side), ("truncate", truncate)):
            if not isinstance(side, str):
                raise contract_error(
                    ValueError, argument, f"{argument} must be 'left' or 'right'; got '{side}'"
                )
        view = self._view()
        if out is not None:
            _check_out(view, out)
        sizes = [] if max_len is None else ints_per_level(max_len, "max_len", max(view.depth, 0))
        options = (
            padding_side,
            truncate,
            _fill_rows(view, fill),
            None if out is None else dict(out),
            [-1 if size is None else size for size in sizes],
            as_bool(masks, "masks"),
            as_bool(empty_keys, "empty_keys"),
            -1 if max_bytes is None else as_int(max_bytes, "max_bytes"),
        )
        try:
            return view.dense(*options)
        except ValueError as error:
            raise over_limit(error) from None


def _fill_rows(view: _core.Joint, fill: object) -> dict[str, Array] | None:
    """The fill row of each key; by default the id of padding if its words have one, else zero."""
    names = view.names
    words = (view.meta or {}).get("vocabularies", {})
    padded = [name for name, dim in zip(names, view.dims, strict=True) if dim > 0]
    rows = {}
    if fill is None or isinstance(fill, Mapping):
        rows, fills = padding_rows(view, padded), dict(fill or {})
    else:
        fills = dict.fromkeys(padded, fill)
    for name, value in fills.items():
        if name not in names:
            raise error_of(KeyError, "fill", f"there is no key {name!r}")
        values = view.values(name)
        if value is None:
            raise contract_error(
                TypeError, "fill", f"fill of {name!r}: expected a value of dtype {values.dtype}, got None"
            )
        argument = f"fill of {name!r}"
        value = word_as_id(value, words.get(name), values.dtype, argument)
        rows[name] = _core.fill_row(value, values.dtype, values.shape[1:], argument)
    return rows or None


def padding_rows(view: _core.Joint, names: Iterable[str]) -> dict[str, Array]:
    """The fill row of each key whose words have an id of padding."""
    words = (view.meta or {}).get("vocabularies", {})
    ids = {name: number for name in names if (number := padding_id(words.get(name))) is not None}
    columns = {name: view.values(name) for name in ids}
    return {n: _core.fill_row(ids[n], a.dtype, a.shape[1:], f"fill of {n!r}") for n, a in columns.items()}


def _check_out(view: _core.Joint, out: Mapping[str, Array]) -> None:
    as_mapping(out, "out", "names to arrays")
    names = {f"dim{dim}/mask" for dim in range(1, view.depth + 1)} | set(view.names)
    for name in out:
        if name not in names:
            raise error_of(KeyError, "out", f"there is no {name!r} in the result")
