"""`Tensor`, as RETURNN makes and asks it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from varlen.dims import AmbiguousAxisError, Data, DataSpec, Dim, num_elements_of_shape
from varlen.dims.records.spec import spec_of

if TYPE_CHECKING:
    import torch
    from numpy.typing import DTypeLike, NDArray

    from varlen.dims.axes import Axis
    from varlen.dims.out_shape import OutShape


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
    (Tensor('x', [batch(2), time(1 to 2)], float32), array([3., 1., 4.], dtype=float32))
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

    def remaining_dims(self, remove: Dim | Sequence[Dim] | None = None) -> list[Dim]:
        """Its dims but some.

        Parameters
        ----------
        remove
            Dims that it has.

        Returns
        -------
        list of Dim
            The others, in their order.

        Raises
        ------
        IndexError
            It lacks one of them.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> two, three = FeatureDim("two", 2), FeatureDim("three", 3)
        >>> Tensor("x", [two, three], raw_tensor=np.zeros((2, 3))).remaining_dims(two) == [three]
        True
        """
        gone = [] if remove is None else self.axes(remove)
        return [dim for dim in self.dims if dim not in gone]

    def has_axis(self, axis: Axis) -> bool:
        """Whether it has a dim.

        Parameters
        ----------
        axis
            A Dim, or words for one.

        Returns
        -------
        bool
            Also where words fit several dims.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> x = Tensor("x", [FeatureDim("two", 2)], raw_tensor=np.zeros(2))
        >>> x.has_axis("two"), x.has_axis("B")
        (True, False)
        """
        try:
            return bool(self.axes(axis))
        except AmbiguousAxisError:
            return True
        except IndexError:
            return False

    def have_batch_axis(self) -> bool:
        """Whether it has a dim of the batch.

        Returns
        -------
        bool
            As `batch_dim` is not None.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> Tensor("x", [FeatureDim("two", 2)], raw_tensor=np.zeros(2)).have_batch_axis()
        False
        """
        return self.has_axis("B")

    def have_time_axis(self) -> bool:
        """Whether it has a dim whose lengths differ, or one that was named as time.

        Returns
        -------
        bool
            Also where there are several.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> Tensor("x", [FeatureDim("two", 2)], raw_tensor=np.zeros(2)).have_time_axis()
        False
        """
        return self.has_axis("T")

    def have_feature_axis(self) -> bool:
        """Whether it has a dim of fixed size, or one that was named as features.

        Returns
        -------
        bool
            Also where there are several.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> Tensor("x", [FeatureDim("two", 2)], raw_tensor=np.zeros(2)).have_feature_axis()
        True
        """
        return self.has_axis("F")

    def get_batch_dim_tag(self) -> Dim:
        """The dim of the batch.

        Returns
        -------
        Dim
            As `axis("B")`.

        Raises
        ------
        IndexError
            It has none.

        Examples
        --------
        >>> from varlen.returnn import Tensor, batch_dim
        >>> Tensor("x", [batch_dim], raw_tensor=np.zeros(2)).get_batch_dim_tag() == batch_dim
        True
        """
        return self.axis("B")

    def get_time_dim_tag(self) -> Dim:
        """The dim of the time.

        Returns
        -------
        Dim
            As `axis("T")`.

        Raises
        ------
        IndexError
            It has none.
        AmbiguousAxisError
            There are several, and none was named.

        Examples
        --------
        >>> from varlen.returnn import SpatialDim, Tensor, batch_dim
        >>> time = SpatialDim("time", [2, 1])
        >>> Tensor("x", [batch_dim, time], raw_tensor=np.zeros((2, 2))).get_time_dim_tag() == time
        True
        """
        return self.axis("T")

    def get_dim_tag_from_description(self, axis: Axis) -> Dim:
        """The dim that words mean.

        Parameters
        ----------
        axis
            As `Data.axis` takes it.

        Returns
        -------
        Dim
            With its lengths here.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> two = FeatureDim("two", 2)
        >>> Tensor("x", [two], raw_tensor=np.zeros(2)).get_dim_tag_from_description("F") == two
        True
        """
        return self.axis(axis)

    def num_elements(self) -> int:
        """How many valid positions it has.

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
        expected: OutShape,
        *,
        allow_missing_implicit: bool = True,
        allow_missing_implicit_dims: bool = True,
    ) -> Tensor:
        """As `Data.verify_out_shape`.

        Parameters
        ----------
        expected
            A set or a list of dims.
        allow_missing_implicit, allow_missing_implicit_dims
            Whether implicit dims need not be named: where one of the two is False they do. RETURNN has the
            second one, False by default.

        Returns
        -------
        Tensor
            Itself.

        Raises
        ------
        OutShapeError
            A dim is missing, or not expected; both shapes are in the text.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> two = FeatureDim("two", 2)
        >>> x = Tensor("x", [two], raw_tensor=np.zeros(2))
        >>> x.verify_out_shape({two}, allow_missing_implicit_dims=True) is x
        True
        """
        both = allow_missing_implicit and allow_missing_implicit_dims
        super().verify_out_shape(expected, allow_missing_implicit=both)
        return self

    def copy(self, name: str | None = None, **facts: Any) -> Tensor:
        """As `Data.copy`.

        Parameters
        ----------
        name
            What messages call it; the same as before by default.
        **facts
            `sparse_dim`, `feature_dim`, `time_dim`, `beam`, `available_for_inference`.

        Returns
        -------
        Tensor
            Of the same values, which are shared.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> Tensor("x", [FeatureDim("two", 2)], raw_tensor=np.zeros(2)).copy("y")
        Tensor('y', [two(2)], float64)
        """
        return as_tensor(super().copy(name=name, **facts))

    def copy_template(self, name: str | None = None, *, dtype: DTypeLike | None = None) -> DataSpec:
        """What it has beside its values.

        Parameters
        ----------
        name
            Taken for the sake of code that says it: a DataSpec has none.
        dtype
            Another dtype.

        Returns
        -------
        DataSpec
            Of the same dims.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> Tensor("x", [FeatureDim("two", 2)], raw_tensor=np.zeros(2)).copy_template(dtype="int32")
        DataSpec([two(2)], int32)
        """
        spec = spec_of(self)
        return spec if dtype is None else DataSpec(spec.dims, dtype, **spec.facts)

    def copy_masked(self, mask_value: Any = 0, dims: Axis | Sequence[Axis] | None = None) -> Tensor:
        """As `Data.masked`: what is packed has no padding.

        Parameters
        ----------
        mask_value
            What padding becomes, in padded storage.
        dims
            Dims that it has.

        Returns
        -------
        Tensor
            Itself where it is packed. RETURNN has the value in the raw tensor, which is made with zeros here.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor
        >>> x = Tensor("x", [FeatureDim("two", 2)], raw_tensor=np.zeros(2))
        >>> x.copy_masked(-1) is x
        True
        """
        return as_tensor(self.masked(mask_value, dims))

    def copy_as_batch_major(self) -> Tensor:
        """As `Data.batch_major`.

        Returns
        -------
        Tensor
            The batch first.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor, batch_dim
        >>> Tensor("x", [FeatureDim("two", 2), batch_dim], raw_tensor=np.zeros((2, 3))).copy_as_batch_major()
        Tensor('x', [batch(3), two(2)], float64)
        """
        return as_tensor(self.batch_major())

    def copy_as_time_major(self) -> Tensor:
        """As `Data.time_major`.

        Returns
        -------
        Tensor
            The time first, then the batch.

        Examples
        --------
        >>> from varlen.returnn import SpatialDim, Tensor, batch_dim
        >>> time = SpatialDim("time", [2, 1])
        >>> Tensor("x", [batch_dim, time], raw_tensor=np.zeros((2, 2))).copy_as_time_major()
        Tensor('x', [time(1 to 2), batch(2)], float64)
        """
        return as_tensor(self.time_major())

    def copy_with_feature_last(self) -> Tensor:
        """The features last, the rest as it is.

        Returns
        -------
        Tensor
            Of the same values; itself without features.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, Tensor, batch_dim
        >>> x = Tensor("x", [FeatureDim("two", 2), batch_dim], raw_tensor=np.zeros((2, 3)))
        >>> x.copy_with_feature_last()
        Tensor('x', [batch(3), two(2)], float64)
        """
        feature = self.feature_dim
        return self if feature is None else self.copy_transpose([*self.remaining_dims(feature), feature])

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
        Tensor('x', [three(3), two(2)], float64)
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
        Tensor('x', [three(3)], float64)
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
