"""``varlen demo``: from source files to shuffled padded batches, with input from any machine."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from varlen.cli.manual import add_command, check_parent, check_positive
from varlen.errors import file_error

__all__ = ["add_parser"]

_DESCRIPTION = """\
Reads the Python sources of the standard library, or the files of any folder, as nested data:
files > lines > tokens. Its keys have three depths: a label per file, indent and byte position
per line, token and width per token. Builds the joint dict, saves a .nrt file, opens it without
reading it, and runs an epoch of shuffled padded batches. Ends with commands to try next.
"""
_MAX_LINES = 256


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = add_command(
        commands, "demo", "build, save, open and batch an example data set", _DESCRIPTION, _run
    )
    parser.add_argument("folder", nargs="?", type=Path, help="read the files of this folder instead")
    parser.add_argument(
        "--files", type=int, default=300, metavar="N", help="read at most N files (default: 300)"
    )
    parser.add_argument(
        "--batch-size", type=int, default=32, metavar="N", help="files per batch (default: 32)"
    )
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep the .nrt file here")


def _sample_evenly(files: list[Path], limit: int) -> list[Path]:
    """`limit` of the files, evenly over the list, so that every folder has its share."""
    if len(files) <= limit:
        return files
    return [files[i * len(files) // limit] for i in range(limit)]


def _run(arguments: argparse.Namespace) -> int:
    check_positive(arguments, "files", "batch_size")
    if arguments.save is not None:
        check_parent(arguments.save, arguments.save)
        if arguments.save.is_dir():
            raise IsADirectoryError(f"{arguments.save}: is a folder, --save takes a file")
        return _show(arguments, arguments.save)
    with tempfile.TemporaryDirectory(prefix="varlen-demo-") as folder:
        return _show(arguments, Path(folder) / "sources.nrt")


def _show(arguments: argparse.Namespace, path: Path) -> int:
    from tqdm import tqdm

    from varlen.cli.info import as_bytes
    from varlen.cli.source import find_files, read_corpus
    from varlen.data import open as open_dataset
    from varlen.display.picture import bars
    from varlen.joint import JointNestedRaggedTensorDict

    root, files = find_files(arguments.folder)
    files = _sample_evenly(files, arguments.files)
    if not files:
        raise FileNotFoundError(f"{root}: no files to read")
    print(f"reading {len(files):,} files of {root}")
    corpus = read_corpus(root, tqdm(files, desc="tokenizing", unit=" files", leave=False))
    if not corpus.label:
        raise file_error(root, f"none of {len(files):,} files is text")

    start = time.perf_counter()
    words = {"token": str, "label": str, "path": str}
    joint = JointNestedRaggedTensorDict(corpus.as_dict(), schema=words, row_ids="path")
    make_time = time.perf_counter() - start
    lines, tokens = joint.tensors["dim1/byte"].size, joint.tensors["dim2/token"].size
    print(f"built    {len(joint):,} files > {lines:,} lines > {tokens:,} tokens in {make_time * 1e3:,.0f} ms")

    start = time.perf_counter()
    joint.save(path)
    save_time = time.perf_counter() - start
    print(f"saved    {path.name}, {as_bytes(path.stat().st_size)} in {save_time * 1e3:,.0f} ms")

    start = time.perf_counter()
    data = open_dataset(path)
    open_time = time.perf_counter() - start
    print(f"opened   in {open_time * 1e6:,.0f} us, nothing read\n")
    print("lines a file")
    print(bars(data.lengths) + "\n")

    slots = values = batches = 0
    start = time.perf_counter()
    batch: dict[str, Any] = {}
    for batch in data.epoch(
        batch_size=arguments.batch_size,
        shuffle=True,
        seed=0,
        max_len=_MAX_LINES,
        window="random",
    ):
        mask = batch["dim2/mask"]
        slots += mask.size
        values += int(np.count_nonzero(mask))
        batches += 1
    batch_time = time.perf_counter() - start
    print(
        f"\n{batches:,} shuffled batches of {arguments.batch_size} files, {_MAX_LINES} lines at most: "
        f"{batches / batch_time:,.0f} batches/s, {slots and 1 - values / slots:.0%} padding\n"
    )
    print("the last batch")
    for name, array in batch.items():
        corner = " ".join(str(x) for x in np.asarray(array).reshape(-1)[:8])
        print(f"  {name:<10} {array.dtype!s:<8} {array.shape!s:<18} {corner} ...")
    print(_next_steps(arguments.save))
    return 0


def _next_steps(path: Path | None) -> str:
    """Commands to try after the demo, on its file if one was kept."""
    keep = [] if path else [("varlen demo --save sources.nrt", "keep the file for the commands below")]
    file = path or Path("sources.nrt")
    code = f"import varlen; print(varlen.open('{file}').batch([0, -1])['indent'])"
    steps = [
        *keep,
        (f"varlen info {file}", "see its keys, lengths and padding"),
        (f'python -c "{code}"', "pad two rows"),
        ("varlen convert --help", "turn your own table into such a file"),
    ]
    width = max(len(command) for command, _ in steps)
    return "\nwhat to try next\n" + "\n".join(f"  {command:<{width}}  # {why}" for command, why in steps)
