"""Arrays to a file: the format's own layout, written so that a crash leaves the old file or the new one."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from varlen import _core
from varlen.arguments import as_bool, as_mapping, new_words, refuse_mask, vocabularies_of
from varlen.errors import naming, type_error, value_error
from varlen.io import atomic
from varlen.io.account import ACCOUNT, Account
from varlen.io.bits import as_compress, write_bits
from varlen.io.checksums import CHECKSUM, as_checksums, bytes_of, checksum_of, seal, with_checksums
from varlen.io.dtypes import TAG_ORDER, dtype_of, little_endian, tag_of
from varlen.io.intent import Schema, plain_columns
from varlen.io.row_ids import row_ids_error
from varlen.io.schema import encode_metadata, id_dtype, store

__all__ = ["save", "split_name"]

Array = np.ndarray[tuple[Any, ...], np.dtype]

# Name, tag and shape of one tensor.
Entry = tuple[str, str, tuple[int, ...]]

# Data begins at a multiple of this: a cache line, and enough for any vector load.
_ALIGNMENT = 64

_MAX_HEADER = 100_000_000


def save(
    path: str | os.PathLike[str],
    entries: Mapping[str, Array],
    *,
    vocabularies: Mapping[str, Sequence[str]] | None = None,
    row_ids: str | None = None,
    metadata: Mapping[str, str] | None = None,
    durable: bool = True,
    schema: Schema | None = None,
    account: Account | None = None,
    padding_id: bool = True,
    checksums: bool = False,
    compress: bool = False,
) -> None:
    """Save flat arrays, named `dimK/name` and `dimK/bounds`, as one file that replaces `path` at once.

    The old file stays whole until the new one is on the disk. After an error or a kill you have one of the
    two.

    Parameters
    ----------
    path
        The file to write. Links are followed; a folder is an error.
    entries
        Arrays by full name, of any shape (rows first) and any dtype of the format. Times are stored as int64
        with a unit, strings as ids with a vocabulary. Contiguous arrays are not copied.
    vocabularies
        The strings behind the integer values of a key, by bare key name.
    row_ids
        The bare name of a `dim0` key whose values identify the rows.
    metadata
        Further strings for the header.
    durable
        False skips the fsync, which is faster. Other processes still see either the old file or the new one,
        complete; a power cut within seconds may lose both.
    schema
        The declarations of the keys, which the file stores.
    account
        The account of the rows, which the file stores unchanged.
    padding_id
        As in `varlen.io.Writer`: strings get ids from 1, and id 0 is "[PAD]".
    checksums
        Store a checksum of each array and of the header, which `verify` and `varlen.open(verify=)` compare.
    compress
        True stores the numbers in blocks of as few bits as they need. Only varlen reads such a file; it gives
        the same rows, and `varlen convert` makes the plain file of it again, bit for bit.

    Raises
    ------
    TypeError
        The format lacks a dtype, which the error names.
    ValueError
        Bounds are not int64, a vocabulary is too short, the header is too large, keys differ from the
        schema, or a tensor with another name is to be compressed.
    OSError
        The system refused to write; nothing changed.
    ImportError
        Checksums need the package xxhash.

    Examples
    --------
    >>> import os, tempfile, varlen.io
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "visits.nrt")
    >>> bounds, code = np.array([2, 2, 3]), np.array([7, 8, 9], np.uint8)
    >>> varlen.io.save(path, {"dim1/bounds": bounds, "dim1/code": code})
    >>> varlen.io.open_file(path).array("dim1/code")
    array([7, 8, 9], dtype=uint8)
    >>> folder.cleanup()
    """
    words: dict[str, dict[str, int]] = {}
    as_bool(padding_id, "padding_id")
    has_checksums = as_checksums(checksums)
    as_compress(compress)
    as_mapping(entries, "entries", "names of tensors to arrays")
    inputs = {name: as_tensor(name, array, "entries") for name, array in entries.items()}
    arrays = {}
    for name, array in inputs.items():
        bare = split_name(name)[1]
        if bare in words:
            raise value_error("entries", f"two keys are called {bare!r} and hold strings")
        if array.dtype.kind in "UTO":
            words[bare] = {word: i for i, word in enumerate(new_words(bare, padding_id, row_ids))}
        arrays[name] = little_endian(store(bare, array, words))
        if bare in words:
            arrays[name] = arrays[name].astype(id_dtype(len(words[bare])))
    lists = {key: list(w) for key, w in words.items()} | vocabularies_of(vocabularies)
    _check(arrays, lists, row_ids, words)
    if compress:
        _refuse_other_names(arrays)
    fields = {split_name(name)[1]: a.dtype for name, a in inputs.items() if a.dtype.kind in "mM"}
    fields = {
        bare: fields.get(bare, arrays[name].dtype)
        for name, (dim, bare) in ((n, split_name(n)) for n in arrays)
        if dim is not None and not (bare == "bounds" and dim > 0)
    }
    if schema is not None:
        dims = {
            bare: (dim, arrays[name]) for name in arrays for dim, bare in [split_name(name)] if bare in fields
        }
        schema.check_rows({n: (dim or 0, fields[n], values) for n, (dim, values) in dims.items()}, lists)
    file_metadata = encode_metadata(fields, lists, row_ids, metadata, plain_columns(schema))
    if account is not None:
        file_metadata[ACCOUNT] = account.as_text()
    tensors = [(name, tag_of(array.dtype, name), array.shape) for name, array in arrays.items()]
    if has_checksums:
        own = {name: checksum_of((bytes_of(array),)) for name, array in arrays.items()}
        file_metadata = with_checksums(file_metadata, own)
    header = header_bytes(tensors, file_metadata)
    _check_nesting(header, arrays)
    names = [name for name, _, _ in sorted(tensors, key=data_order)]
    views = (bytes_of(arrays[name]) for name in names)
    with atomic.replace_file(path, durable) as fd:
        if compress:
            write_bits(fd, header, [(name, arrays[name]) for name in names], has_checksums)
            return
        atomic.write_all(fd, (header, *views))


def as_tensor(full: object, value: object, argument: str) -> Array:
    """The array of a tensor, whose name is a string."""
    if not isinstance(full, str):
        raise type_error(argument, f"names are strings like 'dimK/name', got {full!r}")
    try:
        return np.asarray(refuse_mask(value, full))
    except ValueError:
        raise value_error(full, "not a rectangle of values", "give bounds and flat values") from None


def level_of(full: str, bounds: Array) -> _core.Level:
    """The level of a tensor of bounds; errors name it."""
    with naming(full):
        return _core.Level.from_bounds(bounds)


def _check(
    arrays: Mapping[str, Array],
    vocabularies: Mapping[str, Sequence[str]],
    row_ids: str | None,
    result: Mapping[str, object],
) -> None:
    """Refuse tensors that could be written, but not read again."""
    by_key = {}
    for name, array in arrays.items():
        dim, bare = split_name(name)
        if dim is not None and bare == "bounds" and dim > 0:
            if array.dtype != np.int64 or array.ndim != 1:
                raise value_error(name, f"bounds are 1-d int64, got {array.dtype}, {array.ndim}-d")
        else:
            by_key[bare] = (dim, array)
    for key, words in vocabularies.items():
        if key not in by_key:
            raise value_error("vocabularies", f"there is no key {key!r}")
        array = by_key[key][1]
        if array.dtype.kind not in "iu":
            raise type_error("vocabularies", f"key {key!r} is {array.dtype}, ids are integers")
        if key not in result and array.size and not 0 <= int(array.min()) <= int(array.max()) < len(words):
            raise value_error(
                "vocabularies",
                f"key {key!r} holds ids {array.min()} to {array.max()}, for {len(words)} strings",
            )
    if row_ids is not None and by_key.get(row_ids, (None, None))[0] != 0:
        raise row_ids_error(row_ids)


def _refuse_other_names(names: Iterable[str]) -> None:
    for name in names:
        if split_name(name)[0] is None:
            reason = f"the name of {name!r} is not dimK/name; only such tensors are compressed"
            raise value_error("compress", reason, "save it without compress=")


def _check_nesting(header: bytes, arrays: Mapping[str, Array]) -> None:
    if not all(split_name(name)[0] is not None for name in arrays):
        return  # a plain safetensors file, without levels
    table = _core.Header(header[8:], sum(array.nbytes for array in arrays.values()))
    depth, bounds, _, rows = table.layout()
    for d in range(1, depth + 1):
        if bounds[d - 1] < 0:
            raise value_error("entries", f"there is no dim{d}/bounds")
        name = table.describe(bounds[d - 1])[0]
        total = level_of(name, arrays[name]).total
        if rows[d] >= 0 and rows[d] != total:
            raise value_error(name, f"ends at {total}, but dim {d} has {rows[d]} rows")


def split_name(full: str) -> tuple[int | None, str]:
    """The depth and the bare name in `dimK/name`; (None, full) for any other name.

    >>> split_name("dim2/code"), split_name("weights")
    ((2, 'code'), (None, 'weights'))
    """
    front, slash, bare = full.partition("/")
    digits = front[3:]
    if not slash or not front.startswith("dim") or not digits.removeprefix("-").isdigit():
        return None, full
    return int(digits), bare


def data_order(entry: Entry) -> tuple[int, str]:
    """The sort key of a file's tensors: wide dtypes come first, so that all are aligned.

    >>> sorted([("dim0/a", "U8", (1,)), ("dim0/b", "I64", (1,))], key=data_order)[0][0]
    'dim0/b'
    """
    return TAG_ORDER[entry[1]], entry[0]


def header_bytes(entries: Sequence[Entry], metadata: Mapping[str, str]) -> bytes:
    """The first bytes of a file: bounds, and other tensors as they are given. Data follow by `data_order`.

    Where the metadata has a place for the header's own checksum, it is filled in.
    """
    table: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    bounds = sorted(entry for entry in entries if entry[0].endswith("/bounds"))
    for name, tag, shape in [*bounds, *(entry for entry in entries if entry not in bounds)]:
        if name in table:
            raise value_error("entries", f"{name!r} is not a name for a tensor")
        table[name] = {"dtype": tag, "shape": list(shape)}
    offset = 0
    for name, tag, shape in sorted(entries, key=data_order):
        end = offset + math.prod(shape) * dtype_of(tag).itemsize
        table[name]["data_offsets"] = [offset, end]
        offset = end
    try:
        text = json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise value_error("entries", f"{half!r} in a name or in metadata is an unpaired surrogate") from None
    size = -(-(8 + len(text)) // _ALIGNMENT) * _ALIGNMENT - 8
    if size > _MAX_HEADER:
        raise value_error("entries", f"the header takes {size} bytes, the format allows {_MAX_HEADER}")
    header = size.to_bytes(8, "little") + text.ljust(size)
    return seal(header, CHECKSUM) if CHECKSUM in metadata else header
