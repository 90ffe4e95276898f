"""Values over dims."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from varlen._core import Dim
from varlen._hints import BLOCK, hint_names
from varlen._methods import adopt_methods
from varlen.arguments import as_bool, check_key
from varlen.backends import backend_of
from varlen.backends.values import ArrayT
from varlen.dims import axes as _axes
from varlen.dims import export, make, out_shape, show
from varlen.dims.base import (
    NO_FACTS,
    Annotations,
    DataBase,
    _restore,
    given_by_operations,
    positions_or_none,
)
from varlen.dims.faces import DeclaredMethods
from varlen.dims.operators import for_every_dtype
from varlen.dims.ops.combine import operands
from varlen.dims.records import joint_data
from varlen.errors import error_of, naming, type_error, value_error
from varlen.interop.arrow_nodes import Leaf, Node
from varlen.interop.frames import ColumnMethods
from varlen.types.refusals import NoArray

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from varlen.dims.axes import Axis
    from varlen.dims.beam import Beam
    from varlen.dims.out_shape import OutShape

_Operation = Callable[[Any, Any], Any]
_new = object.__new__


def _binary(name: str, plain: _Operation, swap: bool = False) -> Any:
    function = for_every_dtype(plain)

    def method(self: Data[Any], other: Any) -> Any:
        if (
            type(other) is Data
            and other._shape is self._shape
            and self._facts is other._facts is NO_FACTS
            and type(self._values) is type(other._values)
        ):
            data: Data[Any] = _new(Data)
            data._values = function(self._values, other._values)
            data._shape, data._order, data._facts, data._dense = self._shape, self._order, NO_FACTS, None
            return data
        if swap:
            return operands(function, other, self, name)
        return operands(function, self, other, name)

    method.__name__ = method.__qualname__ = f"__{'r' if swap else ''}{name}__"
    return method


@adopt_methods
@given_by_operations
class Data(DeclaredMethods[ArrayT], NoArray, ColumnMethods, DataBase[ArrayT]):
    """An array or a tensor whose axes have names and lengths, stored without padding.

    Valid positions lie end to end as rows, in row-major order of the dims. Dims of a fixed size after the
    last ragged one are axes of a row. A dim comes after the dims that its lengths depend on. Operations match
    axes by dim, never by position: operands line up, and one that lacks a dim is repeated over it. Nothing
    needs a mask, because there is no padding.

    Parameters
    ----------
    values
        An array or a tensor of the valid values, which is shared, not copied. Its shape is (number of valid
        positions of all dims up to the last ragged one, sizes of the later dims); without ragged dims (size,
        size, ...).
    dims
        A Dim for each axis, in the order in which the values lie. Dims without lengths are bound: the batch
        by the lengths of other dims, any other to the size of its axis.
    name
        The name in messages.
    dtype
        Values of another dtype are cast.
    sparse_dim
        The Dim that integers are positions of: classes, words of a vocabulary.
    feature_dim, time_dim
        The dims that "F" and "T" stand for, if there could be several.
    beam
        The `Beam` that values belong to.
    available_for_inference
        False for data that only training has, such as labels.

    Raises
    ------
    ValueError
        The shape of the array differs from the dims', a dim appears twice or has no lengths, or an integer is
        not a position of sparse_dim.
    LengthMismatchError
        Two lengths differ that must be equal.
    TypeError
        Something in `dims` is not a Dim, or values with a sparse_dim are not integers.

    Notes
    -----
    The named tensor of RETURNN's `Tensor` (formerly `Data`).

    Examples
    --------
    >>> time, feature = vl.Dim("time", lengths=[2, 0, 1]), vl.Dim("feature", 2)
    >>> x = vl.Data(np.arange(6.0).reshape(3, 2), [vl.dims.batch_dim, time, feature])
    >>> x
    Data([batch(3), time(0 to 2), feature(2)], float64)
    >>> x.to_list()
    [[[0.0, 1.0], [2.0, 3.0]], [], [[4.0, 5.0]]]
    >>> bias = vl.Data(np.array([10.0, 20.0]), [feature])
    >>> (x + bias).sum(time).to_list()
    [[22.0, 44.0], [0.0, 0.0], [14.0, 25.0]]
    """

    # Operators of NumPy arrays on the left leave it to ours.
    __array_ufunc__ = None
    __array_priority__ = 1000

    _instead = (
        ".values, the valid ones end to end, or its .to_padded(), dims.where for where, for other functions "
        "of one number .apply(function)"
    )

    def __init__(
        self,
        values: Any,
        dims: Sequence[Dim],
        *,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        sparse_dim: Dim | None = None,
        feature_dim: Dim | None = None,
        time_dim: Dim | None = None,
        beam: Beam | None = None,
        available_for_inference: bool = True,
    ) -> None:
        values = make.as_values(values)
        if dtype is not None:
            values = backend_of(values).cast(values, dtype, "dtype")
        self._shape = make.bound_dims(values, dims)
        self._values, self._order, self._dense = values, None, None
        self._facts = NO_FACTS
        can_infer = as_bool(available_for_inference, "available_for_inference")
        facts = Annotations(name, sparse_dim, feature_dim, time_dim, beam, can_infer)
        if any(fact is not other for fact, other in zip(facts, NO_FACTS, strict=True)):
            self._facts = make.check_facts(self, facts)

    @classmethod
    def _from_saved(cls, values: Any, dims: Any, order: Any, facts: Any) -> Data[Any]:
        if order is not None and sorted(order) != list(range(len(dims))):
            raise value_error("order", f"expected each of {len(dims)} dims once, got {order}")
        data = _restore(make.as_values(values), make.bound_dims(values, dims), order, facts, None, cls)
        make.check_facts(data, data._facts)
        return data

    # Made of something else. Each is told in make.py.

    @classmethod
    def from_joint(cls, joint: Any, key: str, dims: Sequence[Dim] | None = None) -> Data[Any]:
        """Make Data from one key of a joint dict; `DataDict.from_joint` takes all keys, with shared dims.

        Parameters
        ----------
        joint
            A `JointNestedRaggedTensorDict`.
        key
            One of its keys.
        dims
            A Dim for the rows, and one for each level.

        Returns
        -------
        Data
            The same values over dims.

        Raises
        ------
        KeyError
            There is no such key.

        Examples
        --------
        >>> J = vl.JointNestedRaggedTensorDict({"code": [[1, 2], [3]]})
        >>> vl.Data.from_joint(J, "code")
        Data('code', [batch(2), dim1(1 to 2)], uint8)
        """
        check_key(key, "key")
        columns = joint_data.from_joint(joint, dims)
        if key not in columns:
            raise error_of(KeyError, "key", f"{key!r} is not one of {list(columns)}")
        return columns[key]

    @property
    def batch_dim(self) -> Dim | None:
        """The batch dim, or None."""
        return _axes.one_or_none(self, "B")

    @property
    def time_dim(self) -> Dim | None:
        """The dim that "T" means: the given one, else the only dim whose lengths differ, else None.

        Raises
        ------
        AmbiguousAxisError
            There are several, and none was given.
        """
        return _axes.one_or_none(self, "T")

    @property
    def feature_dim(self) -> Dim | None:
        """The dim that "F" means: the given one, else the only dim of fixed size, else None.

        Raises
        ------
        AmbiguousAxisError
            There are several, and none was given.
        """
        return _axes.one_or_none(self, "F")

    def axis(self, axis: Axis) -> Dim:
        """Look up one dim, with its lengths in this data.

        Parameters
        ----------
        axis
            A Dim, its name, or words as `axes` takes them.

        Returns
        -------
        Dim
            The dim in `self.dims` that fits.

        Raises
        ------
        IndexError
            There is none.
        AmbiguousAxisError
            There are several.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.zeros(3), [vl.dims.batch_dim, time])
        >>> x.axis("T"), x.axis("stag:ti") == time
        (Dim('time', 2 lengths 1 to 2 over batch), True)
        """
        return self._shape.dims[_axes.place(self, axis)]

    def axes(self, axes: Axis | Sequence[Axis]) -> list[Dim]:
        """Look up several dims.

        Parameters
        ----------
        axes
            A Dim, a name, a sequence of them, or words: "B" the batch, "T" the time, "F" the features,
            several as in "BT", "T?" if there may be none, "spatial", "dynamic", "static", "except_batch",
            "except_time", "*", "dim:8" the one of that size, "stag:enc" the one spatial dim whose name holds
            the letters, "stag-single:-1:enc" the last of several, "tag:x" the same among all dims.

        Returns
        -------
        list of Dim
            The dims in the order of `self.dims`; for a sequence of axes, in its order.

        Raises
        ------
        IndexError
            A dim is missing.
        AmbiguousAxisError
            A description of one dim fits several.

        Examples
        --------
        >>> time, feature = vl.Dim("time", lengths=[2, 1]), vl.Dim("feature", 2)
        >>> x = vl.Data(np.zeros((3, 2)), [vl.dims.batch_dim, time, feature])
        >>> x.axes("except_batch") == [time, feature]
        True
        """
        dims = self._shape.dims
        return [dims[k] for k in _axes.places(self, axes, "axes")]

    def lengths(self, axis: Axis = "T") -> NDArray[np.int64]:
        """The number of positions of a dim, for each row of the dims it depends on; int64, read-only.

        Parameters
        ----------
        axis
            A Dim or words for one.

        Returns
        -------
        numpy.ndarray
            One axis for each dim that the lengths depend on; of shape () for a fixed size.

        Examples
        --------
        >>> vl.Data(np.zeros(3), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])]).lengths()
        array([2, 1])
        """
        dim = self.axis(axis)
        lengths: Any = dim.lengths if dim.is_dynamic else np.asarray(dim.size, np.int64)
        return lengths  # type: ignore[no-any-return]

    # Forms. Each is told in the file of its name.

    def packed(self) -> Data[ArrayT]:
        """Convert to packed storage; returns itself if already packed.

        Returns
        -------
        Data
            The valid values alone.

        Examples
        --------
        >>> x = vl.Data(np.arange(1, 4), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.packed() is x, x.padded().packed().values
        (True, array([1, 2, 3]))
        """
        return self if self._dense is None else self._like(self._values)

    def masked(self, value: Any, dims: Axis | Sequence[Axis] | None = None) -> Data[ArrayT]:
        """Fill the padding of padded storage with a value; returns itself if packed.

        Parameters
        ----------
        value
            The new value of the padding.
        dims
            Accepted for compatibility, and ignored: padding is never read in any dim.

        Returns
        -------
        Data
            The same data, still in padded storage if it was.

        Examples
        --------
        >>> x = vl.Data(np.arange(1, 4), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.padded().masked(-1).values.tolist(), x.masked(-1) is x
        ([[1, 2], [3, -1]], True)
        """
        if dims is not None:
            _axes.places(self, dims, "dims")
        with naming(fill="value"):
            return self if self._dense is None else self.padded(value, self._dense[2])

    # The order of dims, and their names.

    def verify_out_shape(self, expected: OutShape, *, allow_missing_implicit: bool = True) -> Data[ArrayT]:
        """Check that the dims are the expected ones; returns itself.

        Parameters
        ----------
        expected
            A set or a list of dims. `OptionalDim(dim)` may be missing. `ImplicitDim(dim)` is not an axis, but
            a dim that lengths depend on, or the `sparse_dim`.
        allow_missing_implicit
            Whether implicit dims need not be named.

        Returns
        -------
        Data
            Itself.

        Raises
        ------
        OutShapeError
            A dim is missing, or was not expected; the message shows both shapes.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.arange(3), [vl.dims.batch_dim, time])
        >>> x.verify_out_shape({time, vl.dims.batch_dim}) is x
        True
        """
        with naming(out_shape="expected"):
            out_shape.verify(self, expected, allow_missing_implicit)
        return self

    def copy(self, *, name: str | None = None, **facts: Any) -> Data[ArrayT]:
        """Copy the data, with another name or other facts.

        Parameters
        ----------
        name
            The name in messages.
        **facts
            `sparse_dim`, `feature_dim`, `time_dim`, `beam`, `available_for_inference`, as `Data` takes them.

        Returns
        -------
        Data
            A Data that shares the values.

        Examples
        --------
        >>> vl.Data(np.arange(3), [vl.Dim("three", 3)]).copy(name="places")
        Data('places', [three(3)], int64)
        """
        if name is not None:
            facts["name"] = name
        return self._with_facts(**make.check_facts(self, self._facts._replace(**facts))._asdict())

    def cast(self, dtype: DTypeLike) -> Data[Any]:
        """Convert the values to another dtype.

        Parameters
        ----------
        dtype
            A dtype of NumPy or torch, or its name; each works for arrays and tensors.

        Returns
        -------
        Data
            The converted values, over the same dims. Numbers are converted as in NumPy and torch: floats are
            cut to integers.

        Examples
        --------
        >>> x = vl.Data(np.arange(3), [vl.Dim("three", 3)])
        >>> x.cast("float32").dtype, x.torch().cast("float32").dtype
        (dtype('float32'), torch.float32)
        """
        result = self._like(backend_of(self._values).to_dtype(self._values, dtype))
        result._facts = positions_or_none(result._values, result._facts)
        return result

    # Numbers.

    def __bool__(self) -> bool:
        if self._shape.rank:
            raise value_error(
                "",
                "the truth value of several numbers is ambiguous",
                "reduce them with any() or all()",
                context=f"{self!r}",
            )
        return bool(self._values)

    def __float__(self) -> float:
        return float(self._values.item())

    def __int__(self) -> int:
        return int(self._values.item())

    def item(self) -> complex:
        """Convert the single value to a Python number.

        Returns
        -------
        int, float, bool or complex
            The value as a Python number.

        Examples
        --------
        >>> vl.Data(np.arange(3), [vl.Dim("three", 3)]).sum("*").item()
        3
        """
        number: complex = self._values.item()
        return number

    def apply(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Data[Any]:
        """Apply an element-wise function: `x.apply(np.exp)`, `x.apply(torch.relu)`.

        Parameters
        ----------
        function
            Takes an array or a tensor of any shape, and returns one of the same shape.
        *args, **kwargs
            Further arguments of `function`.

        Returns
        -------
        Data
            The results, over the same dims.

        Raises
        ------
        ValueError
            The function returned another shape.

        Examples
        --------
        >>> x = vl.Data(np.array([1.0, 4.0, 9.0]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.apply(np.sqrt).to_list()
        [[1.0, 2.0], [3.0]]
        """
        values: Any = function(self._values, *args, **kwargs)
        if tuple(values.shape) != tuple(self._values.shape):
            raise value_error(
                "function",
                f"gave the shape {tuple(values.shape)} for {tuple(self._values.shape)}; "
                "apply() keeps dims; an operation of varlen.dims can change them",
            )
        return self._map(lambda _: values)

    def __neg__(self) -> Data[ArrayT]:
        return self._map(for_every_dtype(operator.neg))

    def __pos__(self) -> Data[ArrayT]:
        return self

    def __invert__(self) -> Data[ArrayT]:
        return self._map(for_every_dtype(operator.invert))

    def __abs__(self) -> Data[Any]:
        return self._map(abs)

    __add__ = _binary("add", operator.add)
    __radd__ = _binary("add", operator.add, True)
    __sub__ = _binary("sub", operator.sub)
    __rsub__ = _binary("sub", operator.sub, True)
    __mul__ = _binary("mul", operator.mul)
    __rmul__ = _binary("mul", operator.mul, True)
    __truediv__ = _binary("truediv", operator.truediv)
    __rtruediv__ = _binary("truediv", operator.truediv, True)
    __floordiv__ = _binary("floordiv", operator.floordiv)
    __rfloordiv__ = _binary("floordiv", operator.floordiv, True)
    __mod__ = _binary("mod", operator.mod)
    __rmod__ = _binary("mod", operator.mod, True)
    __pow__ = _binary("pow", operator.pow)
    __rpow__ = _binary("pow", operator.pow, True)
    __and__ = _binary("and", operator.and_)
    __rand__ = _binary("and", operator.and_, True)
    __or__ = _binary("or", operator.or_)
    __ror__ = _binary("or", operator.or_, True)
    __xor__ = _binary("xor", operator.xor)
    __rxor__ = _binary("xor", operator.xor, True)
    __lt__ = _binary("lt", operator.lt)
    __le__ = _binary("le", operator.le)
    __gt__ = _binary("gt", operator.gt)
    __ge__ = _binary("ge", operator.ge)
    __eq__ = _binary("eq", operator.eq)
    __ne__ = _binary("ne", operator.ne)
    __hash__ = object.__hash__

    def __getitem__(self, key: object) -> NoReturn:
        # Without this Python says only that there is none; iteration and `in` end here, too.
        raise type_error(
            "",
            f"{self!r} cannot be indexed by position, because its axes are dims",
            "use dims.slice, dims.gather or dims.masked_select, or x.to_list()",
        )

    def __matmul__(self, other: object) -> NoReturn:
        raise error_of(
            TypeError, "", "does not say which dims are summed", "use dims.dot(x, y, dims)", context="@"
        )

    __rmatmul__ = __matmul__

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if self._shape.rank:
            raise error_of(
                TypeError, "", f"{self!r} is many values, and {spec!r} is for one number", context="format"
            )
        return format(self.item(), spec)

    def _arrow_node(self, leaf: Leaf | None = None) -> Node:
        return export.arrow_node(self, leaf)

    def __str__(self) -> str:
        return show.print_text(self)

    def __repr__(self) -> str:
        return show.text(self)

    def _repr_html_(self) -> str:
        return show.html(self)


hint_names(Data, BLOCK)
