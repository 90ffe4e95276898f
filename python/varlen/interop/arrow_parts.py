"""Arrays of Arrow from any library, by their capsules: lists, structs and numbers are read here, shared.

The core checks what a producer says of its memory. Rare types are read by pyarrow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.errors import instance_error, name_place, row_error, type_error, value_error
from varlen.interop.arrow_part import Part, bits_of
from varlen.interop.arrow_words import BYTES, TEXTS, bytes_of, ids_of, join_words, texts_of, words_of
from varlen.interop.awkward import as_arrow, columns_of_layout, is_awkward
from varlen.interop.column import Column, Place
from varlen.interop.decimals import numbers_of_decimals, words_of_decimals
from varlen.interop.frames import ArrowSource
from varlen.interop.nulls import FIELD, Nulls

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__: list[str] = []

_REFUSED = Nulls()

_NUMBERS = {
    "c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8",
    "e": "f2", "f": "f4", "g": "f8", "tdD": "i4", "tdm": "M8[ms]", "tts": "i4", "ttm": "i4", "ttu": "m8[us]",
    "ttn": "m8[ns]", "tDs": "m8[s]", "tDm": "m8[ms]", "tDu": "m8[us]", "tDn": "m8[ns]",
}  # fmt: skip
#: Days and times of a day in 32 bits, which NumPy counts in 64.
_WIDER = {"tdD": "M8[D]", "tts": "m8[s]", "ttm": "m8[ms]"}
_STAMPS = {"tss": "M8[s]", "tsm": "M8[ms]", "tsu": "M8[us]", "tsn": "M8[ns]"}
_LISTS = {"+l": 4, "+L": 8, "+m": 4}
_VIEWS = {"+vl": "i4", "+vL": "i8"}


def exports(data: object) -> bool:
    """Whether an object, and not a class, shows itself to Arrow."""
    return not isinstance(data, type) and (
        hasattr(data, "__arrow_c_array__") or hasattr(data, "__arrow_c_stream__")
    )


def is_foreign(data: object) -> bool:
    """Whether an object of another library shows itself to Arrow, and not by a loop over objects."""
    dtype = getattr(data, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.hasobject:
        return False
    return (exports(data) or is_awkward(data)) and not isinstance(data, (ArrowSource, Mapping))


def columns_from(data: Any, name: str, nulls: Nulls = _REFUSED) -> dict[str, Column]:
    """The columns of what shows itself to Arrow, by name: one, or one for each field of a table."""
    if is_awkward(data):
        layout_columns = columns_of_layout(data.layout, name)
        if layout_columns is not None:
            return layout_columns
        data = as_arrow(data)
    if not exports(data):
        raise instance_error(name, "an Arrow array, or an object that exports one", data)
    try:
        if hasattr(data, "__arrow_c_array__"):
            schema, array = _pair(data, name)
            if not is_plain(Part._make(_core.read_arrow_schema(schema))):
                return _by_pyarrow(_Array((schema, array)), name, nulls)
            return _columns(Part._make(_core.read_arrow_array(schema, array)), name, nulls)
        stream = data.__arrow_c_stream__()
        result = _core.read_arrow_stream(stream, lambda head: is_plain(Part._make(head)))
    except (AttributeError, NotImplementedError) as wrong:
        raise type_error(name, f"{type(data).__name__} exports no Arrow array: {wrong}") from wrong
    if result is None:
        return _by_pyarrow(_Stream(stream), name, nulls)
    head, arrays = result
    chunks = [Part._make(array) for array in arrays]
    if not chunks:
        chunks = [_empty(Part._make(head))]
    first_rows = np.cumsum([0, *(chunk.length for chunk in chunks)]).tolist()
    columns = [_columns(chunk, name, nulls, row) for chunk, row in zip(chunks, first_rows, strict=False)]
    if len(columns) == 1:
        return columns[0]
    return {key: _join([c[key] for c in columns], key) for key in columns[0]}


def table_columns(data: Any, nulls: Nulls = _REFUSED) -> dict[str, Column]:
    """The same of a table: columns have the names of their fields alone."""
    columns = columns_from(data, "", nulls)
    if "" in columns:
        raise type_error("data", "expected a table or an array of structs, got one column", "give it a name")
    return {key.removeprefix(FIELD): column for key, column in columns.items()}  # as pyarrow's are called


def sequences_from(
    data: Any, name: str, nulls: Nulls = _REFUSED
) -> tuple[np.ndarray, tuple[_core.Level, ...]]:
    """The values and levels of a column of lists; those of a fixed size are a level, too."""
    column = one_column(columns_from(data, name, nulls), name)
    values, levels = column.values, column.levels
    if column.vocabulary is not None:
        values = texts_of(column, name)
    if not levels and values.ndim > 1:
        levels = (_core.Level.from_offsets(np.arange(len(values) + 1) * values.shape[1]),)
        values = values.reshape(-1, *values.shape[2:])
    if not levels:
        raise value_error(name, "expected a column of lists, got one without any nesting")
    return values, levels


def _pair(data: Any, name: str) -> tuple[Any, Any]:
    capsules = data.__arrow_c_array__()
    if not isinstance(capsules, tuple) or len(capsules) != 2:
        raise type_error(name, f"{type(data).__name__} exports no Arrow array: expected two capsules")
    return capsules


def is_plain(part: Part) -> bool:
    """Whether an array of this schema is read here."""
    extension = (part.metadata or {}).get(b"ARROW:extension:name", b"awkward")
    if extension != b"awkward":  # which only adds facts to what it holds
        return False
    if part.dictionary is not None:
        return part.format in "cCsSiIlL" and is_plain(Part._make(part.dictionary))
    is_known = (
        part.format in _NUMBERS
        or part.format in TEXTS
        or part.format in BYTES
        or part.format.startswith(("w:", "d:"))
        or part.format[:3] in _STAMPS
        or part.format in ("b", "n", "+s")
        or part.format in _LISTS
        or part.format in _VIEWS
        or part.format.startswith("+w:")
    )
    return is_known and all(map(is_plain, part.parts()))


class _Array:
    def __init__(self, capsules: tuple[Any, Any]) -> None:
        self.capsules = capsules

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        return self.capsules


class _Stream:
    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.capsule


def _by_pyarrow(source: _Array | _Stream, name: str, nulls: Nulls) -> dict[str, Column]:
    try:
        import pyarrow as pa
    except ImportError:
        raise type_error(name, "to read this type needs pyarrow", "pip install pyarrow") from None
    from varlen.interop.arrow_columns import columns_of

    try:
        array = pa.array(source) if isinstance(source, _Array) else pa.chunked_array(source)
    except (pa.ArrowException, TypeError, ValueError) as wrong:
        raise type_error(name, f"pyarrow reads no array of it: {wrong}") from wrong
    return columns_of(array, name, nulls)


def _empty(head: Part) -> Part:
    """No rows of a schema."""
    count = {"+s": 1, "n": 0}.get(head.format, 1 if head.format.startswith("+w:") else 2)
    count = 3 if head.format in _VIEWS or head.format in ("u", "z", "U", "Z") else count
    children = tuple(_empty(child) for child in head.parts())
    words = None if head.dictionary is None else _empty(Part._make(head.dictionary))
    return head._replace(length=0, buffers=(None,) * count, children=children, dictionary=words)


def _columns(part: Part, name: str, nulls: Nulls, first_row: int = 0) -> dict[str, Column]:
    return _read(part, 0, part.length, Place(name, lambda i: first_row + i), nulls)


def _read(part: Part, begin: int, end: int, place: Place, nulls: Nulls) -> dict[str, Column]:
    """Entries `[begin, end)` of an array."""
    if part.dictionary is not None:
        return _entries(part, Part._make(part.dictionary), begin, end, place, nulls)
    if part.format in _LISTS:
        return _lists(part, begin, end, place, nulls)
    if part.format in _VIEWS:
        return _views(part, begin, end, place, nulls)
    if part.format == "+s":
        return _fields(part, begin, end, place, nulls)
    if part.format.startswith("+w:"):
        return _rows(part, begin, end, place, nulls)
    own = nulls.for_key(place.name)
    return {place.name: _leaf(part, begin, end, place, own)}


def _entries(part: Part, words: Part, begin: int, end: int, place: Place, nulls: Nulls) -> dict[str, Column]:
    """Entries of a dictionary, by their ids."""
    own = nulls.for_key(place.name)
    mask = part.nulls(begin, end)
    ids = _as(part.buffers[1], _NUMBERS[part.format])[part.offset + begin : part.offset + end]
    wrong = (ids < 0) | (ids >= words.length)
    if mask is not None:
        wrong &= ~mask
    if wrong.any():
        i = int(wrong.argmax())
        where = f" leaves the {words.length} values of its dictionary"
        raise row_error(place.name, f"id {ids[i]}", place.row_of(i), where)
    ids = ids.astype(np.int64)
    if mask is not None:
        ids[mask] = -1
    is_text = words.format in TEXTS and words.dictionary is None
    if not is_text and words.format not in _LISTS and words.format not in _VIEWS:
        hidden = words.nulls(0, words.length)
        if hidden is not None:  # whatever hides there is null where an id names it
            words = words._replace(null_count=0)
            mask = (ids < 0) | np.append(hidden, False)[ids]
            mask = mask if mask.any() else None
    if mask is not None and own.policy == "refuse" and not (is_text and own.word is not None):
        raise row_error(place.name, "null", place.row_of(int(mask.argmax())), advice=own.why)
    if is_text:
        return {place.name: ids_of(ids, words, place, own)}
    inner = place.map_rows(lambda i: int(np.argmax(ids == i)))
    columns = _read(words, 0, words.length, inner, nulls)
    key_nulls = nulls.for_key
    return {key: _entry_column(column, ids, mask, place, key_nulls(key)) for key, column in columns.items()}


def _entry_column(
    column: Column, ids: NDArray[np.int64], mask: NDArray[np.bool_] | None, place: Place, nulls: Nulls
) -> Column:
    """Entries of a column by their ids, and what nulls become where the mask is."""
    if mask is None:
        return _pick(column, ids)
    if column.levels:
        entries = _pick(column, ids[~mask])
        lengths = np.zeros(len(ids), np.int64)
        lengths[~mask] = entries.levels[0].lengths
        return replace(entries, levels=(_core.Level.from_lengths(lengths), *entries.levels[1:]))
    if column.vocabulary is not None:
        return _pick(replace(column, values=np.append(column.values, -1)), ids)
    flat = column.values
    values = np.concatenate([flat, np.zeros((1, *flat.shape[1:]), flat.dtype)])[ids]
    return replace(column, values=_without_nulls(values, mask, place, nulls))


def _sequence_of(level: _core.Level, i: int) -> int:
    return int(np.searchsorted(level.bounds, i, "right"))


def _lists(part: Part, begin: int, end: int, place: Place, nulls: Nulls) -> dict[str, Column]:
    child = Part._make(part.children[0])
    offsets = part.buffers[1]
    width = _LISTS[part.format]
    try:
        level, first = _core.level_from_arrow(offsets, width, part.offset + begin, end - begin, child.length)
    except ValueError as error:
        raise name_place(error, place.name) from None
    missing = _missing(part, begin, end, place, nulls)
    inner = place.map_rows(partial(_sequence_of, level))
    columns = _read(child, first, first + level.total, inner, nulls)
    return {key: _nest(level, column, missing) for key, column in columns.items()}


def _views(part: Part, begin: int, end: int, place: Place, nulls: Nulls) -> dict[str, Column]:
    """Lists that lie anywhere, may share what they hold, and are gathered."""
    child = Part._make(part.children[0])
    dtype = _VIEWS[part.format]
    rows = slice(part.offset + begin, part.offset + end)
    starts, sizes = (_as(buffer, dtype)[rows].astype(np.int64) for buffer in part.buffers[1:])
    missing = _missing(part, begin, end, place, nulls)
    if missing is not None:
        starts[missing], sizes[missing] = 0, 0
    wrong = (starts < 0) | (sizes < 0) | (starts > child.length - sizes)
    if wrong.any():
        i = int(wrong.argmax())
        text = f"a list of {sizes[i]} from {starts[i]} leaves the {child.length} values"
        raise row_error(place.name, text, place.row_of(i))
    level = _core.Level.from_lengths(sizes)
    # Only what a list holds counts: a null outside of a slice is nobody's.
    first = int(starts.min(where=sizes > 0, initial=child.length))
    last = int((starts + sizes).max(where=sizes > 0, initial=first))
    starts = starts - first
    at = np.repeat(starts - level.offsets[:-1], sizes) + np.arange(level.total)
    inner = place.map_rows(lambda i: int(np.argmax((starts <= i) & (i < starts + sizes))))
    columns = _read(child, first, last, inner, nulls)
    return {key: _nest(level, _pick(column, at), None) for key, column in columns.items()}


def _rows(part: Part, begin: int, end: int, place: Place, nulls: Nulls) -> dict[str, Column]:
    size, count = int(part.format[3:]), end - begin
    mask = part.nulls(begin, end)
    if mask is not None:
        own = nulls.for_key(place.name)
        why = own.why if own.policy == "refuse" else "nothing stands for a list of fixed size"
        raise row_error(place.name, "null", place.row_of(int(mask.argmax())), advice=why)
    inner = place.map_rows(lambda i: i // size)
    first = (part.offset + begin) * size
    columns = _read(Part._make(part.children[0]), first, first + count * size, inner, nulls)
    out = {}
    for key, column in columns.items():
        if column.levels:
            level = _core.Level.from_lengths(np.full(count, size))
            out[key] = replace(column, levels=(level, *column.levels))
        else:
            out[key] = replace(column, values=column.values.reshape(count, size, *column.values.shape[1:]))
    return out


def _fields(part: Part, begin: int, end: int, place: Place, nulls: Nulls) -> dict[str, Column]:
    mask = part.nulls(begin, end)
    if mask is not None and nulls.for_key(place.name).policy == "refuse":
        raise row_error(place.name, "null", place.row_of(int(mask.argmax())), advice=nulls.why)
    out: dict[str, Column] = {}
    for child in part.parts():
        name = f"{place.name}{FIELD}{child.name}" if place.name else child.name
        inner = Place(name, place.row_of)
        columns = _read(_hide(child, mask, part.offset + begin, part.offset + end), part.offset + begin,
                        part.offset + end, inner, nulls)  # fmt: skip
        for key, column in columns.items():
            if key in out:
                raise value_error(place.name, f"two of its fields have the name {key!r}")
            out[key] = column
    return out


def _hide(child: Part, mask: NDArray[np.bool_] | None, begin: int, end: int) -> Part:
    """A field whose values are null where those of the struct are."""
    if mask is None:
        return child
    own = child.nulls(begin, end)
    valid = np.zeros(child.offset + child.length, bool)
    valid[child.offset + begin : child.offset + end] = ~mask if own is None else ~(mask | own)
    bits = np.packbits(valid, bitorder="little")
    return child._replace(buffers=(bits, *child.buffers[1:]), null_count=-1)


def _missing(part: Part, begin: int, end: int, place: Place, nulls: Nulls) -> NDArray[np.bool_] | None:
    """Where lists are null, which are empty then."""
    mask = part.nulls(begin, end)
    own = nulls.for_key(place.name)
    if mask is not None and own.policy == "refuse":
        raise row_error(place.name, "null", place.row_of(int(mask.argmax())), advice=own.why)
    return mask


def _nest(level: _core.Level, column: Column, missing: NDArray[np.bool_] | None) -> Column:
    """The column below a level, without what lies under sequences that are null."""
    if missing is None or not level.lengths[missing].any():
        return replace(column, levels=(level, *column.levels))
    values, levels = _core.gather(column.values, (level, *column.levels), np.flatnonzero(~missing))
    lengths = np.where(missing, 0, level.lengths)
    return replace(column, values=values, levels=(_core.Level.from_lengths(lengths), *levels[1:]))


def _pick(column: Column, at: NDArray[np.int64]) -> Column:
    if not column.levels:
        return replace(column, values=column.values[at])
    values, levels = _core.gather(column.values, column.levels, at)
    return replace(column, values=values, levels=levels)


def _as(buffer: NDArray[np.uint8] | None, dtype: str) -> np.ndarray:
    return np.empty(0, dtype) if buffer is None else buffer.view(dtype)


def _leaf(part: Part, begin: int, end: int, place: Place, nulls: Nulls) -> Column:
    mask = part.nulls(begin, end)
    if part.format == "n" and end > begin:
        mask = np.ones(end - begin, bool)
    is_text = part.format in TEXTS
    if mask is not None and nulls.policy == "refuse" and not (is_text and nulls.word is not None):
        raise row_error(place.name, "null", place.row_of(int(mask.argmax())), advice=nulls.why)
    if is_text:
        return words_of(part, begin, end, place, nulls)
    rows = slice(part.offset + begin, part.offset + end)
    zone = None
    values: np.ndarray
    if part.format == "n":
        values = np.zeros(end - begin)
    elif part.format == "b":
        bits = part.buffers[1]
        values = np.empty(0, bool) if bits is None else bits_of(bits, rows.start, rows.stop)
    elif part.format in BYTES:
        values = bytes_of(part, begin, end, place)
    elif part.format.startswith("w:"):
        width = int(part.format[2:])
        values = _as(part.buffers[1], f"V{width}")[rows] if width else np.zeros(end - begin, "V0")
    elif part.format.startswith("d:"):
        _, scale, bit_count = [*map(int, part.format[2:].split(",")), 128][:3]
        values = numbers_of_decimals(words_of_decimals(part.buffers[1], bit_count)[rows], scale, mask, place)
    elif part.format in _NUMBERS:
        values = _as(part.buffers[1], _NUMBERS[part.format])[rows]
        if part.format in _WIDER:
            values = values.astype(np.int64).view(_WIDER[part.format])
    else:
        values = _as(part.buffers[1], _STAMPS[part.format[:3]])[rows]
        zone = part.format[4:] or None
    if mask is not None:
        values = _without_nulls(values, mask, place, nulls)
    return Column(np.require(values, requirements="A"), zone=zone)


def _without_nulls(values: np.ndarray, mask: NDArray[np.bool_], place: Place, nulls: Nulls) -> np.ndarray:
    if nulls.policy == "fill":
        filler = _filler(nulls.value, values.dtype, place)
    elif values.dtype.kind in "SV":
        raise value_error(place.name, "nothing stands for null bytes", "pass nulls='fill' and bytes")
    elif values.dtype.kind in "mM":
        filler = np.array("NaT", values.dtype)
    else:
        if values.dtype.kind in "iub":
            values = _float_values(values, mask, place)
        filler = np.array(np.nan, values.dtype)
    if values.ndim == 1 and values.dtype.kind not in "SV":
        return _core.fill_masked(values, mask, filler.reshape(1))
    values = values.copy()
    values[mask] = filler
    return values


def _float_values(values: np.ndarray, mask: NDArray[np.bool_], place: Place) -> np.ndarray:
    floats = values.astype(np.float64)
    limit = 2**53 - 1
    if values.dtype.itemsize < 8 or (floats.max(initial=0) <= limit and floats.min(initial=0) >= -limit):
        return floats
    large = (np.abs(floats) > limit) & ~mask
    if large.any():
        i = int(large.argmax())
        why = " is beyond the integers of float64, which nulls='nan' makes of a column with nulls"
        raise row_error(
            place.name, str(values[i]), place.row_of(i), why, "pass nulls='fill'", "beyond_floats"
        )
    return floats


def _filler(value: Any, dtype: np.dtype, place: Place) -> np.ndarray:
    """The value in the dtype of a column, nothing lost but the last digits of a float."""
    fits = False
    try:
        if dtype.kind in "mM":
            result = np.array(value, dtype)
            fits = result.ndim == 0 and not isinstance(value, float)
        else:
            filler = np.array(value)
            with np.errstate(all="ignore"):
                result = filler.astype(dtype)
            kinds = {"b": "b", "S": "S", "V": "S"}.get(dtype.kind, "iuf")
            is_number = filler.ndim == 0 and filler.dtype.kind in kinds
            is_exact = dtype.kind != "f" and bool(result == filler)
            is_close = dtype.kind == "f" and bool(np.isfinite(result) or not np.isfinite(filler))
            fits = is_number and (is_exact or is_close)
    except (TypeError, ValueError, OverflowError):
        pass
    if not fits:
        raise value_error("fill", f"{short(value)} does not fit {dtype}, the type of {place.name}")
    return result


def _join(columns: Sequence[Column], name: str) -> Column:
    """Chunks of a column, one after the other."""
    depth = len(columns[0].levels)
    if columns[0].vocabulary is not None:
        columns = join_words(columns)
    elif len({column.values.dtype for column in columns}) > 1 and columns[0].values.dtype.kind != "S":
        # nulls made floats of some
        place = Place(name, lambda i: i)
        columns = [
            replace(column, values=_float_values(column.values, np.zeros(1, bool), place))
            for column in columns
        ]
    levels = tuple(_core.concat_levels([column.levels[d] for column in columns]) for d in range(depth))
    values = np.concatenate([column.values for column in columns])
    return replace(columns[0], values=values, levels=levels)


def one_column(columns: Mapping[str, Column], argument: str) -> Column:
    """The only column; a table is refused."""
    if len(columns) != 1:
        names = ", ".join(columns)
        raise value_error(argument, f"a struct holds {len(columns)} columns ({names})", "pass one of them")
    return next(iter(columns.values()))
