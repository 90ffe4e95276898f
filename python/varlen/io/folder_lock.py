"""One writer at a time in a folder of shards, and what a killed one left behind."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import re
from collections.abc import Iterable, Iterator

from varlen.io import atomic
from varlen.io.shard_index import INDEX, listed_names

__all__: list[str] = []

LOCK = ".build-lock"

_SHARD = re.compile(r"part-\d+(-\d+)?\.nrt")


class FolderLock:
    """A lock on a folder, which the system releases when the process ends.

    Its file holds the names that shards are about to get. Where a process was killed before an index listed
    them, the next one that locks the folder deletes them.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._path = os.path.join(folder, LOCK)
        self._fd = _lock(self._path, folder)
        try:
            self._delete_leftovers()
        except BaseException:
            self.release()
            raise

    def promise(self, names: Iterable[str]) -> None:
        """Write down the names that shards get before an index lists them."""
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, "\n".join(names).encode(), 0)
        os.fsync(self._fd)
        atomic.sync_folder(self._folder)

    def release(self) -> None:
        """Give the folder to others."""
        if self._fd < 0:
            return
        try:
            with contextlib.suppress(OSError):
                os.unlink(self._path)
        finally:
            os.close(self._fd)
            self._fd = -1

    def _delete_leftovers(self) -> None:
        size = os.fstat(self._fd).st_size
        names = os.pread(self._fd, size, 0).decode("utf-8", "replace").split("\n") if size else []
        in_index = listed_names(os.path.join(self._folder, INDEX)) if size else []
        for name in set(names) - set(in_index):
            if _SHARD.fullmatch(name):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(self._folder, name))
        if size:
            os.ftruncate(self._fd, 0)


def delete_drafts(folder: str) -> None:
    """Delete the temporary files of writers that were killed; whoever calls holds the lock."""
    for pattern in (".part-*", "..part-*", f".{INDEX}.*"):
        for path in glob.glob(os.path.join(glob.escape(folder), f"{pattern}{atomic.SUFFIX}")):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


@contextlib.contextmanager
def lock_folder(path: str) -> Iterator[FolderLock]:
    """Keep other writers out of the folder."""
    lock = FolderLock(path)
    try:
        yield lock
    finally:
        lock.release()


def _lock(lock: str, path: str) -> int:
    while True:
        fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.stat(lock), os.fstat(fd)):
                    return fd
            os.close(fd)  # of a writer that ended meanwhile, and took its file away
        except BlockingIOError:
            os.close(fd)
            raise BlockingIOError(11, "another writer is at work in the folder", path) from None
        except BaseException:
            os.close(fd)
            raise
