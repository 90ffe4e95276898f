"""`Tensor` and `Template`, with RETURNN's constructor and members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from varlen._methods import adopt_methods
from varlen.arguments import as_bool
from varlen.dims import Data, DataSpec, Dim, num_elements_of_shape
from varlen.dims.axes import describe
from varlen.dims.base import Annotations, DataBase, dtype_name
from varlen.dims.out_shape import verify
from varlen.dims.records.spec import WORDS, spec_of
from varlen.returnn.faces import Axes

if TYPE_CHECKING:
    import torch
    from numpy.typing import DTypeLike, NDArray

    from varlen.dims.axes import Axis
    from varlen.dims.out_shape import OutShape
    from varlen.dims.vocabulary import Vocabulary


@adopt_methods
class Tensor(Axes, Data[Any]):
    """A `varlen.Data` with RETURNN's constructor: it takes a padded rectangle and drops the padding.

    Operators and the functions of `varlen.returnn.frontend` return Tensors. Methods of Data return Data,
    which these functions take as well.

    Parameters
    ----------
    name
        The name in messages.
    dims
        A Dim for each axis of `raw_tensor`, in its order. Those whose lengths differ are bound to them.
    dtype
        The dtype to cast values to.
    sparse_dim
        The Dim that integers index.
    feature_dim
        The dim that "F" stands for.
    raw_tensor
        An array or a tensor with an axis for each dim. Without it the result is a `Template`.
    available_for_inference
        False for data that only training has.

    Raises
    ------
    ValueError, TypeError, LengthMismatchError
        As in `Data.from_padded`.

    Notes
    -----
    Like RETURNN's `Tensor`.

    Examples
    --------
    >>> from varlen.returnn import SpatialDim, Tensor, batch_dim
    >>> time = SpatialDim("time", [2, 1])
    >>> x = Tensor("x", [batch_dim, time], "float32", raw_tensor=np.array([[3, 1], [4, 9]]))
    >>> x, x.values
    (Tensor('x', [batch(2), time(1 to 2)], float32), array([3., 1., 4.], dtype=float32))
    >>> x.raw_tensor.tolist(), Tensor("x", [batch_dim, time], "float32")
    ([[3.0, 1.0], [4.0, 0.0]], Template('x', [batch, time(1 to 2)], float32))
    >>> x.dtype == "float32", x.get_axis_from_description("T")
    (True, 1)
    """

    __slots__ = ()

    def __new__(
        cls,
        name: str | None = None,
        dims: Sequence[Dim] = (),
        dtype: DTypeLike | None = None,
        *,
        sparse_dim: Dim | None = None,
        feature_dim: Dim | None = None,
        raw_tensor: Any = None,
        available_for_inference: bool = True,
    ) -> Any:
        facts: dict[str, Any] = {
            "sparse_dim": sparse_dim,
            "feature_dim": feature_dim,
            "available_for_inference": available_for_inference,
        }
        if raw_tensor is None:
            return Template(name, dims, dtype, **facts)
        return as_tensor(Data.from_padded(raw_tensor, dims, name=name, dtype=dtype, **facts))

    def __init__(self, *_: Any, **__: Any) -> None:
        """Do nothing: `__new__` makes the whole Tensor."""

    @property
    def dtype(self) -> str:  # type: ignore[override]
        """The name of the dtype, such as "float32". `values.dtype` is the dtype object."""
        return dtype_name(self._values.dtype)

    def _reorder(self, dims: Sequence[Dim]) -> Tensor:
        return as_tensor(self.transpose(dims))

    @property
    def raw_tensor(self) -> NDArray[Any] | torch.Tensor:
        """A rectangle with one axis per dim and zeros as padding: a copy, while RETURNN shares its own."""
        block: NDArray[Any] | torch.Tensor = self.to_padded()
        return block

    @property
    def placeholder(self) -> NDArray[Any] | torch.Tensor:
        """`raw_tensor` under its older name."""
        return self.raw_tensor

    def get_sequence_lengths(self) -> NDArray[Any] | None:
        """The lengths of the time dim.

        Returns
        -------
        numpy.ndarray
            int64, in the shape of the dims that the time depends on.

        Examples
        --------
        >>> from varlen.returnn import SpatialDim, Tensor, batch_dim
        >>> time = SpatialDim("time", [2, 1])
        >>> Tensor("x", [batch_dim, time], raw_tensor=np.zeros((2, 2))).get_sequence_lengths()
        array([2, 1])
        """
        return self.lengths("T")

    def num_elements(self) -> int:
        """The number of valid positions.

        Returns
        -------
        int
            Without padding.

        Examples
        --------
        >>> from varlen.returnn import SpatialDim, Tensor, batch_dim
        >>> time = SpatialDim("time", [2, 1])
        >>> Tensor("x", [batch_dim, time], raw_tensor=np.zeros((2, 2))).num_elements()
        3
        """
        return int(num_elements_of_shape(self.dims))

    def verify_out_shape(
        self,
        out_shape: OutShape,
        allow_missing_implicit_dims: bool = True,
        *,
        allow_missing_implicit: bool = True,
    ) -> Tensor:
        """Check the dims, like `Data.verify_out_shape`.

        Parameters
        ----------
        out_shape
            A set or a list of dims.
        allow_missing_implicit_dims, allow_missing_implicit
            Whether implicit dims may be missing. They may not if either argument is False. RETURNN has only
            the first, False by default.

        Returns
        -------
        Tensor
            This tensor.

        Raises
        ------
        OutShapeError
            A dim is missing or unexpected; the error shows both shapes.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> two = FeatureDim("two", 2)
        >>> x = Tensor("x", [two], raw_tensor=np.zeros(2))
        >>> x.verify_out_shape({two}, allow_missing_implicit_dims=True) is x
        True
        """
        with_implicit = as_bool(allow_missing_implicit_dims, "allow_missing_implicit_dims")
        verify(self, out_shape, with_implicit and allow_missing_implicit)
        return self

    def copy(self, name: str | None = None, **facts: Any) -> Tensor:
        """As `Data.copy`.

        Parameters
        ----------
        name
            The name in messages; unchanged by default.
        **facts
            `sparse_dim`, `feature_dim`, `time_dim`, `beam`, `available_for_inference`.

        Returns
        -------
        Tensor
            A Tensor that shares the values.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> Tensor("x", [FeatureDim("two", 2)], raw_tensor=np.zeros(2)).copy("y")
        Tensor('y', [two(2)], float64)
        """
        return as_tensor(super().copy(name=name, **facts))

    def copy_template(self, name: str | None = None, *, dtype: DTypeLike | None = None) -> Template:
        """Copy the template: everything but the values.

        Parameters
        ----------
        name
            The name in messages; unchanged by default.
        dtype
            The new dtype; unchanged by default.

        Returns
        -------
        Template
            A Template with the same dims.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> Tensor("x", [FeatureDim("two", 2)], raw_tensor=np.zeros(2)).copy_template(dtype="int32")
        Template('x', [two(2)], int32)
        """
        spec = spec_of(self)
        out_dtype = spec.dtype if dtype is None else dtype
        return Template(self.name if name is None else name, spec.dims, out_dtype, **spec.facts)

    def copy_masked(self, mask_value: Any, *, dims: Axis | Sequence[Axis] | None = None) -> Tensor:
        """Mask the padding, like `Data.masked`. Packed storage has none.

        Parameters
        ----------
        mask_value
            The value for padding, in padded storage.
        dims
            Dims of the tensor.

        Returns
        -------
        Tensor
            This tensor if it is packed. RETURNN puts the value into the raw tensor, which has zeros here.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> x = Tensor("x", [FeatureDim("two", 2)], raw_tensor=np.zeros(2))
        >>> x.copy_masked(-1) is x
        True
        """
        return as_tensor(self.masked(mask_value, dims))

    def copy_compatible_to_dims(
        self, dims: Sequence[Dim], *, add_dims: bool = True, unbroadcast: bool = False
    ) -> Tensor:
        """As `Data.compatible_to`.

        Parameters
        ----------
        dims
            All of its dims, and possibly more.
        add_dims
            Accepted for compatibility: no axis is added.
        unbroadcast
            Whether to repeat values over the dims that it lacks.

        Returns
        -------
        Tensor
            A Tensor with its dims in that order. RETURNN adds axes of size 1 for those that it lacks.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> two, three = FeatureDim("two", 2), FeatureDim("three", 3)
        >>> Tensor("x", [three], raw_tensor=np.zeros(3)).copy_compatible_to_dims([two, three])
        Tensor('x', [three(3)], float64)
        """
        return as_tensor(self.compatible_to(dims, expand=as_bool(unbroadcast, "unbroadcast")))


class _Frame(DataBase[Any]):
    """A template for code that finds dims: dims and their roles, without values."""

    __slots__ = ()


class _Dims(NamedTuple):
    """Dims of which not all have lengths, as `Shape` tells them."""

    dims: tuple[Dim, ...]

    @property
    def rank(self) -> int:
        return len(self.dims)

    def find(self, dim: Dim) -> int:
        return self.dims.index(dim) if dim in self.dims else -1


@adopt_methods
class Template(Axes, DataSpec):
    """A `Tensor` without values, like RETURNN's without a raw tensor.

    Parameters
    ----------
    name
        The name in messages.
    dims
        Its dims. Those without lengths get them from each batch.
    dtype
        The dtype to cast values to.
    **facts
        `sparse_dim`, `feature_dim`, `time_dim`, `available_for_inference`, `default`, as in `DataSpec`.

    Raises
    ------
    TypeError, ValueError
        As in `DataSpec`.

    Notes
    -----
    Like RETURNN's `Tensor`.

    Examples
    --------
    >>> from varlen.returnn import SpatialDim, Tensor, batch_dim
    >>> x = Tensor("x", [batch_dim, SpatialDim("time")], "float32")
    >>> x, x.get_axis_from_description("T"), x.raw_tensor is None
    (Template('x', [batch, time], float32), 1, True)
    """

    name: str | None

    def __init__(
        self, name: str | None = None, dims: Sequence[Dim] = (), dtype: DTypeLike | None = None, **facts: Any
    ) -> None:
        super().__init__(dims, dtype, **facts)
        object.__setattr__(self, "name", name)

    @property
    def _frame(self) -> Any:
        frame: Any = object.__new__(_Frame)
        frame._values, frame._shape, frame._order = None, _Dims(self.dims), None
        facts: dict[str, Any] = self.facts
        frame._facts, frame._dense = Annotations(name=self.name, **facts), None
        return frame

    def _reorder(self, dims: Sequence[Dim]) -> Template:
        return self._with_dims(tuple(dims), False, feature_dim=self.feature_dim, time_dim=self.time_dim)

    def _with_dims(self, dims: tuple[Dim, ...], is_kept: bool, **changes: Any) -> Template:
        """The same over other dims; what "T" and "F" stand for stays in its places, or is not said."""
        facts: dict[str, Any] = self.facts
        for word in ("time_dim", "feature_dim"):
            dim = facts[word]
            if dim is not None:
                facts[word] = dims[self.dims.index(dim)] if is_kept else dim if dim in dims else None
        return Template(self.name, dims, self.dtype, **{**facts, "default": self.default, **changes})

    @property
    def raw_tensor(self) -> None:
        """Always None: a template has no values."""

    @property
    def placeholder(self) -> None:
        """As `raw_tensor`."""

    @property
    def dims_set(self) -> frozenset[Dim]:
        """The dims, as a set."""
        return frozenset(self.dims)

    @property
    def ndim(self) -> int:
        """The number of dims, including the batch."""
        return len(self.dims)

    @property
    def sparse(self) -> bool:
        """Whether the integers index a Dim."""
        return self.sparse_dim is not None

    @property
    def vocab(self) -> Vocabulary | None:
        """The Vocabulary of `sparse_dim`, or None."""
        return None if self.sparse_dim is None else self.sparse_dim.vocab

    def copy_template(self, name: str | None = None, *, dtype: DTypeLike | None = None) -> Template:
        """Copy under another name, or with another dtype.

        Parameters
        ----------
        name
            The name in messages; unchanged by default.
        dtype
            The new dtype; unchanged by default.

        Returns
        -------
        Template
            A Template with the same dims.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> Tensor("x", [FeatureDim("two", 2)]).copy_template("y", dtype="int32")
        Template('y', [two(2)], int32)
        """
        out_dtype: Any = self.dtype if dtype is None else dtype
        out_name = self.name if name is None else name
        return Template(out_name, self.dims, out_dtype, **self.facts, default=self.default)

    def copy(self, name: str | None = None) -> Template:
        """As `copy_template`.

        Parameters
        ----------
        name
            The name in messages; unchanged by default.

        Returns
        -------
        Template
            A Template with the same dims.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> Tensor("x", [FeatureDim("two", 2)], "int32").copy()
        Template('x', [two(2)], int32)
        """
        return self.copy_template(name)

    def verify_out_shape(self, out_shape: OutShape, allow_missing_implicit_dims: bool = True) -> Template:
        """As in `Tensor`.

        Parameters
        ----------
        out_shape
            A set or a list of dims.
        allow_missing_implicit_dims
            Whether implicit dims may be missing.

        Returns
        -------
        Template
            This tensor.

        Raises
        ------
        OutShapeError
            A dim is missing or unexpected; the error shows both shapes.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> two = FeatureDim("two", 2)
        >>> Tensor("x", [two], "int32").verify_out_shape({two})
        Template('x', [two(2)], int32)
        """
        with_implicit = as_bool(allow_missing_implicit_dims, "allow_missing_implicit_dims")
        verify(self._frame, out_shape, with_implicit)
        return self

    def __repr__(self) -> str:
        parts = [] if self.name is None else [repr(self.name)]
        parts += [describe(self.dims), *([] if self.dtype is None else [self.dtype])]
        parts += [f"{word}={describe([dim])[1:-1]}" for word in WORDS[2:5] if (dim := getattr(self, word))]
        return f"Template({', '.join(parts)})"


def as_tensor(data: Data[Any]) -> Tensor:
    """A Data as a Tensor; values are shared."""
    if isinstance(data, Tensor):
        return data
    tensor: Tensor = object.__new__(Tensor)
    tensor._values, tensor._shape, tensor._order = data._values, data._shape, data._order
    tensor._facts, tensor._dense = data._facts, data._dense
    return tensor


def _giving_tensors(name: str) -> Any:
    operation = getattr(Data, name)

    def method(self: Tensor, other: Any) -> Any:
        result = operation(self, other)
        return as_tensor(result) if isinstance(result, Data) else result

    method.__name__, method.__qualname__ = name, f"Tensor.{name}"
    return method


for _word in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
    for _name in (f"__{_word}__", f"__r{_word}__"):
        setattr(Tensor, _name, _giving_tensors(_name))
for _word in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Tensor, f"__{_word}__", _giving_tensors(f"__{_word}__"))
setattr(Tensor, "__hash__", object.__hash__)  # noqa: B010, which goes where == is set
