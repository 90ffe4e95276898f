"""`Tensor`, as RETURNN makes and asks it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from varlen.dims import Data, DataSpec, Dim

if TYPE_CHECKING:
    import torch
    from numpy.typing import DTypeLike, NDArray


class Tensor(Data[Any]):
    """A `varlen.Data` that is made as RETURNN makes it: of a rectangle with padding, which is dropped.

    Operators give Tensors, functions of `varlen.returnn.frontend` too; methods of Data give Data, which these
    functions take as well.

    Parameters
    ----------
    name
        What messages call it.
    dims
        A Dim for each axis of `raw_tensor`, in its order. Those whose lengths differ are bound to them.
    dtype
        Values of another dtype are cast.
    sparse_dim
        The Dim that integers are positions of.
    feature_dim
        Which of the dims "F" stands for.
    raw_tensor
        An array or a tensor with an axis for each dim. Without it there is no Tensor, but a
        `varlen.dims.DataSpec`: RETURNN's template.
    available_for_inference
        False for what only training has.

    Raises
    ------
    ValueError, TypeError, LengthMismatchError
        As those of `Data.from_padded`.

    Notes
    -----
    As RETURNN's `Tensor`.

    Examples
    --------
    >>> from varlen.returnn import SpatialDim, Tensor, batch_dim
    >>> time = SpatialDim("time", [2, 1])
    >>> x = Tensor("x", [batch_dim, time], "float32", raw_tensor=np.array([[3, 1], [4, 9]]))
    >>> x, x.values
    (Data('x', [batch(2), time(1 to 2)], float32), array([3., 1., 4.], dtype=float32))
    >>> x.raw_tensor.tolist(), Tensor("x", [batch_dim, time], "float32")
    ([[3.0, 1.0], [4.0, 0.0]], DataSpec([batch, time(1 to 2)], float32))
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
            return DataSpec(dims, dtype, **facts)
        return as_tensor(Data.from_padded(raw_tensor, dims, name=name, dtype=dtype, **facts))

    def __init__(self, *_: Any, **__: Any) -> None:
        """All is done by then."""

    @property
    def raw_tensor(self) -> NDArray[Any] | torch.Tensor:
        """The rectangle with an axis for each dim, and zeros as padding. RETURNN gives its own, shared."""
        block: NDArray[Any] | torch.Tensor = self.to_padded()
        return block

    @property
    def dims_set(self) -> frozenset[Dim]:
        """Its dims without an order."""
        return frozenset(self._shape.dims)

    def get_sequence_lengths(self) -> NDArray[Any] | None:
        """The lengths of the time dim.

        Returns
        -------
        numpy.ndarray
            int64, in the shape of the dims that it is over.

        Examples
        --------
        >>> from varlen.returnn import SpatialDim, Tensor, batch_dim
        >>> time = SpatialDim("time", [2, 1])
        >>> Tensor("x", [batch_dim, time], raw_tensor=np.zeros((2, 2))).get_sequence_lengths()
        array([2, 1])
        """
        return self.lengths("T")

    def copy_transpose(self, perm: Sequence[Dim]) -> Tensor:
        """As `Data.transpose`.

        Parameters
        ----------
        perm
            All of its dims.

        Returns
        -------
        Tensor
            With dims in that order.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> two, three = FeatureDim("two", 2), FeatureDim("three", 3)
        >>> Tensor("x", [two, three], raw_tensor=np.zeros((2, 3))).copy_transpose([three, two])
        Data('x', [three(3), two(2)], float64)
        """
        return as_tensor(self.transpose(perm))

    def copy_compatible_to_dims(self, dims: Sequence[Dim]) -> Tensor:
        """As `Data.compatible_to`.

        Parameters
        ----------
        dims
            All of its dims, and more.

        Returns
        -------
        Tensor
            Its dims in that order. RETURNN adds axes of size 1 for those that it lacks.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> two, three = FeatureDim("two", 2), FeatureDim("three", 3)
        >>> Tensor("x", [three], raw_tensor=np.zeros(3)).copy_compatible_to_dims([two, three])
        Data('x', [three(3)], float64)
        """
        return as_tensor(self.compatible_to(dims))


def as_tensor(data: Data[Any]) -> Tensor:
    """A Data as a Tensor; values are shared.

    Examples
    --------
    >>> isinstance(as_tensor(Data(np.zeros(2), [Dim("two", 2)])), Tensor)
    True
    """
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

    method.__name__ = method.__qualname__ = name
    return method


for _word in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
    for _name in (f"__{_word}__", f"__r{_word}__"):
        setattr(Tensor, _name, _giving_tensors(_name))
for _word in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Tensor, f"__{_word}__", _giving_tensors(f"__{_word}__"))
setattr(Tensor, "__hash__", object.__hash__)  # noqa: B010, which goes where == is set
