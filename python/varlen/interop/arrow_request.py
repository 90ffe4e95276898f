"""Types that a consumer of Arrow asks for: given where nothing is lost, as its specification allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.errors import value_error
from varlen.interop.arrow_part import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from varlen.interop.arrow_nodes import Node

__all__: list[str] = []

_NARROW = {"+L": "+l", "U": "u", "Z": "z"}  # with offsets of 32 bits
_DTYPES = {
    "c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8",
    "e": "f2", "f": "f4", "g": "f8",
}  # fmt: skip


def as_asked(node: Node, schema: object) -> Node:
    """A node with the types of a schema in a capsule, where they hold its numbers and offsets."""
    return node if schema is None else _fit(node, Part._make(_core.read_arrow_schema(schema)))


def all_as_asked(node: Node, nodes: Iterable[Node], schema: object) -> tuple[Node, Iterable[Node]]:
    """The same of a stream. Its schema goes first, so what does not fit later is an error."""
    if schema is None:
        return node, nodes
    if isinstance(nodes, tuple) and len(nodes) == 1:
        node = as_asked(nodes[0], schema)
        return node, (node,)
    part = Part._make(_core.read_arrow_schema(schema))
    head = _fit(node, part)
    return head, _same_types(nodes, head, part)


def _same_types(nodes: Iterable[Node], head: Node, part: Part) -> Iterator[Node]:
    types = _types(head)
    for node in nodes:
        fit = _fit(node, part)
        if _types(fit) != types:
            raise value_error("requested_schema", "it does not hold the numbers, or the offsets, of all rows")
        yield fit


def _types(node: Node) -> Any:
    return node.format, tuple(map(_types, node.children))


def _fit(node: Node, part: Part) -> Node:
    children = {child.name: child for child in part.parts()}
    if node.format == "+s":
        fields = [
            _fit(child, children[child.name]) if child.name in children else child for child in node.children
        ]
        return node._replace(children=tuple(fields))
    if len(node.children) == len(children) == 1:
        node = node._replace(children=(_fit(node.children[0], *children.values()),))
    if node.dictionary is not None or part.dictionary is not None or part.format == node.format:
        return node
    flat = node.buffers[1] if len(node.buffers) > 1 else None
    if flat is None:
        return node
    if part.format == _NARROW.get(node.format):
        offsets = _exact(flat, "i4")
        return node if offsets is None else _swap_flat(node, part.format, offsets)
    if part.format in _DTYPES and node.format in _DTYPES:
        numbers = _exact(flat, _DTYPES[part.format])
        return node if numbers is None else _swap_flat(node, part.format, numbers)
    return node


def _swap_flat(node: Node, name: str, flat: np.ndarray) -> Node:
    return node._replace(format=name, buffers=(node.buffers[0], flat, *node.buffers[2:]))


def _exact(flat: np.ndarray, dtype: str) -> np.ndarray | None:
    """The same numbers in another dtype; None where one changes."""
    with np.errstate(all="ignore"):
        result = flat.astype(dtype)
        round_trip = result.astype(flat.dtype)
    is_float = flat.dtype.kind == result.dtype.kind == "f"
    pairs = (round_trip, flat), (result, flat)
    is_exact = all(np.array_equal(*pair, equal_nan=is_float) for pair in pairs)
    return result if is_exact else None
