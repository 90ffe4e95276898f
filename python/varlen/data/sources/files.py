"""Files and folders of shards as a dataset."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from varlen.data.dataset import Dataset
from varlen.data.manifest import open_source

if TYPE_CHECKING:
    from varlen.io import Cache

__all__ = ["open"]


def open(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    mmap: bool = True,
    keys: Iterable[str] | None = None,
    cache: str | os.PathLike[str] | Cache | None = None,
    storage_options: Mapping[str, Any] | None = None,
    verify: Literal["never", "read", "open"] = "never",
    on_bad_shard: Literal["error", "skip"] = "error",
    version: int | None = None,
) -> Dataset:
    """Open files of nested rows as one dataset. Only their headers are read.

    Parameters
    ----------
    path
        A `.nrt` file, a list of files, a pattern with `*`, `?` or `[`, or a folder of shards, with or without
        an index. If shards store a key in different numeric dtypes, the key gets a dtype that holds them all.
        Each may be an HTTP URL, or a URL of a file system that fsspec knows, such as "s3://". A folder behind
        HTTP needs its index. Behind URLs only the ranges that a batch needs are read; `epoch` with `prefetch`
        reads them ahead. Or a manifest or its URL, as `Dataset.save_manifest` writes it: its files lie below
        it.
    mmap
        False for network file systems: nothing is mapped, and every read copies the bytes it needs.
    keys
        Only these keys.
    cache
        A folder that caches files behind URLs: each is copied whole on first read, and mapped there. A
        `varlen.io.Cache` keeps the parts that were read, up to a number of bytes.
    storage_options
        The options of the file system of the URLs, as fsspec takes them: credentials, endpoints. For HTTP
        `{"headers": {...}}`. They are pickled with the dataset. Without them fsspec's configuration counts:
        `fsspec.config.conf` or `FSSPEC_...` in the environment.
    verify
        When bytes are compared with the checksums that a writer stored for `checksums=True`. "never"; "read":
        an index and headers when they are opened, and each array whole before the process first reads any of
        it; "open": everything at once. Files without checksums are then refused. The package xxhash computes
        them.
    on_bad_shard
        "error", or "skip" with `verify="open"`: a shard that is gone, damaged or changed is left out. The
        `account` counts its rows, and `source.bad_shards` names it.
    version
        Of a manifest: the number of a version, from 1; the last one by default. Files that are gone, or have
        another size or header than they had, are refused.

    Returns
    -------
    Dataset
        All rows, in the order of the files.

    Raises
    ------
    FileNotFoundError
        There is no such file or folder.
    OSError
        A server does not answer after five tries, or answers with another range.
    varlen.io.FileFormatError
        A file is damaged, or shards do not fit together: a ValueError that names the file and the place.
    varlen.io.ChecksumError
        Bytes are not those that were written: a FileFormatError that names the array, and both checksums.
    ImportError
        Bytes are to be verified, and the package xxhash is missing.
    KeyError
        The files have no such key.

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
    shards = open_source(
        path, version, mmap=mmap, keys=keys, cache=cache, storage_options=storage_options,
        verify=verify, on_bad_shard=on_bad_shard,
    )  # fmt: skip
    return Dataset(shards)
