"""A dataset as a table of Arrow: a key is a column, a shard a batch of the stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from varlen import _core
from varlen.interop.arrow_nodes import Node, joint_node
from varlen.interop.frames import FrameMethods
from varlen.io.dtypes import widen

__all__: list[str] = []

_CHUNK = 65536  # rows of a view that are gathered at a time


class ArrowTable(FrameMethods):
    """What a dataset shows of itself to Arrow. Mapped shards are shared, rows of a view are gathered."""

    def _arrow_node(self: Any) -> Node:
        node: Node = self._table_node(self._pick(slice(None)))
        return node

    def _arrow_nodes(self: Any) -> tuple[Node, Iterable[Node]]:
        return self._table_node(self._pick(slice(0, 0))), map(self._table_node, self._arrow_parts())

    def _table_node(self: Any, joint: _core.Joint) -> Node:
        fields = self._source.fields
        words = {name: field.vocabulary for name, field in fields.items()}
        rows = joint if joint.names == list(fields) else joint.select(list(fields))
        dtypes = {name: field.dtype for name, field in fields.items()}
        wider = {name: dtype for name, dtype in dtypes.items() if joint.values(name).dtype != dtype}
        return joint_node(widen(rows, wider), words)

    def _arrow_parts(self: Any) -> Iterator[_core.Joint]:
        if self._index is not None:
            for begin in range(0, len(self), _CHUNK):
                yield self._pick(slice(begin, begin + _CHUNK))
            return
        for shard in range(len(self._source.counts)):
            yield self._source.joint(shard)
