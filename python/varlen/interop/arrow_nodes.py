"""Arrays out to Arrow: a tree of nodes over shared memory, which the core makes capsules of.

No library of Arrow is needed: a consumer reads the capsules of `__arrow_c_array__` and its like.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from varlen import _core
from varlen.arguments import refuse_gradient, refuse_mask
from varlen.backends import backend_of
from varlen.errors import name_argument, type_error, value_error

__all__: list[str] = []

NULLABLE = 2

_FORMATS = {
    "i1": "c", "u1": "C", "i2": "s", "u2": "S", "i4": "i", "u4": "I", "i8": "l", "u8": "L",
    "f2": "e", "f4": "f", "f8": "g",
}  # fmt: skip
_UNITS = ("s", "ms", "us", "ns")
_TIMES = {"M": (*_UNITS, "m", "h", "D", "W", "M", "Y"), "m": (*_UNITS, "m", "h", "D", "W")}


class Node(NamedTuple):
    """One array of Arrow and those below it, in the order in which the core reads them."""

    format: str
    length: int
    buffers: tuple[np.ndarray | None, ...] = (None,)
    children: tuple[Node, ...] = ()
    dictionary: Node | None = None
    null_count: int = 0
    name: str = ""
    flags: int = NULLABLE
    metadata: bytes = b""

    def rename(self, name: str) -> Node:
        """The same under another name."""
        return self._replace(name=name)


def in_order(flat: np.ndarray) -> np.ndarray:
    """An array in the order of bytes of this machine, end to end; itself where it is so."""
    return np.require(flat.astype(flat.dtype.newbyteorder("="), copy=False), requirements=("C", "A"))


# What makes the node of an array of one axis.
Leaf = Callable[[np.ndarray], Node]


def values_node(flat: np.ndarray, leaf: Leaf | None = None) -> Node:
    """An array of one axis, shared where Arrow has its dtype as it is; `leaf` makes fields of rows."""
    dtype = flat.dtype
    if dtype.kind in "UT":
        return words_node(flat.tolist())
    flat = in_order(flat)
    if (name := _FORMATS.get(dtype.str[1:])) is not None:
        return Node(name, len(flat), (None, flat))
    if dtype.kind == "b":
        return Node("b", len(flat), (None, np.packbits(flat, bitorder="little")))
    if dtype.kind in "mM":
        return _times_node(flat)
    if dtype.kind == "S":
        return words_node(flat.tolist())._replace(format="Z")
    if dtype.names is not None and not _is_small_float(dtype):
        return struct_node(
            {key: partial(array_node, flat[key], (), leaf=leaf) for key in dtype.names},
            len(flat),
        )
    if dtype.type is np.void and dtype.names is None:
        return Node(f"w:{dtype.itemsize}", len(flat), (None, flat))
    raise _no_type_error(dtype)


def array_node(
    values: Any, levels: Sequence[_core.Level], words: Sequence[str] | None = None, leaf: Leaf | None = None
) -> Node:
    """Values of any kind under levels; with words, they are ids of those."""
    array = host_array(values)
    flat = array.reshape(-1)
    node = (leaf or values_node)(flat) if words is None else _ids_node(flat, words)
    for d in range(array.ndim - 1, 0, -1):
        count = math.prod(array.shape[:d])
        node = Node(f"+w:{array.shape[d]}", count, (None,), (node.rename("item"),))
    return reduce(list_node, reversed(levels), node)


def list_node(node: Node, level: _core.Level) -> Node:
    """The sequences of a level, which share its offsets."""
    return Node("+L", len(level), (None, level.offsets), (node.rename("item"),))


def struct_node(columns: Mapping[str, Callable[[], Node]], length: int | None = None) -> Node:
    """Columns as a table: all have the length of the first, or `length`. An error names its column."""
    children = tuple([_column(name, make) for name, make in columns.items()])
    if length is None:
        length = children[0].length if children else 0
    for child in children:
        if child.length != length:
            first = f", {children[0].name!r} {length}" if children else ""
            raise value_error(
                "", f"columns of a table are equally long, but {child.name!r} has {child.length} rows{first}"
            )
    return Node("+s", length, (None,), children, flags=0)


def _column(name: str, make: Callable[[], Node]) -> Node:
    try:
        return make().rename(name)
    except (TypeError, ValueError) as error:
        raise name_argument(error, name) from None


def joint_node(
    joint: _core.Joint, words: Mapping[str, Sequence[str] | None] | None = None, leaf: Leaf | None = None
) -> Node:
    """The keys of a joint dict as columns of a table. A value of a whole row is repeated."""
    count = len(joint) if any(dim >= 0 for dim in joint.dims) else 1
    if words is None:
        words = (joint.meta or {}).get("vocabularies") or {}
    levels = [joint.level(dim) for dim in range(1, max(joint.dims, default=0) + 1)]

    def column(name: str, dim: int) -> Node:
        values = joint.values(name)
        if dim < 0:
            values = values.repeat(count, axis=0)
        return array_node(values, levels[: max(dim, 0)], words.get(name), leaf)

    return struct_node(
        {name: partial(column, name, dim) for name, dim in zip(joint.names, joint.dims, strict=True)}, count
    )


def words_node(words: Sequence[str] | Sequence[bytes]) -> Node:
    """Text, or bytes."""
    rows = [word if isinstance(word, bytes) else word.encode() for word in words]
    is_text = not rows or not isinstance(words[0], bytes)
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=offsets[1:])
    return Node("U" if is_text else "Z", len(rows), (None, offsets, np.frombuffer(b"".join(rows), np.uint8)))


def _is_small_float(dtype: np.dtype) -> bool:
    """Memory of bfloat16 or float8, which NumPy has no name for: a structure of one field of that name."""
    name = dtype.names[0] if dtype.names is not None and len(dtype.names) == 1 else ""
    return name == "bfloat16" or name.startswith("float8")


def host_array(values: Any) -> np.ndarray:
    """Values as an array of this machine, nothing lost."""
    if type(values) is np.ndarray:
        return values
    refuse_mask(values, "values")
    refuse_gradient(values, "values")
    backend = backend_of(values)
    if (device := backend.device_of(values)) != "cpu":
        raise type_error(
            "values", f"they lie on {device}, and Arrow reads memory of the host", "pass r.to('cpu')"
        )
    array = backend.readable(values)
    if array.dtype.itemsize != values.dtype.itemsize:
        raise _no_type_error(values.dtype)
    return array


def _no_type_error(dtype: object) -> TypeError:
    return type_error("values", f"Arrow has no type for dtype {dtype}", "convert them with astype()")


def _times_node(flat: np.ndarray) -> Node:
    """Times and durations as integers of their unit, with NaT as null."""
    unit, count = np.datetime_data(flat.dtype)
    is_date = flat.dtype.kind == "M" and unit in ("D", "W", "M", "Y")
    plain = "D" if is_date else unit if unit in _UNITS else "s"
    if unit not in _TIMES[flat.dtype.kind]:
        raise _no_type_error(flat.dtype)
    if (unit, count) != (plain, 1):
        flat = _same_times(flat, plain)
    is_missing = np.isnat(flat)
    numbers = flat.view(np.int64)
    if is_date:
        numbers = _days(numbers, is_missing)
    letter = plain[0].lower()
    name = "tdD" if is_date else f"ts{letter}:" if flat.dtype.kind == "M" else f"tD{letter}"
    nulls = int(np.count_nonzero(is_missing))
    bits = np.packbits(~is_missing, bitorder="little") if nulls else None
    return Node(name, len(flat), (bits, numbers), null_count=nulls)


def _same_times(flat: np.ndarray, unit: str) -> np.ndarray:
    """The same times in a finer unit."""
    result = flat.astype(f"{flat.dtype.kind}8[{unit}]")
    wrong = result.astype(flat.dtype) != flat
    wrong &= ~np.isnat(flat)
    if wrong.any():
        i = int(wrong.argmax())
        raise value_error("values", f"{flat[i]} does not fit {result.dtype}", row=i)
    return result


def _days(numbers: np.ndarray, is_missing: np.ndarray) -> np.ndarray:
    """Days as int32, Arrow's dates; a null is 0."""
    days = np.where(is_missing, 0, numbers).astype(np.int32)
    wrong = (days != numbers) & ~is_missing
    if wrong.any():
        i = int(wrong.argmax())
        raise value_error("values", f"{numbers[i]} days do not fit a date of Arrow", row=i)
    return days


def _ids_node(ids: np.ndarray, words: Sequence[str]) -> Node:
    """Ids and their words as a dictionary of Arrow; -1 is null."""
    node = values_node(ids)
    if ids.dtype.kind not in "iu":
        raise type_error("values", f"expected integers, the ids of a vocabulary, got {ids.dtype}")
    smallest, largest = (int(ids.min()), int(ids.max())) if len(ids) else (0, -1)
    if smallest < -1 or largest >= len(words):
        bad = int(np.flatnonzero((ids < -1) | (ids >= len(words)))[0])
        text = f"id {ids[bad]} at position {bad} is out of range for {len(words)} words"
        raise value_error("values", text, row=bad, number=int(ids[bad]))
    node = node._replace(dictionary=words_node(words))
    if smallest == -1:
        valid = ids >= 0
        bits = np.packbits(valid, bitorder="little")
        missing = len(ids) - int(np.count_nonzero(valid))
        node = node._replace(buffers=(bits, np.where(valid, ids, 0)), null_count=missing)
    return node
