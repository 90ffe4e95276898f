"""Where the rows of a draft come from: bytes that are the same for the same partition and function."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from varlen.errors import type_error
from varlen.io.building.drafts import Draft
from varlen.io.building.folder import draft_path

__all__: list[str] = []


def draft_of(number: int, part: object, path: str, make: Any, options: Mapping[str, Any]) -> Draft:
    """The draft of the shard with this number."""
    names = ["schema", "vocabularies", "row_ids", *["padding_id"] * (not options["padding_id"])]
    names += ["checksums"] * options["checksums"] + ["compress"] * options["compress"]
    plain = repr([(name, str(options[name])) for name in names])
    fingerprint = f"{half_of(identity_of(part), number)}-{hash_of(name_of(make) + plain.encode())}"
    return Draft(number, draft_path(path, number), fingerprint, make, options)


def half_of(identity: bytes, number: int) -> str:
    """The first half of a fingerprint: of the partition, and the number of its shard."""
    return hash_of(identity + str(number).encode())


def hash_of(text: bytes) -> str:
    """A short text that is the same for the same bytes."""
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def state_of_file(path: str | os.PathLike[str]) -> tuple[str, int, int]:
    """The path, size and time of a file, which tell whether it changed."""
    stat = os.stat(path)
    return os.fspath(path), stat.st_size, stat.st_mtime_ns


def name_of(make: object) -> bytes:
    """Bytes that are the same for the same function: its name, its `identity`, or a pickle of it.

    A function that is not a module's by its name is known by its code, too.
    """
    if isinstance(identity := getattr(make, "identity", None), bytes):
        return identity
    if make is None or hasattr(make, "__qualname__"):
        owner = getattr(make, "__self__", None)
        name = f"{getattr(make, '__module__', '')}.{getattr(make, '__qualname__', '')}".encode()
        name += _code_of(make) if b"<" in name else b""
        return name if owner is None or isinstance(owner, ModuleType) else name + name_of(owner)
    try:
        return pickle.dumps(make, protocol=4)
    except Exception:
        return f"{type(make).__module__}.{type(make).__qualname__}".encode()


def _code_of(function: Any) -> bytes:
    """What a function that was defined inside another does, and with which values."""
    code = getattr(function, "__code__", None)
    if code is None:
        return b""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    values = [function.__defaults__, function.__kwdefaults__, *cells]
    texts = [repr(_plain_code(code)).encode()]
    for value in values:
        try:
            texts.append(name_of(value) if callable(value) else pickle.dumps(value, protocol=4))
        except Exception:
            texts.append(type(value).__qualname__.encode())
    return b"".join(texts)


def _plain_code(code: Any) -> tuple[Any, ...]:
    """Code without the lines and the file that it stands in."""
    constants = [_plain_code(c) if hasattr(c, "co_code") else c for c in code.co_consts]
    return code.co_code, constants, code.co_names


def identity_of(part: Any) -> bytes:
    """Bytes that are the same for the same partition: its key in Dask, the block's in Ray, a pickle."""
    if hasattr(part, "dask") and hasattr(part, "key"):
        return repr(part.key).encode()
    if type(part).__module__.partition(".")[0] == "ray":
        return bytes(part.binary())
    try:
        return pickle.dumps(part, protocol=4)
    except Exception as error:
        raise type_error("partitions", f"{part!r} cannot be pickled: {error}") from None
