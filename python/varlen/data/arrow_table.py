"""A dataset as a table of Arrow: a key is a column, a shard a batch of the stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.interop.arrow_nodes import Leaf, Node, joint_node
from varlen.interop.frames import ArrowSource, FrameMethods
from varlen.io.dtypes import widen

if TYPE_CHECKING:
    import dask.bag
    import pyarrow as pa
    import ray.data

__all__: list[str] = []

_CHUNK = 65536  # rows of a view that are gathered at a time


class ArrowTable(FrameMethods):
    """What a dataset shows of itself to Arrow. Mapped shards are shared, rows of a view are gathered."""

    def to_dask(self) -> dask.bag.Bag:
        """Make a Dask bag of tables of Arrow, one a shard, which the workers read.

        Returns
        -------
        dask.bag.Bag
            One pyarrow.Table in each partition: views of the mapped file of a shard. Words are dictionary
            columns. A view of rows has partitions of at most 65,536 rows, which are copied.

        Raises
        ------
        ImportError
            Dask or pyarrow is missing.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"id": [7, 8], "x": [[1, 2, 3], []]}))
        >>> bag = ds.to_dask()
        >>> bag.npartitions, bag.map(lambda table: table.num_rows).sum().compute(scheduler="sync")
        (1, 2)
        """
        import dask
        import dask.bag
        import pyarrow as pa  # noqa: F401

        call = dask.delayed(_tables_of, pure=True)
        return dask.bag.from_delayed([call(self, part) for part in self._table_parts()])

    def to_ray(self) -> ray.data.Dataset:
        """Make a Ray Dataset whose blocks are tables of Arrow, one a shard, which the workers read now.

        Returns
        -------
        ray.data.Dataset
            The rows in order, a column a key. A worker maps the file of a shard, and Ray keeps the block in
            its shared memory. A view of rows has blocks of at most 65,536 rows.

        Raises
        ------
        ImportError
            Ray or pyarrow is missing.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"id": [7, 8], "x": [[1, 2, 3], []]}))
        >>> ds.to_ray().count()  # doctest: +SKIP
        2
        """
        import pyarrow as pa  # noqa: F401
        import ray
        import ray.data

        read, source = ray.remote(_table_of), ray.put(self)
        return ray.data.from_arrow_refs([read.remote(source, part) for part in self._table_parts()])

    def _table_parts(self: Any) -> list[int] | list[range]:
        """The numbers of the shards, or ranges of rows of a view."""
        if self._index is not None:
            count = len(self)
            return [range(b, min(b + _CHUNK, count)) for b in range(0, max(count, 1), _CHUNK)]
        shards: list[int] = np.flatnonzero(self._source.counts).tolist()
        return shards or [range(0)]

    def _table_of(self: Any, part: int | range) -> pa.Table:
        import pyarrow as pa

        if isinstance(part, int):
            joint = self._source.joint(part)
        else:
            joint = self._pick(slice(part.start, part.stop))
        return pa.table(_Table(self._table_node(joint)))

    def _arrow_node(self: Any, leaf: Leaf | None = None) -> Node:
        node: Node = self._table_node(self._pick(slice(None)), leaf)
        return node

    def _arrow_nodes(self: Any) -> tuple[Node, Iterable[Node]]:
        return self._table_node(self._pick(slice(0, 0))), map(self._table_node, self._arrow_parts())

    def _table_node(self: Any, joint: _core.Joint, leaf: Leaf | None = None) -> Node:
        fields = self._source.fields
        words = {name: field.vocabulary for name, field in fields.items()}
        rows = joint if joint.names == list(fields) else joint.select(list(fields))
        dtypes = {name: field.dtype for name, field in fields.items()}
        wider = {name: dtype for name, dtype in dtypes.items() if joint.values(name).dtype != dtype}
        return joint_node(widen(rows, wider), words, leaf)

    def _arrow_parts(self: Any) -> Iterator[_core.Joint]:
        if self._index is not None:
            for begin in range(0, len(self), _CHUNK):
                yield self._pick(slice(begin, begin + _CHUNK))
            return
        for shard in range(len(self._source.counts)):
            yield self._source.joint(shard)


class _Table(ArrowSource):
    """A node that shows itself to Arrow."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def _arrow_node(self, leaf: Leaf | None = None) -> Node:
        return self._node


def _table_of(dataset: ArrowTable, part: int | range) -> pa.Table:
    """A block of Ray."""
    return dataset._table_of(part)


def _tables_of(dataset: ArrowTable, part: int | range) -> list[pa.Table]:
    """A partition of a bag."""
    return [dataset._table_of(part)]
