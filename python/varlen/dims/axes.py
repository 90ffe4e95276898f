"""Find dims by a Dim, a name, or words such as "T" and "except_batch"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from varlen._core import Dim
from varlen.arguments import as_int, is_listed
from varlen.dims.base import is_data
from varlen.dims.errors import AmbiguousAxisError
from varlen.errors import (
    error_of,
    index_error,
    instance_error,
    name_place,
    type_error,
    value_error,
    with_fields,
)

if TYPE_CHECKING:
    from typing import TypeAlias

    from varlen.dims.data import Data

    Axis: TypeAlias = Dim | str


def describe(dims: Sequence[Dim]) -> str:
    """Dims as people write them: "[batch(3), time(0 to 2), feature(5)]"."""
    return f"[{', '.join([_describe(dim) for dim in dims])}]"


def about_operation(error: TypeError, verb: str, dims: Sequence[Dim]) -> Exception:
    """A kernel's error about X as one about a verb and the dims, which prefix any other error."""
    operation = f"{verb} of {describe(dims)}"
    if getattr(error, "argument", None) == "X":
        error = with_fields(error, argument="")
    return name_place(error, operation, TypeError)


def _describe(dim: Dim) -> str:
    name = dim.name or "?"
    if dim.is_static:
        return name if name == str(dim.size) else f"{name}({dim.size})"
    if not dim.is_defined or (level := dim.level) is None:
        return name
    if not level.is_on_host:
        return f"{name}(?)"
    shortest, longest = level.shortest, level.longest
    if not dim.over or (len(level) and shortest == longest):
        return f"{name}({longest})"
    return f"{name}({shortest} to {longest})"


def quote_names(dims: Sequence[Dim], word: str = "or") -> str:
    """The names of dims, for an error: "'time' or 'source'"."""
    names = [f"'{dim.name}'" for dim in dims]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def place(data: Data[Any], axis: Axis, argument: str = "axis") -> int:
    """The place of the one dim that an axis names."""
    if not is_data(data):
        raise instance_error("", "a Data", data)
    if type(axis) is Dim:
        index = data._shape.find(axis)
        if index < 0:
            namesake = any(dim.name == axis.name for dim in data._shape.dims)
            other = "; the one of that name is another dim (see Dim.declare_same_as)" if namesake else ""
            raise index_error(argument, f"'{axis.name}' is not among {describe(data.dims)}{other}")
        if data._shape.dims.count(axis) > 1:
            _refuse_equals(data, axis, argument)
        return index
    several = places(data, axis, argument)
    if len(several) != 1:
        if not several:
            raise index_error(argument, f"{axis!r} fits none of {describe(data.dims)}")
        _refuse_several(data, several, axis, argument)
    return several[0]


def place_into(data: Data[Any], dim: Dim) -> int:
    """The place of a dim that both operands of a product have; -1 if it is missing.

    A square matrix has it twice: the input has the greater priority, if the dim itself has none.
    """
    dims = data._shape.dims
    if dim.match_priority or dims.count(dim) < 2:
        return data._shape.find(dim)
    return max(range(len(dims)), key=lambda k: (dims[k] == dim, dims[k].match_priority))


def places(data: Data[Any], axes: Axis | Sequence[Axis], argument: str = "axis") -> tuple[int, ...]:
    """The places of the dims that axes name, each once."""
    if type(axes) is Dim:
        return (place(data, axes, argument),)
    if not is_data(data):
        raise instance_error("", "a Data", data)
    if isinstance(axes, str):
        return _word_places(data, axes, argument)
    if not is_listed(axes):
        raise type_error(
            argument, f"expected a Dim, its name, or several, got {axes!r}; axes have no numbers, only dims"
        )
    items: Any = axes
    indices: list[int] = []
    for item in items:
        for k in places(data, item, argument):
            if k in indices:
                raise value_error(argument, f"'{data._shape.dims[k].name}' is given twice")
            indices.append(k)
    return tuple(indices)


def every_place(data: Data[Any], order: Sequence[Axis], argument: str = "order") -> tuple[int, ...]:
    """The places of all dims, in the given order."""
    indices = places(data, order, argument)
    if len(indices) != data._shape.rank:
        missing = [dim for k, dim in enumerate(data._shape.dims) if k not in indices]
        raise value_error(argument, f"{quote_names(missing, 'and')} of {describe(data.dims)} is missing")
    return indices


def first(data: Data[Any], *words: str) -> tuple[int, ...]:
    """The places of all dims, with the named ones first."""
    front = [place(data, word) for word in words]
    return (*front, *[k for k in _in_order(data) if k not in front])


def one_or_none(data: Data[Any], word: str) -> Dim | None:
    """The dim that "B", "T" or "F" stands for, or None."""
    index = _letter_place(data, word, "axis")
    return None if index is None else data._shape.dims[index]


def _in_order(data: Data[Any]) -> Sequence[int]:
    return data._order or range(data._shape.rank)


def _refuse_equals(data: Data[Any], axis: Dim, argument: str) -> None:
    """Refuse a dim that appears twice with one priority, as after a declaration."""
    priorities = [dim.match_priority for dim in data._shape.dims if dim == axis]
    if len(set(priorities)) < len(priorities):
        raise error_of(
            AmbiguousAxisError,
            argument,
            f"'{axis.name}' is {len(priorities)} dims of {describe(data.dims)}, which were declared the same",
        )


def _refuse_several(data: Data[Any], several: Sequence[int], axis: object, argument: str) -> None:
    dims = [data._shape.dims[k] for k in several]
    if all(dim == dims[0] for dim in dims):
        priorities = " and ".join([str(dim.match_priority) for dim in dims])
        raise error_of(
            AmbiguousAxisError,
            argument,
            f"{axis!r} is {len(dims)} dims of {describe(data.dims)}, of match_priority {priorities}",
            "give the Dim, of the others as copy(match_priority=...)",
        )
    raise error_of(AmbiguousAxisError, argument, f"{axis!r} may be {quote_names(dims)}", "give the Dim")


def _letter_place(data: Data[Any], letter: str, argument: str) -> int | None:
    """The place that one letter stands for, or None."""
    facts, dims = data._facts, data._shape.dims
    dim = facts.time_dim if letter == "T" else facts.feature_dim if letter == "F" else None
    if dim is not None:
        return data._shape.find(dim)
    rest = [k for k in _in_order(data) if dims[k].kind != "batch"]
    if letter == "B":
        indices = [k for k in _in_order(data) if dims[k].kind == "batch"]
    elif letter == "T":
        dynamic = [k for k in rest if dims[k].is_dynamic]
        indices = [k for k in dynamic if dims[k].kind == "spatial"] or dynamic
    elif facts.sparse_dim is not None:
        return None  # numbers that stand for classes have no features
    else:
        static = [k for k in rest if dims[k].is_static]
        indices = [k for k in static if dims[k].kind == "feature"] or static
    if len(indices) > 1:
        _refuse_several(data, indices, letter, argument)
    return indices[0] if indices else None


def _word_places(data: Data[Any], words: str, argument: str) -> tuple[int, ...]:
    dims, order = data._shape.dims, _in_order(data)
    matches = [k for k in order if dims[k].name == words]
    if matches:
        if len(matches) > 1:
            _refuse_several(data, matches, words, argument)
        return (matches[0],)
    lower = words.strip().lower()
    if re.fullmatch(r"([btf]\??)+", lower):
        return _letter_places(data, words, argument)
    kind, colon, rest = lower.partition(":")
    if colon:
        return (_rule_place(data, kind, rest, words, argument),)
    is_batch = {k: dims[k].kind == "batch" for k in order}
    if lower in ("*", "all"):
        return tuple(order)
    if lower in ("batch", "time", "feature"):
        return _letter_places(data, lower[0].upper(), argument)
    if lower in ("dyn", "dynamic"):
        return tuple(k for k in order if not is_batch[k] and dims[k].is_dynamic)
    if lower == "static":
        return tuple(k for k in order if not is_batch[k] and dims[k].is_static)
    if lower == "except_batch":
        return tuple(k for k in order if not is_batch[k])
    if lower == "except_time":
        time = _letter_place(data, "T", argument)
        return tuple(k for k in order if not is_batch[k] and k != time)
    if lower == "spatial":
        feature = _letter_place(data, "F", argument)
        return tuple(k for k in order if not is_batch[k] and k != feature)
    if lower == "except_feature":
        feature = _letter_place(data, "F", argument)
        return tuple(k for k in order if k != feature)
    raise index_error(argument, f"{words!r} fits none of {describe(data.dims)}")


def _letter_places(data: Data[Any], words: str, argument: str) -> tuple[int, ...]:
    indices = []
    for letter, optional in re.findall(r"(\w)(\??)", words.upper()):
        k = _letter_place(data, letter, argument)
        if k is not None and k >= 0:
            if k in indices:
                raise value_error(argument, f"{words!r} has {letter} twice")
            indices.append(k)
        elif not optional:
            raise index_error(argument, f"{letter!r} fits none of {describe(data.dims)}")
    return tuple(indices)


def _rule_place(data: Data[Any], kind: str, rest: str, words: str, argument: str) -> int:
    """The one dim of "dim:8", "stag:enc", "stag-single:-1:enc" or "tag:x"."""
    dims, order = data._shape.dims, _in_order(data)
    if kind == "dim":
        if not rest.isdigit():
            raise value_error(argument, f"expected a size behind 'dim:', got {words!r}")
        matches = [k for k in order if dims[k].size == int(rest)]
    elif kind in ("stag", "stag-single", "tag", "batch", "spatial"):
        number, colon, text = rest.partition(":")
        text = text if kind == "stag-single" and colon else rest
        candidates = (
            order if kind == "tag" else [k for k in order if dims[k].kind not in ("batch", "feature")]
        )
        matches = [k for k in candidates if dims[k].name.lower() == text]
        matches = matches or [k for k in candidates if text in dims[k].name.lower()]
        if kind == "stag-single" and matches:
            i = as_int(int(number), argument, -len(matches), len(matches) - 1)
            matches = [matches[i]]
    else:
        raise index_error(argument, f"{words!r} fits none of {describe(data.dims)}")
    if len(matches) > 1:
        _refuse_several(data, matches, words, argument)
    if not matches:
        raise index_error(argument, f"{words!r} fits none of {describe(data.dims)}")
    return matches[0]
