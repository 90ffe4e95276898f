"""Files that appear whole or not at all: by a temporary file beside them, fsync, rename, fsync of the folder.

A killed process leaves a file called `.NAME.PID-RANDOM.varlen-tmp` behind. Nobody reads it; you may delete
it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from varlen.arguments import as_bool
from varlen.errors import value_error
from varlen.io.urls import local_path

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["SUFFIX", "replace_file"]

SUFFIX = ".varlen-tmp"

Buffer = Any

# Of a disk, a quota or a file that is full.
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

# The most buffers that the system takes in one call.
_IOV_MAX = 1024


def resolve(path: str | os.PathLike[str]) -> str:
    """The absolute path that a save to `path` writes: links are followed, folders and devices refused."""
    target = os.path.realpath(local_path(path))
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        folder = os.path.dirname(target)
        if not os.path.isdir(folder):
            raise FileNotFoundError(2, "there is no such folder", folder) from None
        return target
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(21, "is a folder", target)
    if not stat.S_ISREG(mode):
        raise value_error("path", f"{target} is not a regular file")
    return target


def temporary(target: str) -> tuple[int, str]:
    """A new file beside `target`, opened for writing and reading, and its path."""
    folder, name = os.path.split(target)
    while True:
        path = os.path.join(folder, f".{name[:60]}.{os.getpid()}-{os.urandom(6).hex()}{SUFFIX}")
        try:
            # The system applies the umask to these bits. No other process sees the file until it is renamed.
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), path
        except FileExistsError:
            continue


def write_all(fd: int, buffers: Iterable[Buffer]) -> None:
    """Write every byte of the buffers, with as many calls as the system needs."""
    views = [view for view in (memoryview(b).cast("B") for b in buffers) if view.nbytes]
    i = 0
    while i < len(views):
        wrote = os.writev(fd, views[i : i + _IOV_MAX])
        while i < len(views) and wrote >= views[i].nbytes:
            wrote -= views[i].nbytes
            i += 1
        if wrote:
            views[i] = views[i][wrote:]


class AtomicWriter:
    """A writer as a context manager: a block that ends without an error closes it, an error discards it."""

    _open = False

    def close(self) -> None:
        """Move the file that was written to its path."""
        raise NotImplementedError

    def discard(self) -> None:
        """Delete the temporary file."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def __del__(self) -> None:
        if self._open:
            self.discard()


@contextlib.contextmanager
def naming_target(target: str | os.PathLike[str]) -> Iterator[None]:
    """A disk that is full is an error about this file, unless it names another."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in _NO_SPACE:
            error.filename = os.fspath(target)
        raise


@contextlib.contextmanager
def replace_file(path: str | os.PathLike[str], durable: bool = True) -> Iterator[int]:
    """A descriptor to write to; a block that ends without an error replaces the file at `path`.

    An error inside the block, or in any step after it up to the rename, leaves the old file as it was and no
    temporary file behind. `durable=False` skips both fsyncs: other processes still see the old file or the
    new one, complete, but a system crash within seconds may leave neither.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "notes.txt")
    >>> with replace_file(path) as fd:
    ...     write_all(fd, [b"one ", b"two"])
    >>> os.path.getsize(path), os.listdir(folder.name)
    (7, ['notes.txt'])
    >>> folder.cleanup()
    """
    is_durable = as_bool(durable, "durable")
    target = resolve(path)
    fd, temp = temporary(target)
    try:
        with naming_target(target):
            try:
                yield fd
                with contextlib.suppress(FileNotFoundError):
                    os.fchmod(fd, stat.S_IMODE(os.stat(target).st_mode))
                if is_durable:
                    os.fsync(fd)
            finally:
                os.close(fd)
        os.replace(temp, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temp)
        raise
    if is_durable:
        sync_folder(os.path.dirname(target))


def sync_folder(folder: str) -> None:
    """Wait until the names in a folder are on the disk."""
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
