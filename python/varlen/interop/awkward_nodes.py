"""Trees of nodes that are shown to Arrow as arrays of awkward, over the same memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.errors import type_error

if TYPE_CHECKING:
    from varlen.interop.arrow_nodes import Node

__all__: list[str] = []

_UNITS = {"s": "s", "m": "ms", "u": "us", "n": "ns"}


def array_of_node(node: Node) -> Any:
    """An array of awkward."""
    import awkward as ak

    return ak.Array(_layout(ak, node))


def _layout(ak: Any, node: Node) -> Any:
    contents, index, buffers = ak.contents, ak.index, node.buffers
    if node.dictionary is not None:
        words, ids = _layout(ak, node.dictionary), np.asarray(buffers[1], np.int64)
        if node.null_count:
            ids = np.where(_bools(buffers[0], node.length), ids, -1)
            return contents.IndexedOptionArray(index.Index64(ids), words)
        return contents.IndexedArray(index.Index64(ids), words)
    if node.format == "+s":
        fields = [child.name for child in node.children]
        return contents.RecordArray([_layout(ak, child) for child in node.children], fields, node.length)
    if node.format == "+L":
        return contents.ListOffsetArray(index.Index64(buffers[1]), _layout(ak, node.children[0]))
    if node.format.startswith("+w:"):
        return contents.RegularArray(_layout(ak, node.children[0]), int(node.format[3:]), node.length)
    if node.format in "UZ":
        kind, letter = ("string", "char") if node.format == "U" else ("bytestring", "byte")
        flat = contents.NumpyArray(buffers[2], parameters={"__array__": letter})
        return contents.ListOffsetArray(index.Index64(buffers[1]), flat, parameters={"__array__": kind})
    return contents.NumpyArray(_numbers(node))


def _numbers(node: Node) -> np.ndarray:
    flat = np.asarray(node.buffers[1])
    if node.format == "b":
        return _bools(flat, node.length)
    if node.format.startswith("w:"):
        raise type_error("values", f"awkward has no type for dtype {flat.dtype}")
    if node.format == "tdD":
        days = flat.astype("M8[D]")
        if node.null_count:
            days[~_bools(node.buffers[0], node.length)] = "NaT"
        return days
    if node.format[0] == "t":
        kind, unit = ("M" if node.format[1] == "s" else "m"), _UNITS[node.format[2]]
        return flat.view(f"{kind}8[{unit}]")
    return flat


def _bools(bits: np.ndarray | None, count: int) -> np.ndarray:
    return np.unpackbits(np.asarray(bits), bitorder="little", count=count).view(np.bool_)


def call_awkward(function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Call a function of awkward on the arrays of the containers among its arguments."""
    return function(*map(_as_array, args), **{key: _as_array(value) for key, value in keywords.items()})


def _as_array(x: Any) -> Any:
    if hasattr(type(x), "_arrow_node"):
        return x.to_awkward() if hasattr(x, "to_awkward") else array_of_node(x._arrow_node())
    if type(x) in (list, tuple):
        return type(x)(map(_as_array, x))
    return {key: _as_array(item) for key, item in x.items()} if type(x) is dict else x
