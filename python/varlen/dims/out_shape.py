"""The expected dims of a result."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from varlen._core import Dim
from varlen.arguments import as_bool, is_listed
from varlen.dims.axes import describe, quote_names
from varlen.dims.errors import OutShapeError
from varlen.errors import error_of, instance_error

if TYPE_CHECKING:
    from typing import TypeAlias

    from varlen.dims.data import Data

    ExpectedDim: TypeAlias = "Dim | OptionalDim | ImplicitDim"
    OutShape: TypeAlias = Collection[ExpectedDim]


@dataclass(frozen=True)
class OptionalDim:
    """A dim that a result may lack, for `Data.verify_out_shape`.

    Parameters
    ----------
    dim
        The Dim.

    Examples
    --------
    >>> two, three = vl.Dim("two", 2), vl.Dim("three", 3)
    >>> x = vl.Data(np.zeros(2), [two])
    >>> x.verify_out_shape({two, vl.dims.OptionalDim(three)}) is x
    True
    """

    dim: Dim


@dataclass(frozen=True)
class ImplicitDim:
    """A dim that a result has without an axis: the classes of integers, or a dim that lengths depend on.

    Parameters
    ----------
    dim
        The Dim.

    Examples
    --------
    >>> two, words = vl.Dim("two", 2), vl.Dim("words", 100)
    >>> x = vl.Data(np.array([4, 99]), [two], sparse_dim=words)
    >>> x.verify_out_shape({two, vl.dims.ImplicitDim(words)}) is x
    True
    """

    dim: Dim


class ImplicitSparseDim(ImplicitDim):
    """The classes of integers, as an `ImplicitDim`.

    Parameters
    ----------
    dim
        The Dim.

    Examples
    --------
    >>> vl.dims.ImplicitSparseDim(vl.Dim("words", 100)).dim.size
    100
    """


class ImplicitDynSizeDim(ImplicitDim):
    """A dim that lengths depend on, as an `ImplicitDim`.

    Parameters
    ----------
    dim
        The Dim.

    Examples
    --------
    >>> vl.dims.ImplicitDynSizeDim(vl.dims.batch_dim).dim.name
    'batch'
    """


def implicit_dims(data: Data[Any]) -> list[Dim]:
    """The dims that belong to a Data without being axes."""
    result = [] if data.sparse_dim is None else [data.sparse_dim]
    for dim in data._shape.dims:
        result += [
            outer_dim for outer_dim in dim.over if data._shape.find(outer_dim) < 0 and outer_dim not in result
        ]
    return result


def verify(data: Data[Any], expected: OutShape, allow_missing_implicit: bool) -> None:
    """Refuse a Data of other dims than these."""
    if isinstance(expected, (str, Dim)) or not is_listed(expected):
        raise instance_error("out_shape", "a set of dims", expected)
    actual, implicit = list(data.dims), implicit_dims(data)
    listing: list[Dim] = []
    wrong: list[str] = []
    for item in expected:
        dim = item if isinstance(item, Dim) else getattr(item, "dim", None)
        if not isinstance(dim, Dim):
            raise instance_error("out_shape", "dims", item)
        if dim in listing and not isinstance(item, OptionalDim) and actual.count(dim) <= listing.count(dim):
            wrong.append(f"{quote_names([dim])} is given twice")
        listing.append(dim)
        if isinstance(item, ImplicitDim):
            if dim not in implicit:
                wrong.append(
                    f"{quote_names([dim])} is {'an axis' if dim in actual else 'missing'}, not implicit"
                )
        elif not isinstance(item, OptionalDim) and dim not in actual and dim not in implicit:
            wrong.append(f"{quote_names([dim])} is missing")
    wrong += [f"{quote_names([dim])} is not expected" for dim in dict.fromkeys(actual) if dim not in listing]
    if not as_bool(allow_missing_implicit, "allow_missing_implicit"):
        wrong += [
            f"{quote_names([dim])} is implicit, and not expected" for dim in implicit if dim not in listing
        ]
    if wrong:
        texts = [_text(item) for item in expected]
        raise error_of(
            OutShapeError,
            "out_shape",
            f"expected {{{', '.join(texts)}}}, got {describe(actual)}: {'; '.join(wrong)}",
        )


def _text(item: ExpectedDim) -> str:
    if isinstance(item, Dim):
        return describe([item])[1:-1]
    return f"{type(item).__name__}({describe([item.dim])[1:-1]})"


def check_out_shape(data: Data[Any], out_shape: OutShape | None) -> Data[Any]:
    """What an op gives back: the Data, if it has the dims that its caller expects."""
    if out_shape is not None:
        verify(data, out_shape, True)
    return data
