"""A folder of three rows that two are added to, and a program that is killed at one of its system calls."""

import subprocess
import sys

from varlen import io

FIRST = {"x": [[1, 2], [], [3]], "w": ["a", "b", "a"]}
MORE = {"x": [[4], [5, 6]], "w": ["c", "a"]}
ALL = {key: FIRST[key] + MORE[key] for key in FIRST}


def begin(folder, rows=FIRST, **options):
    with io.ShardWriter(folder, 2, durable=False, **options) as writer:
        writer.append(rows)
    return folder


def add(folder, rows=MORE, **options):
    with io.ShardWriter(folder, 2, append=True, durable=False, **options) as writer:
        writer.append(rows)


PROGRAM = """
import os, sys
stop, count = int(sys.argv[2]), 0
def counting(own):
    def call(*arguments, **options):
        global count
        count += 1
        if count == stop:
            os._exit(9)
        return own(*arguments, **options)
    return call
from varlen import io
for name in ("rename", "replace", "unlink", "open", "writev", "pwrite", "fsync", "ftruncate"):
    setattr(os, name, counting(getattr(os, name)))
"""


def run_killed(statements, folder, stop):
    """The exit status of statements about `sys.argv[1]`, ended by 9 at their system call number `stop`."""
    command = [sys.executable, "-c", PROGRAM + statements, folder, str(stop)]
    return subprocess.run(command, check=False).returncode
