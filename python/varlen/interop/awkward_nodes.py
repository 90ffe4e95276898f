"""Trees of nodes that are shown to Arrow as arrays of awkward, over the same memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from varlen.errors import type_error
from varlen.interop.arrow_nodes import Node, in_order, values_node

__all__: list[str] = []


def array_of(source: Any) -> Any:
    """What shows itself to Arrow as an array of awkward."""
    import awkward as ak

    return ak.Array(_layout(ak, source._arrow_node(_leaf)))


def _leaf(flat: np.ndarray) -> Node:
    """The node of an array: of numbers, truth and times the array itself, of all others what Arrow has."""
    if flat.dtype.kind not in "biufcmM":
        return values_node(flat, _leaf)
    return Node("", len(flat), (None, in_order(flat)))


def _layout(ak: Any, node: Node) -> Any:
    contents, index, buffers = ak.contents, ak.index, node.buffers
    if not node.format:
        return contents.NumpyArray(buffers[1])
    if node.dictionary is not None:
        words, ids = _layout(ak, node.dictionary), np.asarray(buffers[1], np.int64)
        if node.null_count:
            is_valid = np.unpackbits(np.asarray(buffers[0]), bitorder="little", count=node.length)
            ids = np.where(is_valid, ids, -1)
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
    raise type_error("values", f"awkward has no type for dtype {np.asarray(buffers[1]).dtype}")


def call_awkward(function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Call a function of awkward on the arrays of the containers among its arguments."""
    return function(*map(_as_array, args), **{key: _as_array(value) for key, value in keywords.items()})


def _as_array(x: Any) -> Any:
    if hasattr(type(x), "_arrow_node"):
        return array_of(x)
    if type(x) in (list, tuple):
        return type(x)(map(_as_array, x))
    return {key: _as_array(item) for key, item in x.items()} if type(x) is dict else x
