"""The rows of one batch, before they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from varlen.errors import value_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen.data.rows import Rows
    from varlen.joint import JointNestedRaggedTensorDict

__all__ = ["PackedRows", "Records", "RowNumbers"]


class RowNumbers(list[int]):
    """The row numbers of one batch, and their epoch.

    The epoch travels with the rows to the process that makes the batch.
    """

    __slots__ = ("epoch",)

    def __init__(self, rows: Iterable[int] = (), epoch: int = 0) -> None:
        super().__init__(rows)
        self.epoch = epoch

    def __reduce__(self) -> tuple[Any, ...]:
        return RowNumbers, (list(self), self.epoch)


class PackedRows(RowNumbers):
    """The row numbers of filled bins, one bin after the other, and the events to take from each row.

    All of this travels with the rows, so the process that makes the batch takes the same pieces.
    """

    __slots__ = ("bins", "end", "start")

    def __init__(
        self,
        rows: Iterable[int] = (),
        epoch: int = 0,
        *,
        bins: Sequence[int],
        start: Sequence[int] | None = None,
        end: Sequence[int] | None = None,
    ) -> None:
        super().__init__(rows, epoch)
        self.bins, self.start, self.end = bins, start, end

    def __reduce__(self) -> tuple[Any, ...]:
        return _packed_rows, (list(self), self.epoch, self.bins, self.start, self.end)


def _packed_rows(rows: list[int], epoch: int, bins: Any, start: Any, end: Any) -> PackedRows:
    return PackedRows(rows, epoch, bins=bins, start=start, end=end)


class Records(Sequence["JointNestedRaggedTensorDict"]):
    """A sequence of a dataset's rows, by number; `collate` makes a batch of them in one call.

    Parameters
    ----------
    dataset
        The dataset of the rows.
    rows
        Their numbers, a sequence of ints.

    Examples
    --------
    >>> import varlen as vl
    >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
    >>> records = Records(ds, [2, 0])
    >>> len(records), records[0].to_list(), ds.collate(records)["x"].shape
    (2, {'x': [4]}, (2, 3))
    """

    __slots__ = ("_dataset", "_rows")

    def __init__(self, dataset: Rows, rows: Any) -> None:
        self._dataset = dataset
        self._rows = rows

    @property
    def dataset(self) -> Rows:
        """The dataset of the rows.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> Records(ds, [2, 0]).dataset is ds
        True
        """
        return self._dataset

    @property
    def rows(self) -> Sequence[int] | NDArray[Any]:
        """The row numbers, as given.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
        >>> ds.__getitems__([2, 0]).rows
        [2, 0]
        """
        rows: Sequence[int] | NDArray[Any] = self._rows
        return rows

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: SupportsIndex) -> JointNestedRaggedTensorDict: ...
    @overload
    def __getitem__(self, index: slice) -> Records: ...
    def __getitem__(self, index: Any) -> Records | JointNestedRaggedTensorDict:
        row = self.rows[index]
        if isinstance(index, slice):
            if isinstance(self.rows, PackedRows) and self.rows.start is not None:
                raise value_error("rows", "pieces of split rows cannot be sliced", "index them one by one")
            return Records(self.dataset, row)
        return self._record(int(row), index)

    def __iter__(self) -> Iterator[JointNestedRaggedTensorDict]:
        for i, row in enumerate(self.rows):
            yield self._record(int(row), i)

    def _record(self, row: int, i: SupportsIndex) -> JointNestedRaggedTensorDict:
        """A row, or the piece of it that is meant."""
        pieces = self.rows if isinstance(self.rows, PackedRows) else None
        if pieces is None or pieces.start is None or pieces.end is None:
            return self.dataset[row]
        return self.dataset[row, pieces.start[int(i)] : pieces.end[int(i)]]

    def __repr__(self) -> str:
        return f"Records({list(self.rows)!r})"
