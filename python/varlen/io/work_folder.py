"""Folders that take the place of others when they are complete, and those that are made part by part.

`.NAME.parts` beside a folder NAME that is being made holds it, and notes: what each part of it was made of,
the files that it became, and what its task returned. If the process ends, the next one skips these parts.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from varlen.io.atomic import naming_target
from varlen.io.building.engines import results_of
from varlen.io.building.origin import hash_of, state_of_file
from varlen.io.folder_lock import LOCK, lock_folder

__all__: list[str] = []

_NOTES = "notes.jsonl"
_RESULT = "new"


def replace_folder(new: str, target: str) -> None:
    """Names a complete folder, in place of the one there is: at once, where the system can."""
    target = os.path.realpath(target)
    if not os.path.exists(target):
        os.rename(new, target)
        return
    draft, old = leftovers = [_sibling(target, suffix) for suffix in ("next", "old")]
    for folder in leftovers:
        shutil.rmtree(folder, ignore_errors=True)
    os.rename(new, draft)
    if not _exchange(draft, target):
        os.rename(target, old)
        try:
            os.rename(draft, target)
        except BaseException:
            os.rename(old, target)
            raise
    for folder in leftovers:
        shutil.rmtree(folder, ignore_errors=True)


def _exchange(a: str, b: str) -> bool:
    """Whether two names have changed places, which Linux does at once."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    return rename is not None and rename(-100, os.fsencode(a), -100, os.fsencode(b), 2) == 0


@contextlib.contextmanager
def new_folder(target: str) -> Iterator[str]:
    """A name for a folder that takes the place of the target at the end, and goes if there is an error."""
    new = _sibling(target, f"{os.getpid()}-new")
    try:
        yield new
        replace_folder(new, target)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise


def _sibling(target: str, suffix: str) -> str:
    folder, name = os.path.split(os.path.realpath(target))
    return os.path.join(folder, f".{name}.{suffix}")


class Part(NamedTuple):
    """A part of a folder: what it is made of, its files in the work folder, and the arguments of its task.

    `place` is its source, for the error of a worker that ends.
    """

    made_of: object
    names: tuple[str, ...]
    place: str
    job: Any
    partition: Any


class WorkFolder:
    """A folder that is made part by part; `result` is where the files of the target go."""

    def __init__(self, path: str) -> None:
        self.path, self.result = path, os.path.join(path, _RESULT)
        self._notes_path = os.path.join(path, _NOTES)
        self._notes: dict[str, dict[str, Any]] = {}
        self._names: set[str] = set()
        with contextlib.suppress(FileNotFoundError), open(self._notes_path, encoding="utf-8") as file:
            for line in file:
                with contextlib.suppress(ValueError, TypeError, KeyError):  # a line may be torn
                    note = json.loads(line)
                    self._notes[note["made_of"]] = note

    def run(
        self, engine: Any, task: Callable[[Any, Any], Any], parts: Sequence[Part], bar: Any = None
    ) -> list[Any]:
        """Runs the tasks of parts that are not done, and returns the results of all, as JSON has them."""
        marks = [hash_of(repr((part.names, part.made_of)).encode()) for part in parts]
        tasks, places, rest = [], {}, {}
        for part, mark in zip(parts, marks, strict=True):
            self._names.update(part.names)
            if mark not in self._notes or not self._is_whole(self._notes[mark]):
                tasks.append((part.job, part.partition))
                places[part.job[0]], rest[part.job[0]] = part.place, (part, mark)

        def take(number: int, result: Any) -> None:
            self._note(*rest[number], result)

        results_of(engine, task, tasks, bar, places, take)
        return [self._notes[mark]["result"] for mark in marks]

    def delete_others(self) -> None:
        """Deletes files of the result that no part of this run has: they are of other inputs."""
        for folder, _, names in os.walk(self.result, topdown=False):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.relpath(path, self.path) not in self._names:
                    os.unlink(path)
            if folder != self.result and not os.listdir(folder):
                os.rmdir(folder)

    def _is_whole(self, note: dict[str, Any]) -> bool:
        try:
            return all(
                [*state_of_file(os.path.join(self.path, name))[1:]] == state
                for name, state in note["files"].items()
            )
        except FileNotFoundError:
            return False

    def _note(self, part: Part, mark: str, result: Any) -> None:
        files = {}
        for name in part.names:
            with contextlib.suppress(FileNotFoundError):  # a part may have no rows for one
                files[name] = state_of_file(os.path.join(self.path, name))[1:]
        line = json.dumps({"made_of": mark, "files": files, "result": result})
        with naming_target(self._notes_path), open(self._notes_path, "a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")  # the line before may be torn
        self._notes[mark] = json.loads(line)


@contextlib.contextmanager
def work_folder(target: str) -> Iterator[WorkFolder]:
    """The folder in which the target is made; parts that are done stay in it after an error."""
    path = _sibling(target, "parts")
    os.makedirs(path, exist_ok=True)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(lock_folder(path))
        except BlockingIOError:
            raise BlockingIOError(11, "another process is making it", target) from None
        work = WorkFolder(path)
        try:
            os.makedirs(work.result, exist_ok=True)
            yield work
        except BaseException:
            if not any({*names} - {LOCK} for _, _, names in os.walk(path)):
                shutil.rmtree(path, ignore_errors=True)
            raise
        shutil.rmtree(path, ignore_errors=True)
