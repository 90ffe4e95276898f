"""What partitions become in tests of builds, where other processes find it."""

import os
import signal
from pathlib import Path

import numpy as np


def rows(first, words=None):
    """Three rows from a number on; the second is empty."""
    words = [f"w{first % 4}", "common", f"w{first}"] if words is None else words
    return {
        "dim0/id": np.arange(first, first + 3),
        "dim1/bounds": np.array([2, 2, 3]),
        "dim1/word": np.array(words),
        "dim1/value": np.arange(first, first + 3) * (1 if first < 200 else 300),
    }


def numbered(path):
    """Rows by the number in a file, and a line in its log for each time that they were made."""
    with Path(path).with_suffix(".log").open("a") as log:
        log.write("made\n")
    return rows(int(Path(path).read_text()))


def killed_once(path):
    """As `numbered`; the process is killed the first time, where the number is 9."""
    first = not Path(path).with_suffix(".log").exists()
    made = numbered(path)
    if first and made["dim0/id"][0] == 9:
        os.kill(os.getpid(), signal.SIGKILL)
    return made


def always_killed(path):
    if Path(path).read_text() == "9":
        os.kill(os.getpid(), signal.SIGKILL)
    return numbered(path)


def failing(path):
    if Path(path).read_text() == "9":
        raise ValueError("no such visit")
    return numbered(path)


def words_of_two(path):
    """Rows by the number in a file, where 2 has a word in place of a list."""
    number = int(Path(path).read_text())
    return {"x": [[1.0], [number]] if number < 2 else [[1.0], "word"]}


def of_frame(frame):
    """Rows of a data frame of pandas, one an id."""
    ids, first, counts = np.unique(frame["id"].to_numpy(), return_index=True, return_counts=True)
    assert (np.diff(first) > 0).all()
    words = frame["word"].to_numpy().astype(str)
    return {"dim0/id": ids, "dim1/bounds": np.cumsum(counts), "dim1/word": words}


def of_records(records):
    """Rows of dicts with an id, each with its words: what a bag of Dask holds."""
    records = list(records)
    counts = [len(record["words"]) for record in records]
    words = [word for record in records for word in record["words"]]
    return {
        "dim0/id": np.array([record["id"] for record in records]),
        "dim1/bounds": np.cumsum(counts),
        "dim1/word": np.array(words, str),
    }


def of_block(block):
    """Rows of a block of Ray: a table of Arrow, or a data frame."""
    return of_frame(block.to_pandas() if hasattr(block, "to_pandas") else block)


class Unportable(Exception):
    """Goes through no pickle: it cannot be made again from its text."""

    def __init__(self, code, line):
        super().__init__(f"{code} in line {line}")


def unportable(path):
    if Path(path).read_text() == "9":
        raise Unportable("C9", 3)
    return numbered(path)


def lacking(path):
    if Path(path).read_text() == "9":
        return {}["code"]
    return numbered(path)


def shifted(path, by):
    made = numbered(path)
    return {**made, "dim0/id": made["dim0/id"] + by}
