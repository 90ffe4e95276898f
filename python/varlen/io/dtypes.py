"""Dtypes of a file: the format's names for NumPy's, common dtypes, and casts that lose nothing."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import numpy as np

from varlen import _core
from varlen.errors import overflow_error, row_error, type_error, value_error
from varlen.io import small_floats

__all__ = [
    "TAG_ORDER",
    "cast_exactly",
    "common_dtype",
    "dtype_of",
    "promote",
    "smallest_integer",
    "tag_of",
    "widen",
]

_PLAIN = {
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
    "C64": "<c8",
    "F32": "<f4",
    "U32": "<u4",
    "I32": "<i4",
    "F16": "<f2",
    "U16": "<u2",
    "I16": "<i2",
    "I8": "|i1",
    "U8": "|u1",
    "BOOL": "|b1",
}

# Dtypes of the ml_dtypes package; `small_floats.py` has what stands in for them where it is not installed.
_EXTRA = {
    "BF16": "bfloat16",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
}

# The order of tensors in a file: widest first, so that each lies at a multiple of its width.
_ORDER = ["U64", "I64", "F64", "C64", "F32", "U32", "I32", "BF16", "F16", "U16", "I16"]
_ORDER += ["F8_E5M2FNUZ", "F8_E4M3FNUZ", "F8_E8M0", "F8_E4M3", "F8_E5M2", "I8", "U8", "BOOL"]
TAG_ORDER = {tag: rank for rank, tag in enumerate(_ORDER)}

_TAGS = {np.dtype(code): tag for tag, code in _PLAIN.items()}
_EXTRA_TAGS = {name: tag for tag, name in _EXTRA.items()}


@functools.cache
def dtype_of(tag: str) -> np.dtype:
    """The NumPy dtype of the memory of a file's dtype; a stand-in if NumPy has none.

    >>> dtype_of("F32")
    dtype('float32')
    """
    if tag in _PLAIN:
        return np.dtype(_PLAIN[tag])
    try:
        import ml_dtypes
    except ImportError:
        return small_floats.stand_in(_EXTRA[tag])
    kind = getattr(ml_dtypes, _EXTRA[tag], None)
    return small_floats.stand_in(_EXTRA[tag]) if kind is None else np.dtype(kind)


def face_dtype(tag: str) -> np.dtype:
    """The NumPy dtype of the arrays that a file's dtype gives: float32 if NumPy has none.

    >>> face_dtype("F16")
    dtype('float16')
    """
    return np.dtype(np.float32) if has_stand_in(tag) else dtype_of(tag)


def kind_of(dtype: np.dtype) -> str:
    """NumPy's letter for the kind of a dtype's numbers; "f" for floats that NumPy itself lacks, too.

    >>> kind_of(np.dtype("u2")), kind_of(dtype_of("BF16"))
    ('u', 'f')
    """
    return "f" if dtype.kind == "V" and _small_name(dtype) in _EXTRA_TAGS else dtype.kind


def dtype_named(name: str) -> np.dtype:
    """The dtype of a name; that of a float which NumPy lacks is as `face_dtype` has it.

    >>> dtype_named("float16")
    dtype('float16')
    """
    return face_dtype(_EXTRA_TAGS[name]) if name in _EXTRA_TAGS else np.dtype(name)


def _small_name(dtype: np.dtype) -> str:
    return small_floats.name_of(dtype) or dtype.name


def tag_of(dtype: np.dtype, name: str = "array") -> str:
    """The file's name for a dtype; TypeError names the tensor if there is none.

    >>> tag_of(np.dtype(">i4"))
    'I32'
    """
    tag = _TAGS.get(dtype.newbyteorder("<")) or _EXTRA_TAGS.get(_small_name(dtype))
    if tag is None:
        raise type_error(name, f"a file cannot hold dtype {dtype}")
    return tag


def has_stand_in(tag: str) -> bool:
    """True if NumPy lacks the dtype, and its numbers are read as float32."""
    return stand_in_name(tag) is not None


def stand_in_name(tag: str) -> str | None:
    """The name in ml_dtypes and torch of a dtype that NumPy lacks; None for other dtypes.

    >>> stand_in_name("U16") is None
    True
    """
    return small_floats.name_of(dtype_of(tag))


def common_dtype(one: np.dtype, other: np.dtype) -> np.dtype | None:
    """The dtype to which NumPy promotes two dtypes of numbers; None if there is none.

    Times go only with times of the same unit: in another unit the same integers are other times.

    >>> common_dtype(np.dtype("u1"), np.dtype("i2")), common_dtype(np.dtype("u1"), np.dtype("M8[s]"))
    (dtype('int16'), None)
    """
    if one == other:
        return one
    if not (_is_number(one) and _is_number(other)):
        return None
    try:
        return np.result_type(one, other)
    except TypeError:  # bfloat16 and float16
        return None


def shared_dtype(name: str, one: np.dtype, other: np.dtype) -> np.dtype:
    """The dtype that holds values of both, for times that of the finer unit; TypeError if there is none.

    >>> shared_dtype("t", np.dtype("M8[s]"), np.dtype("M8[ns]"))
    dtype('<M8[ns]')
    """
    if one.kind == other.kind or not {one.kind, other.kind} & set("mM"):
        try:
            return np.result_type(one, other)
        except TypeError:  # bfloat16 and float16
            pass
    raise type_error(name, f"no dtype holds both {one} and {other}")


def _is_number(dtype: np.dtype) -> bool:
    return (dtype.kind in "biuf" and dtype.itemsize <= 8) or dtype.name == "bfloat16"


def widen(
    joint: _core.Joint,
    dtypes: Mapping[str, np.dtype],
    rows: Sequence[int] | np.ndarray | None = None,
    source: str = "",
) -> _core.Joint:
    """The same rows with some keys converted to wider dtypes; keys that an index removed are skipped.

    rows: the numbers of the rows, for errors. source: their origin, in front of errors.
    """
    if dtypes:
        refuse_misfits(joint, dtypes, rows, source)
    for name, dim in zip(joint.names, joint.dims, strict=True) if dtypes else ():
        if name in dtypes and dim >= 0:
            values = joint.values(name)
            if small_floats.name_of(values.dtype) is not None:
                values = small_floats.as_float32(values)
            with np.errstate(invalid="ignore"):  # of NaNs that signal
                values = values.astype(dtypes[name], copy=False)
            joint = joint.with_column(name, dim, values, joint.meta)
    return joint


def small_keys(joint: _core.Joint) -> dict[str, np.dtype]:
    """float32 for each key of a dtype that NumPy lacks, as an argument for `widen`."""
    names = [name for name in joint.names if small_floats.name_of(joint.values(name).dtype) is not None]
    return dict.fromkeys(names, np.dtype(np.float32))


def refuse_misfits(
    joint: _core.Joint,
    dtypes: Mapping[str, np.dtype],
    rows: Sequence[int] | np.ndarray | None = None,
    source: str = "",
) -> None:
    """ValueError for a value that the dtype of its key cannot hold, as in `widen`."""
    for name, dim in zip(joint.names, joint.dims, strict=True):
        place = first_misfit(values := joint.values(name), dtypes[name]) if name in dtypes else None
        if place is None:
            continue
        row = joint_row(joint, dim, place[0])
        number = row if rows is None else rows[row]
        raise value_error(
            "",
            f"{source}{': ' if source else ''}key {name!r}: {values[place]} in row {number} does not fit "
            f"{dtypes[name]}, which the key has because of other parts",
            "give them one dtype",
            row=number,
        )


def joint_row(joint: _core.Joint, dim: int, place: int) -> int:
    """The row that a value of a key of `dim` lies in."""
    return row_of([joint.level(d) for d in range(1, dim + 1)], place)


def row_of(levels: Sequence[_core.Level], place: int) -> int:
    """The row that a value below these levels lies in.

    >>> row_of([_core.Level([1, 2])], 2)
    1
    """
    for level in levels[::-1]:
        place = int(np.searchsorted(level.bounds, place, side="right"))
    return place


def little_endian(array: np.ndarray) -> np.ndarray:
    """The array as C-contiguous little-endian memory; the array itself if it is that already."""
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    flat: np.ndarray = np.ascontiguousarray(array).reshape(array.shape)
    return flat


def as_kind_of(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """NaT in the place of NaN where times are expected and there is nothing else: None alone has no kind.

    >>> as_kind_of(np.array([np.nan]), np.dtype("M8[D]"))
    array(['NaT'], dtype='datetime64[D]')
    """
    if dtype.kind in "mM" and array.dtype.kind == "f" and array.size and np.isnan(array).all():
        return np.full(array.shape, "NaT", dtype)
    return array


def schema_hint(one: np.dtype, other: np.dtype) -> str:
    """Advice for a key of two dtypes; none where they are one.

    >>> schema_hint(np.dtype("f8"), np.dtype("M8[D]"))
    'give a schema, as None alone counts as a number'
    """
    if one == other:
        return ""
    has_null = "f" in (one.kind, other.kind) and {one.kind, other.kind} & set("mM")
    return "give a schema" + (", as None alone counts as a number" if has_null else "")


def cast_exactly(
    name: str,
    array: np.ndarray,
    dtype: np.dtype,
    is_explicit: bool = False,
    levels: Sequence[_core.Level] = (),
    who: str = "the schema",
) -> np.ndarray:
    """The array in another dtype; ValueError names a value that does not fit. Floats may be rounded.

    is_explicit: a caller asked for this dtype by name, so that integers may be rounded to its floats, too.
    levels: those above the values, for the row in the error. who: what says the dtype, for the error.

    >>> cast_exactly("code", np.array([1, 300]), np.dtype(np.uint8))
    Traceback (most recent call last):
    ValueError: code: 300 at row 1 does not fit uint8
    """
    if small_floats.name_of(array.dtype) is not None and array.dtype != dtype:
        array = small_floats.as_float32(array)
    array = as_kind_of(array, dtype)
    if array.size and not _is_of_kind(array.dtype, dtype):
        fault = f"dtype {array.dtype}, but {who} says {dtype}: {array.flat[0]}"
        raise row_error(name, fault, row_of(levels, 0), code="kind")
    place = first_misfit(array, dtype, is_explicit)
    if place is not None:
        raise row_error(name, str(array[place]), row_of(levels, place[0]), f" does not fit {dtype}")
    with np.errstate(all="ignore"):
        return array.astype(dtype, copy=False)


def _is_of_kind(own: np.dtype, dtype: np.dtype) -> bool:
    """Whether another dtype may hold values: a number is no time, a date no duration, a complex not real."""
    return own.kind == dtype.kind or not (own.kind in "mMc" or dtype.kind in "mM")


def first_misfit(array: np.ndarray, dtype: np.dtype, is_explicit: bool = False) -> tuple[int, ...] | None:
    """The place of the first value that another dtype cannot hold; floats may be rounded to it.

    >>> first_misfit(np.array([1, 2**53 + 1]), np.dtype("f8")), first_misfit(np.array([0.1]), np.dtype("f4"))
    ((1,), None)
    """
    own, floats = array.dtype, dtype.kind == "f" or dtype.kind not in "biufcmMUTSO"
    if own == dtype or array.size == 0 or own.names is not None:
        return None
    if own.kind in "iu" and (floats or dtype.kind == "c") and not is_explicit:
        bad = _find_rounded(array, dtype)
    elif own.kind in "mM" or not np.can_cast(own, dtype, "safe"):  # a finer unit ends sooner
        bad = _find_lost(array, dtype, floats)
    else:
        return None
    return tuple(np.argwhere(bad)[0].tolist()) if bad is not None and bad.any() else None


def _find_rounded(array: np.ndarray, dtype: np.dtype) -> np.ndarray | None:
    """A mask of the integers that floats would change; None if there are none."""
    misfit: np.ndarray
    width = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
    if width < 4:
        misfit = _as_float64(array, dtype) != array.astype(np.float64)
        wide = _find_rounded(array, np.dtype(np.float64))
        return misfit if wide is None else misfit | wide
    digits = {4: 24, 8: 53}.get(width, 64)
    if digits >= 8 * array.itemsize or -(2**digits) <= int(array.min()) <= int(array.max()) <= 2**digits:
        return None
    size = np.where(array < 0, -array, array).astype(np.uint64)  # that of the least integer is right, too
    lowest = np.maximum(size & (~size + np.uint64(1)), np.uint64(1))
    misfit = (size // lowest) >> np.uint64(digits) != 0
    return misfit


def _as_float64(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    with np.errstate(all="ignore"):
        return array.astype(dtype).astype(np.float64)


def _find_lost(array: np.ndarray, dtype: np.dtype, floats: bool) -> np.ndarray:
    with np.errstate(all="ignore"):
        misfit: np.ndarray
        if floats:
            misfit = np.isfinite(array) & ~np.isfinite(_as_float64(array, dtype))
            return misfit
        cast = array.astype(dtype)
        misfit = cast.astype(array.dtype) != array
        misfit = misfit & ~np.isnat(array) if dtype.kind in "mM" else misfit | ((cast < 0) != (array < 0))
        return misfit


def smallest_integer(low: int, high: int) -> np.dtype:
    """The smallest integer dtype for values from `low` (at most 0) to `high`; unsigned if possible.

    >>> smallest_integer(0, 300), smallest_integer(-1, 128)
    (dtype('uint16'), dtype('int16'))
    """
    for kind in "ui" if low >= 0 else "i":
        for width in (1, 2, 4, 8):
            info = np.iinfo(f"{kind}{width}")
            if info.min <= low and high <= info.max:
                return info.dtype
    raise overflow_error("", f"no integer dtype holds {low} to {high}")


def promote(name: str, a: np.dtype, b: np.dtype) -> np.dtype:
    """The dtype that holds the values of both; ValueError if no dtype holds them all.

    >>> promote("code", np.dtype(np.uint8), np.dtype(np.int8))
    dtype('int16')
    """
    if a == b:
        return a
    try:
        dtype = np.promote_types(a, b)
    except TypeError:
        dtype = np.dtype(object)
    lossy = dtype.kind == "f" and "f" not in (a.kind, b.kind)  # uint64 and a signed integer
    if lossy or dtype.kind not in "biufcV" or "b" in (a.kind, b.kind):
        raise value_error(name, f"no dtype holds both {a} and {b}")
    return dtype
