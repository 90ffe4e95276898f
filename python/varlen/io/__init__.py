"""Files of joint rows: strict reading, atomic saving, writing in pieces, folders of shards."""

from varlen.io.errors import FileFormatError, StaleFileError
from varlen.io.file import File, open_file, read_header
from varlen.io.save import save
from varlen.io.schema import Field
from varlen.io.shard_writer import ShardWriter
from varlen.io.source import Source, open_source
from varlen.io.writer import Writer

__all__ = [
    "Field",
    "File",
    "FileFormatError",
    "ShardWriter",
    "Source",
    "StaleFileError",
    "Writer",
    "open_file",
    "open_source",
    "read_header",
    "save",
]
