"""Files of joint rows: strict reading, atomic saving, writing in pieces, folders of shards.

A `.nrt` file is a safetensors file whose tensors are called `dimK/name`, flat values under K levels, and
`dimK/bounds`, the int64 ends of level K. All else that varlen stores is in the metadata, which other readers
ignore:

| key | holds |
| --- | --- |
| `varlen.version` | 1, and 2 in a compressed file (`bits.py`); a file of a newer version is refused |
| `varlen.schema` | JSON: `keys`, each with its `dtype` and its declaration as `column`; `row_ids`, a key |
| `varlen.vocabulary.NAME` | JSON: the strings that integers of key NAME stand for; at most 48 MiB |
| `varlen.account` | JSON: the account of input, output and everything left out (`account.py`) |
| `varlen.checksums` | JSON: the checksum of each tensor by its name (`checksums.py`) |
| `varlen.checksum` | the checksum of the header, its own digits counted as zeros |

Files of both generations of nested_ragged_tensors are read. If a file has bounds, `dimK/lengths` that repeat
them are ignored; if it has none, the lengths are added up. A header may have up to 100 MB, as the format
allows, and every byte is checked: a `FileFormatError` names the fault, the place and the file. Bounds are
checked when they are read; `validate` checks them all.

Files behind URLs are read by ranges (`remote.py`), from a server or a file system of fsspec (`stores.py`,
`http_store.py`), or from blocks that a folder of this machine keeps (`cache.py`).

Reading is three layers: bytes and header of one file (`layout.py`), rows of one file (`file.py`), rows of
many shards (`shard_set.py`). Writing goes to a temporary file first (`atomic.py`): at once (`save.py`), or in
pieces (`writer.py`, `shard_writer.py`).

A file is mapped once in a process and shared by all who open it. A map outlives a file that is replaced or
deleted. If somebody truncates a file in place, a process that reads the lost part ends, as with every map:
`check` and `guard` look first. On network file systems, open with `mmap=False`.

A data set is a folder of such files and an `index.json`: `format` "varlen-index", `version` 1, `rows`,
`keys`, `shards`, each with its `path` in the folder, `rows`, `size` and the `checksum` of its header, the
`account` of all shards, and the `varlen.checksum` of the index itself. Where rows were deleted, `version` is
2, and `deleted` lists those of a shard, counted from 0 in its file, where they still are (`deletions.py`).
`compaction.py` takes them out; `old_files` are files that it wrote anew, which nothing but an earlier index
needs.
"""

from typing import TYPE_CHECKING

from varlen._lazy import loaded_from
from varlen.io.account import Account, AccountError, Balance, Reason, Tally
from varlen.io.bad_shards import BadShard
from varlen.io.building import build
from varlen.io.cache import Cache
from varlen.io.compaction import compact
from varlen.io.errors import ChecksumError, FileFormatError, StaleFileError
from varlen.io.file import File, open_file
from varlen.io.intent import Schema, SchemaColumn
from varlen.io.layout import read_header
from varlen.io.save import save
from varlen.io.schema import Field
from varlen.io.schema_file import read_schema
from varlen.io.shard_set import ShardSet, open_shards
from varlen.io.shard_writer import ShardWriter
from varlen.io.verify import verify
from varlen.io.writer import Writer

__all__ = [
    "Account",
    "AccountError",
    "BadShard",
    "Balance",
    "Cache",
    "ChecksumError",
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
    "compact",
    "open_file",
    "open_shards",
    "read_header",
    "read_schema",
    "save",
    "verify",
]

if not TYPE_CHECKING:  # type checkers know all names
    __getattr__ = loaded_from(__name__, {})
