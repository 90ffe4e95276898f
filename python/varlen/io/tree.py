"""Containers, arrays and tensors that nest as they like, in one plain safetensors file.

Its tensors are the flat arrays, named by their way through the object: "a/values", "a/levels/0", "b/0". The
metadata has the nesting as JSON: a list of nodes, each `[kind, ...]` of what it is made of. Numbers and text
stand for themselves, `[k]` for node k, so that what is one object when saved is one object when loaded.
"""

from __future__ import annotations

import json
import math
import mmap as maps
import os
from collections.abc import Iterable, Sequence
from reprlib import repr as short
from typing import Any

import numpy as np

from varlen import _restored
from varlen._core import Dim, Header, Level
from varlen.arguments import refuse_mask
from varlen.backends import backend_of
from varlen.backends.values import from_state, is_tensor
from varlen.errors import name_argument, name_file, type_error, value_error
from varlen.io import atomic
from varlen.io.dtypes import dtype_of, little_endian, tag_of
from varlen.io.errors import FileFormatError, format_error
from varlen.io.formats import TREE
from varlen.io.save import Entry, data_order, header_bytes

__all__: list[str] = []

Array = np.ndarray[tuple[Any, ...], np.dtype]

#: The key of the metadata that has the nesting.
_NESTING = "varlen.tree"
_PLAIN = (type(None), bool, int, float, str)


class _Writer:
    """The tensors and the nesting of an object."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.nodes: list[Any] = []
        self._places: dict[int, Any] = {}
        self._objects: list[Any] = []  # so that no two objects have one id

    def node(self, x: Any, place: str) -> Any:
        """The JSON of an object: a number or text itself, else the place of its one node."""
        if type(x) in _PLAIN:
            return x
        place_of_node = self._places.get(id(x), self)
        if place_of_node is self:
            self._places[id(x)] = None  # until its parts have theirs
            self.nodes.append(self._encode(x, place))
            place_of_node = self._places[id(x)] = [len(self.nodes) - 1]
            self._objects.append(x)
        if place_of_node is None:
            raise value_error(place, "is an object that holds itself")
        return place_of_node

    def _items(self, items: Iterable[tuple[Any, Any]], place: str) -> list[Any]:
        return [[key, self.node(item, f"{place}/{key}" if place else str(key))] for key, item in items]

    def _encode(self, x: Any, place: str) -> list[Any]:
        if isinstance(x, dict):
            for key in x:
                if type(key) not in _PLAIN:
                    raise type_error(place or "x", f"expected text or numbers as keys, got {short(key)}")
            return ["dict", self._items(x.items(), place)]
        if type(x) in (list, tuple):
            return [type(x).__name__, self._items(enumerate(x), place)]
        if isinstance(x, Level):
            return ["level", *self._keep(np.asarray(x.offsets), place)]
        if isinstance(x, Dim):
            return ["dim", self.node(x.__reduce__()[1][0], place)]
        if isinstance(x, type) and hasattr(x, "_from_saved"):
            return ["class", _name_of(x, place)]
        if hasattr(type(x), "_from_saved"):
            try:
                parts = x._file_parts()
            except ValueError as error:
                raise name_argument(error, place or "x") from None
            return [_name_of(type(x), place), self._items(parts.items(), place)]
        if isinstance(x, np.generic):
            return ["scalar", *self._keep(np.asarray(x), place)]
        if not hasattr(refuse_mask(x, place or "x"), "dtype"):
            raise type_error(
                place or "x",
                f"expected containers, arrays, tensors, numbers, text, or dicts, lists and tuples of them, "
                f"got {type(x).__name__}",
            )
        if is_tensor(x):
            if x.is_nested or x.is_quantized or str(x.layout) != "torch.strided":
                raise type_error(place or "x", f"expected a dense tensor, got {short(x)}")
            dtype, array, requires_grad = backend_of(x).to_state(x)
            return ["tensor", dtype, requires_grad, *self._keep(array, place)]
        return ["array", *self._keep(backend_of(x).to_state(x), place)]

    def _keep(self, array: Array, place: str) -> list[Any]:
        """The name of the tensor of an array, and its dtype and shape if the format lacks it."""
        name, number = place or "values", 2
        while name in self.arrays:
            name, number = f"{place or 'values'}-{number}", number + 1
        try:
            tag_of(array.dtype, name)
            is_known = array.dtype.isnative
        except TypeError:
            is_known = False
        if is_known:
            self.arrays[name] = little_endian(array)
            return [name]
        descr = None if array.dtype.hasobject else np.lib.format.dtype_to_descr(array.dtype)
        if descr is None or np.lib.format.descr_to_dtype(descr) != array.dtype:
            advice = "Ragged.from_list() takes lists of arrays, astype('U') makes text of strings"
            raise type_error(place or "x", f"a file cannot hold dtype {array.dtype}", advice)
        word = np.dtype(f"<u{math.gcd(array.itemsize, 8) or 1}")  # so that it is aligned in the file
        flat = np.ascontiguousarray(array).reshape(-1)
        self.arrays[name] = flat.view(word) if array.itemsize else np.empty(0, word)
        return [name, descr, list(array.shape)]


def _name_of(kind: type, place: str) -> str:
    if not kind.__module__.startswith("varlen."):
        base = next(base.__name__ for base in kind.__mro__ if base.__module__.startswith("varlen."))
        advice = f"save a {base} of the same parts"
        raise type_error(place or "x", f"expected a class of varlen, got {kind.__name__}", advice)
    return f"{kind.__module__}:{kind.__qualname__}"


def save_tree(x: object, path: str | os.PathLike[str], durable: bool = True) -> None:
    """Write an object as one file that replaces `path` at once."""
    writer = _Writer()
    root = writer.node(x, "")
    nesting = json.dumps({"root": root, "nodes": writer.nodes}, separators=(",", ":"))
    arrays = writer.arrays
    entries: list[Entry] = [(name, tag_of(array.dtype), array.shape) for name, array in arrays.items()]
    header = header_bytes(entries, {"format": TREE, _NESTING: nesting})
    views = (arrays[name].reshape(-1).view(np.uint8) for name, _, _ in sorted(entries, key=data_order))
    with atomic.replace_file(path, durable) as fd:
        atomic.write_all(fd, (header, *views))


class _Reader:
    """The objects of a file, each made once."""

    def __init__(self, header: Header, memory: Any) -> None:
        self.places = {name: header.describe(i) for i, name in enumerate(header.names)}
        self.start, self.memory = header.data_start, memory
        self._objects: list[Any] = []

    def read(self, root: Any, nodes: Sequence[Any]) -> Any:
        """The object of the root. A node stands behind those that it is made of."""
        for kind, *parts in nodes:
            self._objects.append(self._make(kind, *parts))
        return self._get(root)

    def _get(self, node: Any) -> Any:
        if type(node) in _PLAIN:
            return node
        (place,) = node
        return self._objects[place]

    def _make(self, kind: str, *parts: Any) -> Any:
        if kind == "level":
            return Level.from_offsets(self.array(*parts))
        if kind == "array":
            return self.array(*parts)
        if kind == "scalar":
            return self.array(*parts)[()]
        if kind == "tensor":
            return from_state((str(parts[0]), self.array(*parts[2:]), bool(parts[1])))
        (part,) = parts
        if kind == "class":
            return _restored.kind(part)
        if kind == "dim":
            return _restored.dim(self._get(part))
        if kind == "dict":
            return {key: self._get(item) for key, item in part}
        items = [self._get(item) for _, item in part]
        if kind in ("list", "tuple"):
            return items if kind == "list" else tuple(items)
        return _restored.container(_restored.kind(kind), *items)

    def array(self, name: str, descr: Any = None, shape: Any = None) -> Array:
        """A tensor as an array over the memory of the file."""
        _, tag, own_shape, begin, end = self.places[name]
        dtype = dtype_of(tag)
        array = np.frombuffer(self.memory, np.uint8, end - begin, self.start + begin)
        if descr is not None:
            dtype = np.lib.format.descr_to_dtype(_descr(descr))
            own_shape = tuple(shape)
            if dtype.hasobject or dtype.itemsize * math.prod(own_shape) != array.nbytes:
                raise value_error(name, f"holds {array.nbytes} bytes, not {own_shape} of {dtype}")
            if dtype.itemsize == 0:
                return np.empty(own_shape, dtype)
        array = array.view(dtype).reshape(own_shape)
        return array if array.flags.aligned else array.copy()  # other writers put tensors anywhere


def _descr(descr: Any) -> Any:
    """The description of a dtype as NumPy takes it: JSON has lists where it wants tuples."""
    if not isinstance(descr, list):
        return descr
    return [
        tuple(tuple(x) if i == 2 else _descr(x) for i, x in enumerate(field))
        if not isinstance(field[0], list)
        else (tuple(field[0]), *map(_descr, field[1:]))
        for field in descr
    ]


def load_tree(name: str, header: Header, is_mapped: bool) -> Any:
    """The object of a file that `save_tree` wrote; a dict of arrays for any other safetensors file."""
    reader = _Reader(header, _memory_of(name, header, is_mapped))
    text = header.metadata.get(_NESTING)
    if text is None:
        return {key: reader.array(key) for key in header.names}
    try:
        nesting = json.loads(text)
        return reader.read(nesting["root"], nesting["nodes"])
    except (ArithmeticError, AttributeError, ImportError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, ImportError) and error.name == "torch":
            raise
        raise name_file(error, name, FileFormatError, place=f"metadata {_NESTING!r}") from error
    except RecursionError:
        raise format_error(name, "the nesting in its metadata is too deep") from None


def _memory_of(path: str, header: Header, is_mapped: bool) -> Any:
    """The bytes of a file: mapped, so that writes stay in this process, or read."""
    size = header.data_start + header.data_size
    with open(path, "rb", buffering=0) as file:
        if os.fstat(file.fileno()).st_size != size:
            raise format_error(path, "changed while it was opened")
        if is_mapped:
            return maps.mmap(file.fileno(), size, access=maps.ACCESS_COPY)
        memory: Any = np.empty(size, np.uint8)
        view = memoryview(memory)
        while view:
            count = file.readinto(view)
            if not count:
                raise format_error(path, "changed while it was read")
            view = view[count:]
        return memory
