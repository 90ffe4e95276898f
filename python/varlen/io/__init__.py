"""Files of joint rows: strict reading, atomic saving, writing in pieces, folders of shards.

A `.nrt` file is a safetensors file whose tensors are called `dimK/name`, flat values under K levels, and
`dimK/bounds`, the int64 ends of level K. What varlen knows beyond that is in the metadata, which others
ignore:

| key | holds |
| --- | --- |
| `varlen.version` | 1; a file of a newer version is refused |
| `varlen.schema` | JSON: `keys`, each with its `dtype` and what was declared as `column`; `row_ids`, a key |
| `varlen.vocabulary.NAME` | JSON: the strings that integers of key NAME stand for; at most 48 MiB |
| `varlen.account` | JSON: what came in, what went out, what was left out and why (`account.py`) |

Files of both generations of nested_ragged_tensors are read: where there are bounds, `dimK/lengths` that
repeat them are ignored; where there are none, they are added up. A header is read as the format allows it,
up to 100 MB, and no byte of it is believed: what is refused is a `FileFormatError` that says what, where
and in which file. Bounds are checked where they are read, all of them by `validate`.

Reading is three layers: bytes and header of one file (`layout.py`), rows of one file (`file.py`), rows of
many shards (`shard_set.py`). What is written goes to a temporary file first (`atomic.py`): at once
(`save.py`), or in pieces (`writer.py`, `shard_writer.py`).

A file is mapped once in a process and shared by all who open it. Maps outlive a file that is replaced or
deleted; a file that somebody cuts short in place ends the process that touches what is gone, as with every
map: `check` and `guard` look first. On network file systems open with `mmap=False`.

A data set is a folder of such files and an `index.json`: `format` "varlen-index", `version` 1, `rows`,
`keys`, `shards`, each with its `path` in the folder, `rows` and `size`, and the `account` of all shards.
"""

from typing import TYPE_CHECKING

from varlen._lazy import loaded_from
from varlen.io.account import Account, AccountError, Balance, Reason, Tally
from varlen.io.building import build
from varlen.io.errors import FileFormatError, StaleFileError
from varlen.io.file import File, open_file
from varlen.io.intent import Schema, SchemaColumn
from varlen.io.layout import read_header
from varlen.io.save import save
from varlen.io.schema import Field
from varlen.io.schema_file import read_schema
from varlen.io.shard_set import ShardSet, open_shards
from varlen.io.shard_writer import ShardWriter
from varlen.io.writer import Writer

__all__ = [
    "Account",
    "AccountError",
    "Balance",
    "Field",
    "File",
    "FileFormatError",
    "Reason",
    "Schema",
    "SchemaColumn",
    "ShardSet",
    "ShardWriter",
    "StaleFileError",
    "Tally",
    "Writer",
    "build",
    "open_file",
    "open_shards",
    "read_header",
    "read_schema",
    "save",
]

if not TYPE_CHECKING:  # type checkers know all names
    __getattr__ = loaded_from(__name__, {})
