"""How a data set looks: text, notebook HTML, the first rows, and a table of what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from varlen.arguments import as_int
from varlen.data.joins import JoinMethods
from varlen.display.picture import sparkline
from varlen.display.text import Column, key_texts, keys_text, plural

if TYPE_CHECKING:
    from varlen.display.summary import Summary
    from varlen.joint import JointNestedRaggedTensorDict

__all__: list[str] = []

_ROWS = 3  # that are shown


class DisplayMethods(JoinMethods):
    """Views of a data set for people."""

    def head(self, n: int = 5) -> JointNestedRaggedTensorDict:
        """Read the first rows: `ds[:n]`.

        Parameters
        ----------
        n
            The number of rows, at least 0.

        Returns
        -------
        JointNestedRaggedTensorDict
            The first `n` rows, or all if there are fewer.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"w": [["to", "be"], ["or"], ["not"]]}))
        >>> ds.head(2)
        JointNestedRaggedTensorDict(2 rows, 1 key)
          w  words  [['to', 'be'], ['or']]
        """
        return self[: as_int(n, "n")]

    def describe(self) -> Summary:
        """Summarize the lengths of each level and the values of each key, which it reads one after another.

        Returns
        -------
        Summary
            A dict of columns, which `pandas.DataFrame` takes. Each row has the count, the missing values
            (NaN, NaT), the mean, the standard deviation and the quartiles, or the most frequent words.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"w": [["to", "be"], ["to"]]}))
        >>> ds.describe()
        name          dtype    count  missing  mean  std  min  25%  50%   75%  max  most frequent
        dim1/lengths  lengths      2        0   1.5  0.5    1  1.25  1.5  1.75    2
        w             words        3        0                                        'to' 2, 'be' 1
        """
        from varlen.display.summary import summarize

        lengths = [(f"dim{d + 1}/lengths", level.lengths) for d, level in enumerate(self._levels(self.depth))]
        return summarize(lengths, self._columns())

    def _columns(self) -> Iterator[Column]:
        for name, field in self.fields.items():
            column = self[name]
            values = column if isinstance(column, np.ndarray) else column.values
            yield Column(name, values, words=field.vocabulary)

    def __str__(self) -> str:
        shards = f" in {plural(len(self._source.counts), 'shard')}" if len(self._source.counts) > 1 else ""
        counts = f"{plural(len(self), 'row')}{shards}, {plural(len(self.fields), 'key')}"
        suffix = f"; the first {_ROWS}:" if len(self) > _ROWS else ""
        keys = key_texts(self[:_ROWS]._columns())
        lines = [keys_text(f"{type(self).__name__}({counts}){suffix}", keys)]
        for d, level in enumerate(self._levels(self.depth), start=1):
            mean = f", mean {level.total / len(level):.3g}" if len(level) else ""
            lines.append(f"dim {d}: lengths {sparkline(np.asarray(level.lengths))}{mean}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from varlen.display.html import keys_html

        rows = [("rows", f"{len(self):,}"), ("shards", f"{len(self._source.counts):,}")]
        keys = key_texts(self[:_ROWS]._columns())
        return keys_html(type(self).__name__, rows, keys, tuple(self._levels(self.depth)))
