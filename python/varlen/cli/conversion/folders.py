"""Folders that take the place of others when they are complete."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

__all__: list[str] = []


def replace_folder(new: Path, target: Path) -> None:
    """Names a complete folder, in place of the one there is."""
    old = target.with_name(f".{target.name}.{os.getpid()}-old")
    if target.exists():
        target.rename(old)
    try:
        new.rename(target)
    except BaseException:
        if old.exists():
            old.rename(target)
        raise
    if old.exists():
        shutil.rmtree(old)


@contextlib.contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A name for a folder that takes the place of the target at the end, and goes if there is an error."""
    target = target.resolve()
    new = target.with_name(f".{target.name}.{os.getpid()}-new")
    try:
        yield new
        replace_folder(new, target)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
