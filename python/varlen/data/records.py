"""The rows of one batch, not read yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen.data.rows import Rows
    from varlen.joint import JointNestedRaggedTensorDict

__all__ = ["Records", "RowNumbers"]


class RowNumbers(list[int]):
    """A list of the row numbers of one batch, which also knows the epoch that they belong to.

    The epoch travels with the rows to whichever process makes the batch.

    Parameters
    ----------
    rows
        The numbers.
    epoch
        Of the sampler that dealt them.

    Examples
    --------
    >>> rows = RowNumbers([2, 0], epoch=3)
    >>> rows, rows.epoch
    ([2, 0], 3)
    """

    __slots__ = ("epoch",)

    def __init__(self, rows: Iterable[int] = (), epoch: int = 0) -> None:
        super().__init__(rows)
        self.epoch = epoch

    def __reduce__(self) -> tuple[Any, ...]:
        return RowNumbers, (list(self), self.epoch)


class Records(Sequence["JointNestedRaggedTensorDict"]):
    """Rows of a dataset by number: a sequence of rows, of which `collate` makes a batch in one call.

    Parameters
    ----------
    dataset
        Where the rows are.
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
        """Where the rows are.

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
        """Their numbers, as they were given.

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
        return Records(self.dataset, row) if isinstance(index, slice) else self.dataset[int(row)]

    def __iter__(self) -> Iterator[JointNestedRaggedTensorDict]:
        for row in self.rows:
            yield self.dataset[int(row)]

    def __repr__(self) -> str:
        return f"Records({list(self.rows)!r})"
