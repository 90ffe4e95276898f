"""Source files as nested data: files > lines > tokens. The demo reads them."""

from __future__ import annotations

import os
import re
import sysconfig
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Corpus", "find_files", "read_corpus"]

# Folders of the standard library that hold tests and generated code: as large again, and slower to read.
_SKIP = {
    "site-packages",
    "dist-packages",
    "test",
    "tests",
    "idlelib",
    "lib2to3",
    "__pycache__",
    "node_modules",
}
_TEXT = re.compile(rb"\w+|[^\w\s]")
_MAX_FILE = 1 << 20
_PLACEHOLDER = {tokenize.STRING: "<string>", tokenize.NUMBER: "<number>", tokenize.COMMENT: "<comment>"}
_LAYOUT = {
    tokenize.ENCODING,
    tokenize.NEWLINE,
    tokenize.NL,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


@dataclass
class Corpus:
    """Nested lists, one entry per file: label (files), indent and byte (lines), token and width (tokens)."""

    label: list[str] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    indent: list[list[int]] = field(default_factory=list)
    byte: list[list[int]] = field(default_factory=list)
    token: list[list[list[str]]] = field(default_factory=list)
    width: list[list[list[int]]] = field(default_factory=list)
    n_skipped: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The keys of the joint dict."""
        return {
            "token": self.token,
            "width": self.width,
            "indent": self.indent,
            "byte": self.byte,
            "label": self.label,
            "path": self.path,
        }


def find_files(folder: Path | None) -> tuple[Path, list[Path]]:
    """The folder and its text files in a fixed order: Python sources, or every file if there are none."""
    root = Path(sysconfig.get_paths()["stdlib"]) if folder is None else folder
    if not root.is_dir():
        raise NotADirectoryError(f"{root}: not a folder")
    paths = sorted(
        path
        for path in root.rglob("*")
        if not _SKIP.intersection(path.relative_to(root).parts[:-1])
        and not path.name.startswith(".")
        and path.is_file()
        and os.access(path, os.R_OK)
    )
    python = [path for path in paths if path.suffix == ".py"]
    return root, python or paths


def _python_tokens(path: Path, lines: int) -> tuple[list[list[str]], list[list[int]]]:
    tokens: list[list[str]] = [[] for _ in range(lines)]
    widths: list[list[int]] = [[] for _ in range(lines)]
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type in _LAYOUT:
                continue
            row = token.start[0] - 1
            tokens[row].append(_PLACEHOLDER.get(token.type, token.string))
            widths[row].append(len(token.string))
    return tokens, widths


def _any_tokens(lines: list[bytes]) -> tuple[list[list[str]], list[list[int]]]:
    tokens = [[word.decode("utf-8", "replace") for word in _TEXT.findall(line)] for line in lines]
    return tokens, [[len(word) for word in row] for row in tokens]


def read_corpus(root: Path, files: Iterable[Path]) -> Corpus:
    r"""Reads files one after another; counts and skips binary, huge, empty and broken ones."""
    corpus = Corpus()
    for path in files:
        data = path.read_bytes() if path.stat().st_size <= _MAX_FILE else b"\0"
        lines = data.splitlines(keepends=True)
        if not lines or b"\0" in data:
            corpus.n_skipped += 1
            continue
        try:
            tokens, widths = _python_tokens(path, len(lines)) if path.suffix == ".py" else _any_tokens(lines)
        except (tokenize.TokenError, SyntaxError, UnicodeDecodeError, IndexError):
            corpus.n_skipped += 1
            continue
        starts, offset = [], 0
        for line in lines:
            starts.append(offset)
            offset += len(line)
        subpath = path.relative_to(root)
        corpus.label.append(subpath.parts[0] if len(subpath.parts) > 1 else "(top)")
        corpus.path.append(str(subpath))
        corpus.indent.append([len(line) - len(line.lstrip(b" \t")) for line in lines])
        corpus.byte.append(starts)
        corpus.token.append(tokens)
        corpus.width.append(widths)
    return corpus
