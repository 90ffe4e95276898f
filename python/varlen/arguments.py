"""Arguments as the values that functions need, with the same errors in every function."""

from __future__ import annotations

import operator
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from reprlib import repr as short
from typing import Any, NoReturn, TypeGuard

import numpy as np

from varlen import _core, tracing
from varlen.errors import (
    error_of,
    index_error,
    instance_error,
    name_argument,
    name_item,
    overflow_error,
    type_error,
    value_error,
)

SMALLEST, LARGEST = -(2**63), 2**63 - 1
TENSOR = "new_empty"  # what tensors have, and neither arrays nor containers of ours
MOST_THREADS = 256  # as many as the core has at most


def option_error(name: object, rest: str = "", advice: str = "") -> TypeError:
    """An error about a keyword that a call does not have."""
    return type_error("", f"there is no option {name!r}{rest}", advice)


class NoValue:
    """The default of an argument for which None is a value; `help` shows it like this."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<no value>"


def as_int(value: object, argument: str, minimum: int = 0, maximum: int | None = LARGEST) -> int:
    """An int from `minimum` to `maximum`, of any type of integers but bool."""
    if isinstance(value, (bool, np.bool_)):
        raise type_error(argument, f"expected an int, got {value!r}")
    try:
        number = operator.index(value if type(value) is int else number_in(value))
    except (TypeError, ValueError):
        raise type_error(argument, f"expected an int, got {short(value)}") from None
    if number < minimum:
        raise value_error(argument, f"expected at least {minimum}, got {number}", number=number)
    if maximum is not None and number > maximum:
        raise overflow_error(argument, f"{number} does not fit 63 bits", number=number)
    return number


def as_few(value: Any, argument: str, maximum: int, minimum: int = 0) -> int:
    """An int that counts items which cost memory or a thread each."""
    number = as_int(value, argument, minimum)
    if number > maximum:
        raise value_error(argument, f"expected at most {maximum}, got {number}", number=number)
    return number


def as_bool(value: object, argument: str) -> bool:
    """True or False, as Python sees the value."""
    try:
        return bool(value)
    except (TypeError, ValueError, RuntimeError):
        raise instance_error(argument, "True or False", value) from None


def as_shuffle(value: object) -> bool:
    """True or False; a number is refused, since its caller means a seed."""
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if is_number and value not in (0, 1):
        raise type_error("shuffle", f"expected True or False, got {value}", "use seed= to choose the order")
    return as_bool(value, "shuffle")


def one_of(
    value: Any, argument: str, choices: Sequence[str | None], aliases: Mapping[str, str] | None = None
) -> None:
    """Refuse a value that is not one of some words; for an old one, name its successor in `aliases`."""
    is_word = value is None or isinstance(value, str)  # an array equals each word element by element
    if not is_word or value not in choices:
        *first, last = map(repr, choices)
        is_old = is_word and value in (aliases or {})
        advice = f"{value!r} is now called {(aliases or {})[value]!r}" if is_old else ""
        raise value_error(argument, f"expected {', '.join(first)} or {last}, got {short(value)}", advice)


def check_key(key: Any, argument: str) -> None:
    """Refuse a key of a mapping that is no string."""
    if not isinstance(key, str):
        raise type_error(argument, f"keys are strings, got {key!r}")


def check_hashable(key: object, argument: str) -> None:
    """Refuse what cannot be a key of a mapping."""
    if not isinstance(key, Hashable):
        raise type_error(argument, f"keys are strings, got {key!r}")


def as_fraction(value: Any, argument: str) -> float:
    """A float from 0 to 1."""
    number = as_float(value, argument)
    if not 0 <= number <= 1:
        raise value_error(argument, f"expected a number from 0 to 1, got {number}", number=number)
    return number


def as_float(value: Any, argument: str) -> float:
    """A float from any single number."""
    if type(value) is float:
        return value
    refuse_gradient(value, argument)
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except OverflowError:
        raise overflow_error(argument, f"{value} does not fit float64") from None
    except (TypeError, ValueError, RuntimeError):
        pass
    raise instance_error(argument, "a number", value)


def rng_of(seed: Any, argument: str) -> np.random.Generator:
    """A NumPy Generator: the given one, or one with a seed."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError, OverflowError) as error:
        reason = f"expected a Generator of NumPy, a seed or None, got {short(seed)}"
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise error_of(kind, argument, reason) from None


def refuse_gradient(value: object, argument: str) -> None:
    """Refuse a tensor whose gradient would be lost."""
    if getattr(value, "requires_grad", False):
        raise gradient_error(argument)


def one_number_error(argument: str, shape: Iterable[int], expected: str = "one number") -> ValueError:
    """An error about several numbers in place of one."""
    return value_error(argument, f"expected {expected}, got shape {tuple(shape)}")


def scalar_error(argument: str, row: int | None = None) -> ValueError:
    """An error about a number in place of rows."""
    return value_error(argument, "expected at least one dimension, got a scalar", row=row)


def gradient_error(argument: str) -> ValueError:
    """An error about a tensor whose gradient ends here."""
    return value_error(
        argument, "a tensor that requires gradients, which would be lost here", "pass tensor.detach()"
    )


def number_in(value: Any) -> Any:
    """The number in a tensor of one, if it can be read; everything else as it is."""
    if isinstance(value, int) or not hasattr(value, TENSOR):
        return as_ints(value)[()] if hasattr(value, "__cuda_array_interface__") else value
    return value.item() if tracing.is_tracing() else tracing.numbers_of(value).item()


def axis_of(axis: object, ndim: int, argument: str = "axis") -> int:
    """An axis, counted from the outermost."""
    index = as_int(axis, argument, SMALLEST)
    if not -ndim <= index < ndim:
        raise value_error(argument, f"{index} is out of range for {ndim} axes", number=index)
    return index % ndim


def fits_memory(count: int, argument: str) -> int:
    """The count of items of 8 bytes whose size fits 63 bits."""
    if count >= 2**60 - 2:
        raise overflow_error(argument, f"{count} do not fit into memory", number=count)
    return count


def ints_per_level(value: Any, argument: str, depth: int, minimum: int = 0) -> list[int | None]:
    """A number for each of `depth` levels: one for the outermost, or a sequence; None if none is given."""
    items = list(value) if isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) == 1 else [value]
    if len(items) > depth:
        raise value_error(argument, f"{len(items)} numbers for {depth} levels")
    numbers = [None if item is None else as_int(item, argument, minimum) for item in items]
    return [*numbers, *[None] * (depth - len(numbers))]


def as_dtype(value: object, argument: str, objects: bool = False, stand_in: bool = False) -> np.dtype:
    """The given dtype: NumPy's, torch's, or the name of one in the package ml_dtypes.

    stand_in: bfloat16 may be the core's own dtype, for tensors if ml_dtypes is not installed.
    """
    try:
        # NumPy reads None as float64.
        dtype: np.dtype | None = None if value is None else np.dtype(_numpy_name(value))
    except (TypeError, ValueError, KeyError, SyntaxError, OverflowError):
        dtype = _small_float(_numpy_name(value), argument, stand_in)
    if dtype is None or (
        isinstance(value, (dict, list)) and not value
    ):  # to NumPy a structure without fields
        raise type_error(argument, f"expected a NumPy dtype, got {short(value)}")
    if dtype.hasobject and not objects:
        raise type_error(
            argument, f"{dtype} holds Python objects; expected numbers, times or fixed-width text"
        )
    return dtype


def _numpy_name(value: object) -> Any:
    # torch names its dtypes as NumPy and ml_dtypes do.
    is_torch = type(value).__module__ == "torch" and type(value).__name__ == "dtype"
    return str(value).removeprefix("torch.") if is_torch else value


def _small_float(name: object, argument: str, stand_in: bool) -> np.dtype | None:
    """A dtype that NumPy has once ml_dtypes is imported."""
    if not isinstance(name, str) or not name.startswith(("bfloat16", "float8_")):
        return None
    try:
        import ml_dtypes
    except ImportError:
        if stand_in and name == "bfloat16":
            return _core.bfloat16
        raise type_error(argument, f"{name} needs the package ml_dtypes, which is not installed") from None
    kind = getattr(ml_dtypes, name, None)
    return None if kind is None else np.dtype(kind)


def dtypes_of(schema: Mapping[str, Any] | None) -> dict[str, np.dtype]:
    """The dtypes of a schema, none for None; dtypes of Python objects mean strings."""
    dtypes = (
        {} if schema is None else as_mapping(getattr(schema, "dtypes", schema), "schema", "keys to dtypes")
    )
    for key in dtypes:
        check_key(key, "schema")
    return {key: as_dtype(dtype, f"schema: key {key!r}", objects=True) for key, dtype in dtypes.items()}


def check_schema_keys(schema: Mapping[str, Any], keys: Iterable[str]) -> None:
    """Refuse the dtype of a key that does not exist."""
    key_set = set(keys)
    for key in schema:
        if key not in key_set:
            raise value_error("schema", f"{key!r} is not among the keys {sorted(key_set)}")


def as_mapping(value: object, argument: str, what: str) -> Mapping[Any, Any]:
    """The given mapping."""
    if not isinstance(value, (dict, Mapping)):  # the class that answers at once comes first
        raise instance_error(argument, f"a dict from {what}", value)
    return value


def as_path(path: object, argument: str = "path", what: str = "a path") -> str:
    """The given path, as text."""
    try:
        name = os.fsdecode(path)  # type: ignore[arg-type]
    except TypeError:
        raise instance_error(argument, what, path) from None
    if not name or "\0" in name:
        raise value_error(argument, f"expected {what}, got {'a null byte in ' if name else ''}{path!r}")
    return name


def as_list(value: Any, argument: str, what: str) -> list[Any]:
    """The items of the argument."""
    has_items = isinstance(value, (list, tuple)) or is_listed(value)
    if isinstance(value, (str, bytes)) or not has_items:
        raise instance_error(argument, f"a list of {what}", value)
    return list(value)


def vocabularies_of(vocabularies: Mapping[str, Sequence[str]] | None) -> dict[str, list[str]]:
    """The words of each key."""
    tables = {} if vocabularies is None else as_mapping(vocabularies, "vocabularies", "keys to words")
    return {key: words_of(key, words) for key, words in tables.items()}


def words_of(key: str, words: object) -> list[str]:
    """A vocabulary: strings, none of them twice."""
    check_key(key, "vocabularies")
    result = as_list(words, f"vocabularies of {key!r}", "words")
    for i, word in enumerate(result):
        if not isinstance(word, str):
            raise type_error(
                "vocabularies", f"word {i} of {key!r}: expected a string, got {type(word).__name__}"
            )
    if len(set(result)) != len(result):
        duplicate = next(word for i, word in enumerate(result) if word in result[:i])
        raise value_error("vocabularies", f"key {key!r} has the word {duplicate!r} twice")
    return result


def word_as_id(value: object, words: Sequence[str] | None, dtype: np.dtype, argument: str) -> Any:
    """The id of a word, if values are ids of words; anything else as it is."""
    if not isinstance(value, str) or dtype.kind in "SUmM":
        return value
    if words is None:
        raise value_error(argument, f"'{value}' does not fit {dtype} without a vocabulary", "pass a number")
    if value not in words:
        raise value_error(
            argument,
            f"'{value}' is not one of the {len(words)} words of the vocabulary; "
            "pass one of them, or a number",
        )
    return words.index(value)


#: The word of a vocabulary whose id is padding.
PADDING = "[PAD]"


def new_words(key: str, padding_id: bool = True, row_ids: str | None = None) -> list[str]:
    """The words with which a new vocabulary begins: the word of padding, but none for row ids."""
    return [PADDING] if padding_id and key != row_ids else []


def padding_id(words: Sequence[str] | None) -> int | None:
    """The id of padding in a vocabulary; None if it has none, or if there is no vocabulary."""
    return words.index(PADDING) if words is not None and PADDING in words else None


def as_ids(ids: object, argument: str) -> np.ndarray[Any, np.dtype]:
    """Ids of rows, numbers or strings, as an array."""
    array = as_array(refuse_mask(ids, argument), argument)
    if array.dtype.kind == "U" and not isinstance(ids, (np.ndarray, np.generic)):
        items = np.array(ids, object)
        if any(str(item).endswith("\0") for item in items.reshape(-1).tolist()):
            array = items  # NumPy's text leaves nulls at its end out
    if array.dtype.hasobject:
        for i, item in enumerate(array.reshape(-1).tolist()):
            if not isinstance(item, (int, str)):
                raise type_error(
                    argument, f"expected integers or strings, position {i} holds {type(item).__name__}", row=i
                )
    return array


def refuse_mask(value: object, argument: str) -> Any:
    """The argument itself, unless it is a mask."""
    if isinstance(value, np.ma.MaskedArray):
        raise type_error(
            argument,
            "expected an array without a mask, got a masked array",
            "call filled() or compressed() first",
        )
    if isinstance(value, (list, tuple)):
        _core.refuse_cycles(value, argument)
    return value


def is_listed(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether something has items; arrays and tensors without axes have none."""
    return hasattr(value, "__iter__") and getattr(value, "ndim", 1) > 0


def check_output(out: Any, *inputs: Any, argument: str = "out") -> None:
    """Refuse an output of any library that has gaps, or lies in the memory of arrays that the call reads."""
    if tracing.is_tracing() or _core.is_apart(out, inputs):
        return
    memory = _memory_of(refuse_mask(out, argument))
    if memory is None:  # what is no array is refused by its backend
        return
    if not memory.flags.c_contiguous:
        raise value_error(argument, "is not C-contiguous")
    for array in inputs:
        several = isinstance(array, (list, tuple)) and array and hasattr(array[0], "shape")
        for read in map(_memory_of, array if several else [array]):
            if read is not None and np.shares_memory(memory, read):
                raise value_error(argument, "shares memory with an input", "pass other memory")


def _memory_of(x: Any) -> np.ndarray[Any, np.dtype] | None:
    """The memory of an array, a tensor or the values of a container, as an array that nobody reads."""
    if isinstance(x, _core.RaggedBase):
        x = x._values
    if isinstance(x, np.ndarray):
        return x
    if hasattr(x, "data_ptr"):
        try:
            address, width = x.data_ptr(), x.element_size()
        except RuntimeError:  # a tensor that stands for others has no memory
            return None
        shape, strides = tuple(x.shape), tuple([stride * width for stride in x.stride()])
        place = {"data": (address, False), "shape": shape, "strides": strides, "typestr": f"|V{width}"}
    else:
        place = getattr(x, "__cuda_array_interface__", None) or {"data": (0, False)}
    return np.asarray(_Place(place)) if place["data"][0] else None


class _Place:
    """An address on any device, for NumPy to reckon with."""

    def __init__(self, place: Mapping[str, Any]) -> None:
        self.__array_interface__ = {**place, "version": 3}


def as_ints(x: object) -> Any:
    """Lengths, offsets or indices for the core: they come to the host, everything else stays as it is."""
    if type(x) is np.ndarray or type(x) is list:
        return x
    if hasattr(x, TENSOR):
        return tracing.numbers_of(x)
    if hasattr(x, "__cuda_array_interface__"):  # CuPy's get, Numba's copy_to_host
        way = getattr(x, "get", None) or getattr(x, "copy_to_host", None)
        return x if way is None else way()
    return x


def as_array(value: object, argument: str, expected: str = "an array") -> np.ndarray[Any, np.dtype]:
    """An array on the host of integers, ids or flags that were given in any form."""
    numbers = as_ints(value)
    try:
        return np.asarray(numbers)
    except ValueError:
        raise value_error(argument, f"expected {expected}, got lists of different lengths") from None


# What the sizes of a rectangle are called in the core.
_SIZES = dict.fromkeys(("values", "arrays", "round_to", "pad_to_multiple"), "pad_to_multiple_of")


def over_limit(error: Exception) -> Exception:
    """An error about a result that is too large, as an error about `max_bytes`."""
    is_over = isinstance(error, ValueError) and getattr(error, "code", "") == "padded_size"
    return name_item(error, "max_bytes") if is_over else error


def overflow_of_multiple(error: OverflowError) -> Exception:
    """A core error about a size beyond 63 bits, as an error about the caller's option."""
    return name_argument(error, **_SIZES)


def is_zero(fill: object) -> bool:
    """Whether a fill is the plain 0, which stands for zero bytes of any dtype."""
    return type(fill) is int and fill == 0


def row_of_ints(value: object) -> np.ndarray[Any, np.dtype] | None:
    """Integers in one row, from a list of integers, an array or a tensor; None for anything else."""
    if type(value) is list:
        return _core.row_of_ints(value)
    numbers = value if type(value) is np.ndarray else as_ints(value)
    plain = type(numbers) is np.ndarray and numbers.ndim == 1 and numbers.dtype.kind == "i"
    return numbers if plain else None


def index_array(key: object) -> np.ndarray[Any, np.dtype]:
    """A list, array or tensor of integers or bools as an array of one dimension."""
    if type(key) is list and (numbers := _core.row_of_ints(key)) is not None:
        return numbers
    if isinstance(key, (str, bytes, dict, set)) or key is None:
        raise_index(key)
    value = refuse_mask(as_ints(key), "index")
    try:
        index = np.asarray(value)
    except ValueError:
        raise_index(key)
    if index.size == 0 and not hasattr(key, "dtype"):
        index = index.astype(np.int64)
    if index.dtype.kind not in "iub" or index.ndim == 0:
        raise_index(key, f" of {index.dtype}" if index.ndim else "")
    if index.ndim != 1:
        raise index_error("index", f"expected one dimension, got shape {index.shape}")
    return index


def check_step(key: slice) -> None:
    """Refuse a slice whose step is zero, as the core does."""
    if key.step is not None and as_int(key.step, "", SMALLEST) == 0:
        raise value_error("", "slice step cannot be zero", number=0)


def raise_index(key: object, suffix: str = "") -> NoReturn:
    """Refuse a key that picks no sequences."""
    raise index_error(
        "",
        "sequences are chosen by ints, slices, ..., lists or arrays of integers or bools, "
        f"not by {type(key).__name__}{suffix}",
    )
