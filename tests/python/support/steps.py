"""Functions of rows in tests of verbs on engines, where other processes find them."""

import os
import signal
from pathlib import Path

FOLDER = "VARLEN_TEST_FOLDER"  # in the environment: where calls leave a line


def called(row_id):
    with (Path(os.environ[FOLDER]) / "calls").open("a") as log:
        log.write(f"{row_id}\n")


def calls():
    log = Path(os.environ[FOLDER]) / "calls"
    return sorted(map(int, log.read_text().split())) if log.exists() else []


def doubled(row):
    """Twice the numbers, and None in place of nothing."""
    called(row["id"][0])
    plain = row.to_list()
    return {
        "id": row["id"], "word": plain["word"], "twice": [2 * x for x in plain["x"]],
        "dose": None if not plain["x"] else plain["x"][0] / 2,
    }  # fmt: skip


def killed(row):
    """As `doubled`; the process is killed the first time, at the row with id 7."""
    if row["id"][0] == 7 and 7 not in calls():
        called(7)
        os.kill(os.getpid(), signal.SIGKILL)
    return doubled(row)


def failing(row):
    if row["id"][0] == 7:
        raise ValueError("no such visit")
    return doubled(row)


def longer(rows):
    """Many rows at once, without those whose id is odd."""
    return rows[rows["id"] % 2 == 0]


def even(columns):
    """Rows with an even id; a line for each row that is asked for."""
    for row_id in columns["id"].tolist():
        called(row_id)
    return columns["id"] % 2 == 0


def even_once(columns):
    if 7 in columns["id"] and 7 not in calls():
        called(7)
        os.kill(os.getpid(), signal.SIGKILL)
    return even(columns)
