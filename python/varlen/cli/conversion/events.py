"""Flat events in JSON lines, one object each, as the rows of a table, so that they group like tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from varlen._core import Joint
from varlen.cli.conversion.inputs import Input
from varlen.cli.conversion.places import Places, RowPlace
from varlen.interop.arrow import to_arrow

if TYPE_CHECKING:
    from varlen.cli.conversion.words import Vocabularies

__all__ = ["EventReader"]


class EventReader:
    """Joints with one event per row, as tables: ids of words stay ids, but group columns are text."""

    def __init__(
        self,
        pieces: Iterable[tuple[Input, Joint]],
        inputs: Sequence[Input],
        groups: Sequence[str],
        words: Vocabularies,
    ) -> None:
        self.inputs = list(inputs)
        self._pieces = pieces
        self._groups = groups
        self._words = words
        self._places = Places()

    def read(self) -> Iterator[pa.Table]:
        """The tables, piece by piece."""
        previous, rows = None, 0
        for one, joint in self._pieces:
            if one is not previous:
                self._places.begin(one, rows)
                previous = one
            if len(joint):
                yield self._table(joint)
            rows += len(joint)

    def locate(self, row: int) -> RowPlace:
        """The file of an event, and its line there."""
        return self._places.locate(row)

    def _table(self, joint: Joint) -> pa.Table:
        columns = {}
        for name in joint.names:
            dim = joint.dim(name) or 0
            texts = self._words.words_of(name) if name in self._groups and name in self._words else None
            levels = [joint.level(d) for d in range(1, dim + 1)]
            columns[name] = to_arrow(joint.values(name), levels, texts)
        return pa.table(columns)
