"""A folder of this machine that keeps blocks of files behind URLs, up to a number of bytes.

A block is a file of its own, with a checksum at its end, and appears whole: it is written beside its place
and renamed. So a process that ends at any time leaves no half block, and any number of processes share a
folder. A small file beside the blocks counts their bytes under a lock; where they would be too many, the
folder is looked through, and the blocks that were used longest ago go.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import json
import os
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from varlen.arguments import as_int, as_path
from varlen.errors import value_error
from varlen.io import atomic
from varlen.io.errors import StaleFileError
from varlen.io.stores import Store, store_of
from varlen.io.urls import Place, State

__all__ = ["Cache"]

BLOCK = 1024 * 1024  # bytes of a file that are fetched and kept together
_RUN = 8  # blocks of one request
_CHECKSUM = 4  # bytes
_PAUSE = 10.0  # seconds after which a use of a block is noted again
_PATIENCE = 60.0  # seconds to wait for blocks that others write
_ABANDON = 60.0  # seconds after which a file that nobody writes to any more is removed


class Cache:
    """A folder for blocks of files behind URLs, which `varlen.open(..., cache=)` fills as rows are read.

    Each megabyte of a file is fetched once, and read from the disk afterwards, until the folder holds
    `max_bytes`; then the blocks that were used longest ago go. A changed file has other blocks: opening asks
    for the state of a file, and fetches nothing if it is the one that the blocks have. Any number of
    processes may share the folder, and any of them may be killed.

    Parameters
    ----------
    path : path
        A folder, made if it is not there. It should hold nothing else.
    max_bytes : int
        The most that the blocks may take, at least 1,048,580, as one of them does.

    Raises
    ------
    ValueError
        `max_bytes` is less than a block takes.
    OSError
        The folder cannot be written to, or its disk has less room than `max_bytes`.

    Examples
    --------
    >>> import tempfile, varlen as vl
    >>> from varlen.testing.server import FileServer
    >>> folder = tempfile.TemporaryDirectory()
    >>> vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1], [2, 3]]})).save(f"{folder.name}/a.nrt")
    >>> cache = Cache(f"{folder.name}/cache", max_bytes=10_000_000)
    >>> with FileServer(folder.name) as server:
    ...     ds = vl.open(f"{server.url}/a.nrt", cache=cache)
    ...     ds.batch([1])["x"].tolist()
    ...     with server.count() as requests:
    ...         batch = ds.batch([1])
    [[2, 3]]
    >>> len(requests), cache.size > 0
    (0, True)
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str], *, max_bytes: int) -> None:
        self._path = os.path.abspath(as_path(path, "path", "a folder"))
        self._max_bytes = as_int(max_bytes, "max_bytes")
        if self._max_bytes < BLOCK + _CHECKSUM:
            raise value_error("max_bytes", f"expected at least {BLOCK + _CHECKSUM}, a block; got {max_bytes}")
        self._valid: set[str] = set()  # blocks whose checksums this process has seen
        os.makedirs(self._path, exist_ok=True)
        disk = os.statvfs(self._path)
        room = disk.f_bavail * disk.f_frsize + self.size
        if room < self._max_bytes:
            raise OSError(
                errno.ENOSPC, f"the disk has room for {room} bytes, max_bytes is {max_bytes}", self._path
            )

    @property
    def path(self) -> str:
        """The absolute path of the folder."""
        return self._path

    @property
    def max_bytes(self) -> int:
        """The most bytes that the blocks may take."""
        return self._max_bytes

    @property
    def size(self) -> int:
        """The bytes that the blocks take now, of all processes."""
        with self._ledger() as fd:
            return self._count(fd)

    def clear(self) -> None:
        """Remove all blocks.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     cache = Cache(folder, max_bytes=2_000_000)
        ...     cache.clear()
        ...     cache.size
        0
        """
        with self._ledger() as fd:
            self._write_count(fd, self._remove_oldest(0))

    def _get(self, name: str, begin: int, end: int, length: int) -> bytes | None:
        """The bytes `[begin, end)` of a block of a length; None if it is not there whole."""
        path = self._block(name)
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            info = os.fstat(fd)
            if name not in self._valid:
                raw = os.pread(fd, length + _CHECKSUM, 0)
                if info.st_size != length + _CHECKSUM or raw != _seal(raw[:length]):
                    with contextlib.suppress(FileNotFoundError):  # of a system that crashed
                        os.unlink(path)
                    return None
                self._valid.add(name)
                part = raw[begin:end]
            else:
                part = os.pread(fd, end - begin, begin)
            _touch(fd, info)
            return part if len(part) == end - begin else None
        finally:
            os.close(fd)

    def _last_state(self, url: str) -> State | None:
        """The state in which a file was seen last; None if that is not known."""
        try:
            with open(self._block(_note(url)), "rb") as file:
                info, raw = os.fstat(file.fileno()), file.read()
                _touch(file.fileno(), info)
        except FileNotFoundError:
            return None
        text = raw[:-_CHECKSUM]
        return State(*json.loads(text)) if text and raw == _seal(text) else None

    def _note_state(self, url: str, state: State | None) -> None:
        """Keep the state in which a file was seen; None forgets it."""
        if state is not None:
            self._put(_note(url), json.dumps(state).encode())
            return
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._block(_note(url)))

    def _put(self, name: str, data: bytes) -> None:
        """Keep a block; those that were used longest ago make room for it."""
        path, size = self._block(name), len(data) + _CHECKSUM
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            fd, draft = self._reserve(path, size)
            try:
                atomic.write_all(fd, (_seal(data),))
                with self._ledger():  # nobody counts meanwhile, and finds it under neither name
                    os.replace(draft, path)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(draft)
                raise
            finally:
                os.close(fd)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            text = f"no room in the cache for {size} bytes: {error.strerror}"
            raise OSError(error.errno, text, self._path) from None
        self._valid.add(name)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self._path, self._max_bytes)

    def __repr__(self) -> str:
        return f"Cache({self._path!r}, max_bytes={self._max_bytes})"

    def _reserve(self, path: str, size: int) -> tuple[int, str]:
        """A file of a size beside a path, which is counted before it is written."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            with self._ledger() as ledger:
                count = self._count(ledger) + size
                if count > self._max_bytes:
                    # Room for more than this block, so that the next ones need no look through the folder.
                    count = size + self._remove_oldest(min(self._max_bytes - size, self._max_bytes // 8 * 7))
                if count <= self._max_bytes:
                    fd, draft = atomic.temporary(path)
                    fcntl.flock(fd, fcntl.LOCK_SH)  # somebody writes to it
                    os.ftruncate(fd, size)
                    self._write_count(ledger, count)
                    return fd, draft
                self._write_count(ledger, count - size)
            if time.monotonic() > deadline:
                raise OSError(errno.ENOSPC, "other blocks are being written")
            time.sleep(0.005)

    def _block(self, name: str) -> str:
        return os.path.join(self._path, name[:2], f"{name}.block")

    @contextlib.contextmanager
    def _ledger(self) -> Iterator[int]:
        """The file with the count, which no other thread or process has meanwhile."""
        fd = os.open(os.path.join(self._path, "count"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield fd
        finally:
            os.close(fd)  # which gives up the lock

    def _count(self, fd: int) -> int:
        text = os.pread(fd, 32, 0).strip()
        return int(text) if text.isdigit() else self._remove_oldest(self._max_bytes)

    def _write_count(self, fd: int, count: int) -> None:
        os.pwrite(fd, b"%31d\n" % count, 0)

    def _remove_oldest(self, limit: int) -> int:
        """The bytes that stay after blocks were removed until they are at most `limit`."""
        blocks, total = [], 0
        for folder in os.scandir(self._path):
            for entry in os.scandir(folder.path) if folder.is_dir() else ():
                with contextlib.suppress(FileNotFoundError):
                    info = entry.stat()
                    if not entry.name.endswith(".block") and _is_abandoned(entry.path, info.st_mtime):
                        os.unlink(entry.path)
                        continue
                    total += info.st_size
                    if entry.name.endswith(".block"):
                        blocks.append((info.st_mtime_ns, info.st_size, entry.path))
        for _, size, path in sorted(blocks):
            if total <= limit:
                break
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            total -= size
        return total


def open_store(url: str, options: Mapping[str, Any] | None = None, cache: object = None) -> Store:
    """The store that a URL belongs to, behind a cache if there is one of blocks."""
    store = store_of(url, options)
    return CacheStore(store, cache) if isinstance(cache, Cache) else store


class CacheStore:
    """A store whose ranges come from a cache, where it has them. What it reads, it reads by whole blocks."""

    def __init__(self, store: Store, cache: Cache) -> None:
        self._store, self._cache = store, cache
        self.state, self.files = store.state, store.files

    def head(self, url: str, size: int, last_state: State | None = None) -> tuple[bytes, State]:
        """The first bytes, at most `size`, and the state of the file, which the store is asked for."""
        start = self.known_head(url, size)
        body, state = self._store.head(url, size, None if start is None else start[1])
        if start is not None and state == start[1]:
            return start
        self._keep(url, state, {_head_name(url, state, size): body})
        return body, state

    def known_head(self, url: str, size: int) -> tuple[bytes, State] | None:
        """What `head` gave last, from the cache alone; None if the cache does not hold it."""
        state = self._cache._last_state(url)
        if state is None:
            return None
        length = min(size, state.size)
        body = self._cache._get(_head_name(url, state, size), 0, length, length)
        return None if body is None else (body, state)

    def content(self, url: str, limit: int, last_state: State | None = None) -> tuple[bytes, State]:
        """The whole file, cut off at `limit` bytes, and its state, which the store is asked for."""
        last = self._cache._last_state(url)
        body, state = self._store.content(url, limit, last)
        if state == last and not body and state.size:
            return self.ranges([Place(url, state, 0, state.size)])[0], state
        starts = range(0, len(body), BLOCK)
        self._keep(
            url, state, {_name(_Block(url, state, at // BLOCK)): body[at : at + BLOCK] for at in starts}
        )
        return body, state

    def _keep(self, url: str, state: State, blocks: Mapping[str, bytes]) -> None:
        """Keep what was read of a file, and its state; nothing of one whose changes the store cannot see."""
        if not state.mark or not state.size:
            return
        self._store.check({url: state})
        for name, data in blocks.items():
            self._cache._put(name, data)
        self._cache._note_state(url, state)

    @property
    def group(self) -> Hashable:
        """That of the store behind the cache."""
        return "cache", self._cache.path, self._store.group

    def ranges(self, places: Sequence[Place]) -> list[bytes]:
        """Ranges of files, from blocks in the cache, which are fetched first where they are not there.

        Nothing is kept of files whose changes the store cannot see.
        """
        if not all(place.state.mark for place in places):
            bodies = self._store.ranges(places)
            self._store.check({place.url: place.state for place in places})
            return bodies
        needs: dict[_Block, tuple[int, int]] = {}  # of each block, from where to where
        for place in places:
            for block, first, last in _blocks(place):
                old = needs.get(block, (first, last))
                needs[block] = min(first, old[0]), max(last, old[1])
        pieces: dict[_Block, tuple[int, bytes]] = {}  # of each block, where its bytes begin in the file
        for block, (first, last) in needs.items():
            start = block.number * BLOCK
            length = min(BLOCK, block.state.size - start)
            part = self._cache._get(_name(block), first - start, last - start, length)
            if part is not None:
                pieces[block] = first, part
        for block, data in self._fetch(sorted(needs.keys() - pieces.keys())):
            self._cache._put(_name(block), data)
            pieces[block] = block.number * BLOCK, data
        return [
            b"".join(pieces[block][1][first - pieces[block][0] : last - pieces[block][0]]
                     for block, first, last in _blocks(place))
            for place in places
        ]  # fmt: skip

    def check(self, states: Mapping[str, State]) -> None:
        """Nothing to do: blocks belong to a state, and are looked at before they are kept."""

    def _fetch(self, blocks: Sequence[_Block]) -> Iterator[tuple[_Block, bytes]]:
        runs: list[list[_Block]] = []
        for block in blocks:
            if runs and block == runs[-1][-1].next and len(runs[-1]) < _RUN:
                runs[-1].append(block)
            else:
                runs.append([block])
        if not runs:
            return
        places = [
            Place(run[0].url, run[0].state, run[0].number * BLOCK,
                  min((run[-1].number + 1) * BLOCK, run[0].state.size))
            for run in runs
        ]  # fmt: skip
        try:
            bodies = self._store.ranges(places)
            self._store.check({place.url: place.state for place in places})
        except StaleFileError:
            for url in {place.url for place in places}:
                self._cache._note_state(url, None)
            raise
        for run, body in zip(runs, bodies, strict=True):
            for i, block in enumerate(run):
                yield block, body[i * BLOCK : (i + 1) * BLOCK]


class _Block(NamedTuple):
    """A block of a file in a state."""

    url: str
    state: State
    number: int

    @property
    def next(self) -> _Block:
        return self._replace(number=self.number + 1)


def _blocks(place: Place) -> Iterator[tuple[_Block, int, int]]:
    """The blocks of a range, and the bytes of the file that it has of each."""
    for number in range(place.begin // BLOCK, (place.end - 1) // BLOCK + 1):
        start = number * BLOCK
        yield _Block(place.url, place.state, number), max(place.begin, start), min(place.end, start + BLOCK)


def _name(block: _Block) -> str:
    """The name of a block in the cache."""
    url, (size, mark), number = block
    return "-".join([_digest(f"{url}\n{size}\n{mark}"), str(number)])


def _head_name(url: str, state: State, size: int) -> str:
    """The name of the first bytes in the cache: of a file that has no more, that of its only block."""
    name = _name(_Block(url, state, 0))
    return name if state.size <= min(size, BLOCK) else f"{name}-{size}"


def _note(url: str) -> str:
    """The name of the block that says in which state a file was seen last."""
    return f"{_digest(url)}-state"


@functools.lru_cache(1024)
def _digest(text: str) -> str:
    import hashlib  # only here, as it takes milliseconds

    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _seal(data: bytes) -> bytes:
    import zlib

    return data + zlib.crc32(data).to_bytes(_CHECKSUM, "little")


def _touch(fd: int, info: os.stat_result) -> None:
    """Note the use of a block."""
    if time.time() - info.st_mtime > _PAUSE:
        os.utime(fd)


def _is_abandoned(path: str, changed: float) -> bool:
    """Whether a file that is being written has lost its writer."""
    if time.time() - changed < _ABANDON:
        return False
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(fd)


def _restore(path: str, max_bytes: int) -> Cache:
    cache = object.__new__(Cache)
    cache._path, cache._max_bytes, cache._valid = path, max_bytes, set()
    os.makedirs(path, exist_ok=True)
    return cache
