"""Shards that are not as they were written, left out where the caller asks for it."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from typing import NamedTuple

from varlen.errors import with_fields
from varlen.io.account import Account
from varlen.io.errors import FileFormatError, StaleFileError
from varlen.io.shard_index import Shard

__all__ = ["BadShard"]


class BadShard(NamedTuple):
    """A shard that was left out.

    Parameters
    ----------
    path
        The file.
    rows
        The number of rows that it would hold.
    first
        The number that its first row would have.
    error
        What is wrong with it.
    in_index
        Whether an index lists it.

    Examples
    --------
    >>> BadShard("part-00001.nrt", 300, 300, ValueError("cut short"), True).places
    'rows 300 to 599 of part-00001.nrt'
    """

    path: str
    rows: int
    first: int
    error: Exception
    in_index: bool

    @property
    def places(self) -> str:
        """The rows in words."""
        return f"rows {self.first} to {self.first + self.rows - 1} of {self.path}"

    def account(self) -> Account:
        """Make an account of its rows; the number of its values is unknown.

        Returns
        -------
        Account
            Its rows as a source.

        Examples
        --------
        >>> BadShard("part-00001.nrt", 300, 300, ValueError("cut short"), True).account().files
        {'part-00001.nrt': 300}
        """
        return Account({self.path: self.rows})


def leave_out_bad(
    shards: Sequence[Shard], check: Callable[[Shard], object], count: Callable[[Shard], int]
) -> tuple[tuple[Shard, ...], tuple[BadShard, ...]]:
    """The shards that `check` accepts, and the others; the first error where it accepts none.

    `count` gives the rows of one that no index counts.
    """
    good, bad, first = [], [], 0
    for shard in shards:
        fault = _fault(shard, check)
        rows = shard.rows
        if rows is None:
            try:
                rows = count(shard)
            except (ValueError, OSError):
                if fault is None:
                    raise
                advice = "its rows are unknown, as no index counts them, so it cannot be skipped"
                raise with_fields(fault, advice=advice) if hasattr(fault, "reason") else fault from None
        if fault is None:
            good.append(shard)
        else:
            bad.append(BadShard(shard.path, rows, first, fault, shard.is_listed))
        first += rows
    if bad and not good:
        raise bad[0].error
    return tuple(good), tuple(bad)


def _fault(shard: Shard, check: Callable[[Shard], object]) -> Exception | None:
    """The error of a file that is gone or has other bytes; one of the way to it is raised."""
    try:
        check(shard)
    except (FileFormatError, StaleFileError, FileNotFoundError) as error:
        return error
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return error
    return None
