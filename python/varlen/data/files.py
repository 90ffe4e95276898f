"""Files and folders of shards as a dataset."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from varlen.data.dataset import Dataset
from varlen.io import open_shards

__all__ = ["open"]


def open(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    mmap: bool = True,
    keys: Iterable[str] | None = None,
) -> Dataset:
    """Opens files of nested rows as one dataset. Their headers are read, nothing else.

    Parameters
    ----------
    path
        A `.nrt` file, a list of files, a pattern with `*`, or a folder of shards, with or without an index.
        Where shards have a key in different dtypes of numbers, it is read in the one that holds them all.
    mmap
        False for network file systems: nothing is mapped, and every read copies the bytes that it needs.
    keys
        Some keys only.

    Returns
    -------
    Dataset
        All rows, in the order of the files.

    Raises
    ------
    FileNotFoundError
        Nothing is there.
    varlen.io.FileFormatError
        A damaged file, or shards that do not go together: a ValueError that names the file and the place.
    KeyError
        A key that the files do not have.

    Examples
    --------
    >>> import os, tempfile, varlen as vl
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "visits.nrt")
    >>> vl.JointNestedRaggedTensorDict({"code": [[1, 2], [3]]}).save(path)
    >>> ds = vl.open(path)
    >>> len(ds), ds.batch([1, 0])["code"]
    (2, array([[3, 0],
           [1, 2]], dtype=uint8))
    >>> folder.cleanup()
    """
    return Dataset(open_shards(path, mmap=mmap, keys=keys))
