"""Describe a Data without values: its dims, its dtype and more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from varlen._core import Dim
from varlen.arguments import as_bool, as_dtype
from varlen.dims import base
from varlen.dims.axes import describe
from varlen.dims.make import check_dim, check_dims
from varlen.errors import value_error

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from varlen.dims.data import Data

WORDS = (
    "dims", "dtype", "sparse_dim", "feature_dim", "time_dim", "available_for_inference", "default",
)  # fmt: skip


@dataclass(frozen=True, init=False, eq=False)
class DataSpec:
    """The description of a Data without values: dims, dtype and facts.

    Parameters
    ----------
    dims
        The dims. Those without lengths get them from each batch.
    dtype
        The dtype of NumPy or torch that values are cast to; None keeps theirs.
    sparse_dim
        The Dim that integers are positions of.
    feature_dim, time_dim
        The dims that "F" and "T" stand for.
    available_for_inference
        False for data that only training has, such as labels.
    default
        The value for samples that lack the key; None raises an error for them.

    Raises
    ------
    TypeError
        Something in `dims` is not a Dim, or `dtype` is not a dtype.
    ValueError
        A dim appears twice, or the time or feature dim is not among the dims.

    Notes
    -----
    As RETURNN's `Tensor` without a raw tensor.

    Examples
    --------
    >>> words = vl.Dim("words", 1000)
    >>> vl.dims.DataSpec([vl.dims.batch_dim, vl.Dim("target")], sparse_dim=words)
    DataSpec([batch, target], sparse_dim=words(1000))
    """

    dims: tuple[Dim, ...]
    dtype: str | None
    sparse_dim: Dim | None
    feature_dim: Dim | None
    time_dim: Dim | None
    available_for_inference: bool
    default: Any

    def __init__(
        self,
        dims: Sequence[Dim],
        dtype: DTypeLike | None = None,
        *,
        sparse_dim: Dim | None = None,
        feature_dim: Dim | None = None,
        time_dim: Dim | None = None,
        available_for_inference: bool = True,
        default: object = None,
    ) -> None:
        dim_list = tuple(check_dims(dims))
        for k, dim in enumerate(dim_list):
            if dim in dim_list[:k]:
                raise value_error("dims", f"'{dim.name}' is twice in {describe(dim_list)}")
        for word, role in (("time_dim", time_dim), ("feature_dim", feature_dim)):
            if role is not None and role not in dim_list:
                raise value_error(word, f"{role!r} is not among {describe(dim_list)}")
        if sparse_dim is not None:
            check_dim(sparse_dim, "sparse_dim")
        facts = (sparse_dim, feature_dim, time_dim, as_bool(available_for_inference, WORDS[5]), default)
        name = None if dtype is None else dtype_name(dtype)
        for word, value in zip(WORDS, (dim_list, name, *facts), strict=True):
            object.__setattr__(self, word, value)

    @property
    def facts(self) -> dict[str, Any]:
        """The facts besides dims and dtype, as arguments of `Data`."""
        return {word: getattr(self, word) for word in WORDS[2:6]}

    def __repr__(self) -> str:
        parts = [describe(self.dims)]
        if self.dtype is not None:
            parts.append(str(self.dtype))
        for word in ("sparse_dim", "feature_dim", "time_dim"):
            dim = getattr(self, word)
            if dim is not None:
                parts.append(f"{word}={describe([dim])[1:-1]}")
        if not self.available_for_inference:
            parts.append("available_for_inference=False")
        if self.default is not None:
            parts.append(f"default={self.default!r}")
        return f"DataSpec({', '.join(parts)})"


def spec_of(data: Data[Any]) -> DataSpec:
    """The spec of a Data; its dims keep their lengths."""
    facts = data._facts
    roles = {word: getattr(facts, word) for word in WORDS[2:6]}
    return DataSpec(data.dims, dtype_name(data._values.dtype), **roles)


def dtype_name(dtype: object) -> str:
    """The name of a dtype in NumPy and torch."""
    is_torch = str(dtype).startswith("torch.")
    return base.dtype_name(dtype if is_torch else as_dtype(dtype, "dtype"))
