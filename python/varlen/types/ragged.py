"""Ragged: rows laid end to end, and one or more levels that cut them into sequences."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, SupportsIndex, cast, overload

import numpy as np

from varlen import tracing
from varlen._core import RaggedBase, on_values, register
from varlen._hints import RAGGED, hint_names
from varlen._methods import adopt_methods
from varlen._restored import by_torch
from varlen.arguments import axis_of
from varlen.backends import backend_of
from varlen.backends.values import ArrayT, as_values, copy_of, from_state, to_state
from varlen.errors import type_error, value_error
from varlen.interop import neighbours
from varlen.interop.arrow_nodes import Leaf, Node, array_node
from varlen.interop.arrow_parts import is_foreign, sequences_from
from varlen.interop.frames import ColumnMethods
from varlen.levels import Levels, check_levels, levels_from, same_levels
from varlen.ops.combine import split
from varlen.ops.dense import padded
from varlen.ops.support.inputs import same_kind
from varlen.ops.support.outputs import container
from varlen.types import arithmetic, assignment, dense, functions, indexing
from varlen.types.attributes import reduce_container, with_attributes, with_copied_attributes
from varlen.types.constructors import Constructors
from varlen.types.faces import VerbMethods
from varlen.types.layers import TimeMajor
from varlen.types.neighbour_methods import NeighbourMethods
from varlen.types.operators import Operators
from varlen.types.structure import Structure
from varlen.types.swaps import ChannelMajor
from varlen.types.tensor_calls import CHANNELS_SECOND, Size, TracedSize, refuse_adaptive
from varlen.types.tensor_methods import TensorMethods
from varlen.types.torch_keywords import by_torch_keywords
from varlen.types.torch_table import HOMES, RULES, TENSOR_METHODS, method_of_tensors
from varlen.types.torch_table import by_torch as call_torch

if TYPE_CHECKING:
    from types import EllipsisType

    import torch
    from numpy.typing import ArrayLike, DTypeLike, NDArray
    from typing_extensions import Self, Unpack

    from varlen.backends.values import DTypes, Lengths, RowsLike, SequencesLike, Values
    from varlen.display.summary import Summary
    from varlen.types.dtype import DType
    from varlen.types.torch_keywords import TorchKeywords

    Ints = NDArray[np.int64]


@adopt_methods
@container("Ragged")
class Ragged(
    Constructors[ArrayT],
    Structure[ArrayT],
    VerbMethods[ArrayT],
    Operators,
    TensorMethods,
    NeighbourMethods[ArrayT],
    ColumnMethods,
    RaggedBase[ArrayT],
):
    """Sequences of different lengths, nested to any depth.

    Parameters
    ----------
    values
        Rows laid end to end, (total, ...), of any dtype of fixed width: an array, a torch tensor, or what
        `np.asarray` reads. Shared, not copied, if its memory is contiguous. Alone: a nested tensor, an array
        of arrays, what `from_tensorflow` or `from_torchrec` takes, or a column of lists that Arrow reads, as
        `from_arrow` takes it.
    lengths
        The length of each sequence, (n,), any integer dtype. For several levels, a list of these, outermost
        first.
    data
        Instead of values: Thinc's name for them.
    offsets
        Instead of lengths: (n + 1,), starts at 0, never decreases. For several levels, a list of these.
    levels
        Instead of lengths: `Level` objects, outermost first, which are shared.

    Raises
    ------
    TypeError
        Not exactly one of lengths, offsets and levels is given, values are Python objects, or lengths are not
        integers.
    ValueError
        Lengths are negative, offsets decrease, or levels do not fit each other or the values.

    Notes
    -----
    The structure is immutable, but you may write values in place, as with any NumPy view. Torch tensors give
    torch tensors; arrays of CuPy, JAX and Numba give arrays of the same library. Operators and ufuncs work on
    the values of containers that nest alike. A Ragged that has only the outer levels gives each of its rows
    to all values below it. An array with the axes of a row, or fewer, broadcasts against each row; an array
    with one axis more, (n, *row), gives one row to each sequence. `@` is `matmul`.

    For type checkers the class is generic over the kind of array that it holds: `Ragged[np.ndarray]`, or
    `Ragged[torch.Tensor]`.

    Examples
    --------
    >>> r = vl.Ragged([3, 1, 4, 1, 5], lengths=[3, 0, 2])
    >>> r
    Ragged(3 sequences, 5 values, lengths 0 to 3, int64)
    [[3, 1, 4], [], [1, 5]]
    >>> r[-1], r[:2].lengths, r[r.lengths > 0].to_list()
    (array([1, 5]), array([3, 0]), [[3, 1, 4], [1, 5]])
    >>> (r * 10)[:, :2].to_list()
    [[30, 10], [], [10, 50]]
    """

    __slots__ = ("__weakref__",)

    _padded: ClassVar[type[Any] | None] = None  # what `to_padded` gives in a dialect with a class of its own

    @overload
    def __init__(
        self, values: ArrayT | None = None, lengths: Lengths | None = None, *, data: ArrayT | None = None,
        offsets: SequencesLike | None = None, levels: Any = None,
    ) -> None: ...  # fmt: skip
    @overload
    def __init__(
        self: Ragged[np.ndarray], values: ArrayLike | None = None, lengths: Lengths | None = None, *,
        data: ArrayLike | None = None, offsets: SequencesLike | None = None, levels: Any = None,
    ) -> None: ...  # fmt: skip
    def __init__(
        self, values: Any = None, lengths: Lengths | None = None, *, data: Any = None,
        offsets: SequencesLike | None = None,
        levels: Any = None,
    ) -> None:  # fmt: skip
        if values is None or data is not None:
            if (values is None) == (data is None):
                raise type_error("", "pass either values or data, which mean the same")
            values = data if values is None else values
        if lengths is None and offsets is None and levels is None:
            if is_foreign(values):
                column: Any = sequences_from(values, "values")
                self._values, self._levels = column
                return
            values, lengths, offsets, levels = neighbours.cut_of(values)
        rows: Any = as_values(values)
        self._values = rows
        self._levels = levels_from(rows.shape[0], lengths, offsets, levels)

    if TYPE_CHECKING:
        # The core defines it, with its docstring. Arrays come first: all of them have an __index__.
        @overload
        def __getitem__(
            self, key: slice | EllipsisType | Sequence[int] | Sequence[bool] | np.ndarray | torch.Tensor
        ) -> Self: ...
        @overload
        def __getitem__(self, key: SupportsIndex) -> ArrayT | Any: ...
        @overload
        def __getitem__(self, key: tuple[slice, slice, Unpack[tuple[Any, ...]]]) -> Self: ...
        @overload
        def __getitem__(self, key: tuple[Any, ...]) -> ArrayT | Any: ...
        def __getitem__(self, key: Any) -> Any: ...

    @property
    def values(self) -> ArrayT:
        """The rows laid end to end, (total, ...), shared with the container."""
        return self._values

    @property
    def data(self) -> ArrayT:
        """The values as Thinc's table, (total, width): trailing axes merged, memory shared."""
        rows: Any = self._values
        return cast("ArrayT", rows.reshape(len(rows), math.prod(rows.shape[1:])))

    @property
    def dataXd(self) -> ArrayT:
        """The values with their trailing axes, under Thinc's name."""
        return self._values

    @property
    def data_shape(self) -> tuple[int, ...]:
        """(-1, *trailing axes of the values)."""
        return (-1, *self._values.shape[1:])

    @property
    def levels(self) -> Levels:
        """The levels, outermost first. Containers that share them nest alike without a check."""
        return self._levels

    @property
    def offsets(self) -> Ints:
        """The offsets of the outermost level: int64 (n + 1,), read-only; the first is 0."""
        if tracing.is_tracing():
            offsets: Ints = tracing.tensors.array(tracing.as_traced(self._levels[0]).offsets)
            return offsets
        return self._levels[0].offsets

    @property
    def lengths(self) -> Ints:
        """The lengths of the outermost level: int64 (n,), read-only."""
        if tracing.is_tracing():
            lengths: Ints = tracing.tensors.array(tracing.as_traced(self._levels[0]).lengths)
            return lengths
        return self._levels[0].lengths

    @property
    def row_ids(self) -> ArrayT:
        """The sequence that holds each row of the outermost level: int64, array or tensor like the values."""
        numbers = backend_of(self._values).level_array(self._levels[0], "row_ids", self._values)
        return cast("ArrayT", numbers)

    @property
    def positions(self) -> ArrayT:
        """The position of each row inside its outermost sequence: int64, array or tensor like the values."""
        numbers = backend_of(self._values).level_array(self._levels[0], "positions", self._values)
        return cast("ArrayT", numbers)

    @property
    def longest(self) -> int:
        """The length of the longest sequence of the outermost level; 0 without sequences."""
        return self._levels[0].longest

    @property
    def total(self) -> int:
        """The number of values in all sequences."""
        return self._levels[-1].total

    @property
    def shape(self) -> tuple[int | None, ...]:
        """(n, None, ..., *trailing dimensions of the values): None for each ragged axis."""
        shape = (tracing.count_of(self._levels[0]), *(None for _ in self._levels), *self._values.shape[1:])
        if (
            len(shape) == 3
            and not tracing.is_tracing()
            and sys._getframe(1).f_globals.get("__name__") in CHANNELS_SECOND
        ):
            return shape[0], shape[2], None
        return shape

    @property
    def ndim(self) -> int:
        """The number of axes, ragged ones included."""
        result: int = self._values.ndim + len(self._levels)
        return result

    if TYPE_CHECKING:
        dtype = DType()
    else:

        @property
        def dtype(self) -> np.dtype | torch.dtype:
            """The dtype of the values, NumPy's or torch's."""
            return self._values.dtype

    def _rows(self) -> ArrayT:
        return self._values

    def _with_rows(self, rows: SequencesLike) -> Self:
        result: Self = with_attributes(same_kind(self, rows), self, Ragged)
        return result

    def _first_axes(self) -> tuple[int, ...]:
        return (self._levels[-1].total,)

    def _parts(self) -> Levels:
        return self._levels

    @property
    def size(self) -> int:
        """The number of entries in the values, trailing axes included; `size(dim)` is that of an axis.

        In graphs of torch.compile compare `numel()` with the sizes of other tensors: torch says that no size
        equals an object that can be called, and does not ask that object.
        """
        count: int = math.prod(list(self._values.shape))
        if isinstance(self._values, np.ndarray):
            return count
        if tracing.is_tracing():
            size: Any = TracedSize(count, self.shape)
            return size  # type: ignore[no-any-return]
        return Size(count, self.shape)

    @property
    def nbytes(self) -> int:
        """The size of values and offsets in bytes."""
        offsets = sum([tracing.count_of(level) + 1 for level in self._levels])
        itemsize: int = self._values.dtype.itemsize
        nbytes: int = math.prod(list(self._values.shape)) * itemsize + 8 * offsets
        return nbytes

    @property
    def cu_seqlens(self) -> ArrayT:
        """The offsets of the outermost level as int32, for attention kernels; a tensor if the values are.

        Raises
        ------
        OverflowError
            There are more rows than int32 can count.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).cu_seqlens
        array([0, 2, 3], dtype=int32)
        """
        numbers = backend_of(self._values).level_array(self._levels[0], "offsets32", self._values)
        return cast("ArrayT", numbers)

    def _get(self, key: object) -> Any:
        """`r[key]` for keys that the core does not handle itself."""
        return indexing.get(self, key)

    def __setitem__(self, key: object, value: RowsLike | SequencesLike) -> None:
        """Write into the values, in place, where `r[key]` reads them.

        Examples
        --------
        >>> r = vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2])
        >>> r[r > 3] = 0
        >>> r[0, :2] = [8, 9]
        >>> r.to_list()
        [[8, 9, 0], [], [1, 0]]
        """
        if tracing.is_tracing():
            assignment.put_traced(self, key, value)
        else:
            assignment.put(self, key, value)

    def row(self, i: SupportsIndex) -> ArrayT | Any:
        """One sequence; `r[i]` is the same.

        Parameters
        ----------
        i
            The index of the sequence; negatives count from the end.

        Returns
        -------
        (length, ...) array or tensor, or Ragged with one level fewer
            The sequence, which shares memory.

        Raises
        ------
        IndexError
            The index is out of range.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).row(0)
        array([3, 1])
        """
        return indexing.row(self, i)

    def __iter__(self) -> Iterator[ArrayT | Any]:
        return dense.iterate(self)

    def __contains__(self, item: object) -> bool:
        equal: Any = self._values == item
        return bool(equal.any())

    def __bool__(self) -> bool:
        raise value_error(
            "", "the truth value of a Ragged is ambiguous", "use len(), equals() or .values.any()"
        )

    def split(
        self, sizes: int | Sequence[int] | np.ndarray, axis: int = 0, **torch: Unpack[TorchKeywords]
    ) -> list[Self]:
        """Split into consecutive pieces that share values; as `varlen.split`.

        Parameters
        ----------
        sizes
            The number of sequences per piece, an int above 0; the last piece may have fewer. Or one number
            per piece, which together cover all sequences.
        axis
            0 for the sequences, or an axis of the rows, which is split then.
        **torch
            With tensors, `dim` as torch has it in the place of `axis`.

        Returns
        -------
        list of Ragged
            The pieces in order.

        Raises
        ------
        ValueError
            A size is below 0, a single number is below 1, or the sizes do not add up to the number of
            sequences.

        Examples
        --------
        >>> [piece.to_list() for piece in vl.Ragged([3, 1, 4], [2, 0, 1]).split([2, 1])]
        [[[3, 1], []], [[4]]]
        """
        if torch:
            return list(by_torch_keywords(self, "split", torch, sizes=sizes, axis=axis))
        return cast("list[Self]", split(self, sizes, axis))

    @tracing.eager_only()
    def to_list(self) -> list[Any]:
        """Convert to nested lists of Python numbers.

        Returns
        -------
        list
            A list for each sequence, nested as deep as the levels and the axes of a row.

        Examples
        --------
        >>> vl.Ragged([[1, 2], [3, 4]], [0, 2]).to_list()
        [[], [[1, 2], [3, 4]]]
        """
        return dense.to_list(self)

    @overload
    def to_dense(
        self, padding_side: str = "right", fill: RowsLike | None = None, mask: Literal[False] = False,
        max_len: int | Sequence[int | None] | None = None, truncate: str = "right", out: ArrayT | None = None,
        dtype: DTypes | None = None, pad_to_multiple_of: int = 1, max_bytes: int | None = None,
    ) -> ArrayT: ...  # fmt: skip
    @overload
    def to_dense(
        self, padding_side: str = "right", fill: RowsLike | None = None, *, mask: Literal[True],
        max_len: int | Sequence[int | None] | None = None, truncate: str = "right", out: ArrayT | None = None,
        dtype: DTypes | None = None, pad_to_multiple_of: int = 1, max_bytes: int | None = None,
    ) -> tuple[ArrayT, ArrayT]: ...  # fmt: skip
    @overload
    def to_dense(
        self, padding_side: str = "right", fill: RowsLike | None = None, mask: bool = False,
        max_len: int | Sequence[int | None] | None = None, truncate: str = "right", out: ArrayT | None = None,
        dtype: DTypes | None = None, pad_to_multiple_of: int = 1, max_bytes: int | None = None,
    ) -> ArrayT | tuple[ArrayT, ArrayT]: ...  # fmt: skip
    def to_dense(
        self, padding_side: str = "right", fill: Any = None, mask: bool = False,
        max_len: int | Sequence[int | None] | None = None, truncate: str = "right", out: ArrayT | None = None,
        dtype: Any = None, pad_to_multiple_of: int = 1, max_bytes: int | None = None,
    ) -> ArrayT | tuple[ArrayT, ArrayT]:  # fmt: skip
        """Pad the sequences to a rectangle.

        Parameters
        ----------
        padding_side
            "right" or "left": the side of the padding, and the end that a sequence longer than max_len loses.
        fill
            The fill value: a number, or one row of the values' trailing shape; None for zeros.
        mask
            Return (block, mask), True where data is present: (n, width), or (n, width, ...) for more levels.
        max_len
            The most slots per sequence: one number per level, or one for the outermost.
        truncate
            "right" or "left": the side of the padding, and the end that a sequence longer than max_len loses.
        out
            An array of the right shape to write into; it is returned.
        dtype
            The dtype of the result; values are cast while writing.
        pad_to_multiple_of
            The width of every level is rounded up to a multiple of this.
        max_bytes
            Refuse a larger block; by default half of the machine's memory.

        Returns
        -------
        array or tensor, or a pair with the mask
            The rectangle: (n, width, *trailing), or (n, width, width of the next level, ..., *trailing).
            Tensors give a tensor, and gradients flow through it.

        Raises
        ------
        ValueError
            The dtype cannot hold the fill, `out` has another shape, or the block exceeds max_bytes.

        Examples
        --------
        >>> r = vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2])
        >>> r.to_dense(padding_side="left", fill=-1)
        array([[ 3,  1,  4],
               [-1, -1, -1],
               [-1,  1,  5]])
        """
        result: ArrayT | tuple[ArrayT, ArrayT] = padded(
            self._values, self._levels, padding_side, fill, mask, max_len, truncate, out, dtype,
            pad_to_multiple_of, max_bytes,
        )  # fmt: skip
        return result

    def astype(self, dtype: DTypes) -> Self:
        """Convert the values to another dtype.

        Parameters
        ----------
        dtype
            A dtype of NumPy, or of torch for tensors, or its name.

        Returns
        -------
        Ragged
            A Ragged with its own values, even if the dtype does not change.

        Raises
        ------
        TypeError
            The values cannot have this dtype.

        Examples
        --------
        >>> vl.Ragged([3, 1], [2]).astype(np.float32).dtype
        dtype('float32')
        """
        result: Self = same_kind(self, backend_of(self._values).astype(self._values, dtype))
        return result

    def copy(self) -> Self:
        """Copy the container with its values.

        Returns
        -------
        Ragged
            An equal Ragged; it shares the levels, which cannot change, and a subclass's own attributes.

        Examples
        --------
        >>> r = vl.Ragged([3, 1], [2])
        >>> r.copy().equals(r)
        True
        """
        result: Self = with_attributes(same_kind(self, copy_of(self._values)), self, Ragged)
        return result

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        result = self._make(copy_of(self._values), self._levels)
        return with_copied_attributes(result, self, Ragged, memo)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        parts = to_state(self._values, by_torch(protocol)), self._levels
        return reduce_container(_restore, parts, self, Ragged, protocol)

    def _file_parts(self) -> dict[str, Any]:
        return {"values": self._values, "levels": self._levels}

    @classmethod
    def _from_saved(cls, *parts: Any) -> Ragged[Any]:
        return _restore(cls, *parts)

    def equals(self, other: object, equal_nan: bool = False) -> bool:
        """Whether `other` is a Ragged of equal nesting and equal values; dtypes may differ.

        Parameters
        ----------
        other
            Any object; only a Ragged can be equal.
        equal_nan
            NaN is equal to NaN (and NaT to NaT).

        Returns
        -------
        bool

        Examples
        --------
        >>> r = vl.Ragged([3, 1], [2])
        >>> r.equals(vl.Ragged([3.0, 1.0], [2])), r.equals(vl.Ragged([3, 1], [1, 1]))
        (True, False)
        """
        if not isinstance(other, Ragged) or not same_levels(self._levels, other._levels):
            return False
        return arithmetic.equal_values(self._values, other._values, equal_nan)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return functions.by_numpy(func, args, kwargs)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not tracing.is_tracing():
            result = on_values(RULES, func, args, kwargs)
            if result is not NotImplemented:
                return result
        return call_torch(func, args, kwargs or {})

    def tanh(self) -> Self:
        """The hyperbolic tangent of each number; `torch.nn.functional.tanh` calls this.

        Returns
        -------
        Ragged
            The results, under the same levels; integers become floats.

        Examples
        --------
        >>> vl.Ragged([0.0, np.inf, -np.inf], [2, 1]).tanh().to_list()
        [[0.0, 1.0], [-1.0]]
        """
        result: Self = same_kind(self, backend_of(self._values).ufunc("tanh", [self._values], {}))
        return result

    def sigmoid(self) -> Self:
        """The logistic function of each number; `torch.nn.functional.sigmoid` calls this.

        Returns
        -------
        Ragged
            The results, under the same levels; integers become floats.

        Examples
        --------
        >>> vl.Ragged([0.0, np.inf, -np.inf], [2, 1]).sigmoid().to_list()
        [[0.5, 1.0], [0.0]]
        """
        result: Self = same_kind(self, backend_of(self._values).ufunc("sigmoid", [self._values], {}))
        return result

    def dim(self) -> int:
        """The number of axes, ragged ones included, as `ndim`; modules of torch call this.

        Returns
        -------
        int

        Examples
        --------
        >>> vl.Ragged([3.0, 1.0], [1, 1]).dim()
        2
        """
        refuse_adaptive(1)
        return self.ndim

    def transpose(self, dim0: int, dim1: int) -> Self | TimeMajor | ChannelMajor:
        """Swap two axes of the rows, as `torch.Tensor.transpose`.

        Parameters
        ----------
        dim0, dim1
            The axes, after the ragged ones; negatives count from the end. Axes 0 and 1 give what
            `torch.nn.MultiheadAttention` takes and swaps back; axes 1 and 2 of rows (channels,) what
            convolutions, pooling and norms take.

        Returns
        -------
        Ragged
            A Ragged with the same levels; a tensor shares the values.

        Raises
        ------
        TypeError
            An axis is ragged. Attention, convolutions and norms take the Ragged as it is.
        ValueError
            There is no such axis.

        Examples
        --------
        >>> vl.Ragged([[[1, 2], [3, 4]]], [1]).transpose(2, 3).to_list()
        [[[[1, 3], [2, 4]]]]
        """
        first, second = sorted(axis_of(dim, self.ndim, "dim") for dim in (dim0, dim1))
        if (first, second) == (0, 1):
            return TimeMajor(self)
        if (first, second, self.ndim) == (1, 2, 3):
            return ChannelMajor(self)
        row_axis = first - len(self._levels)
        if row_axis < 1:
            raise type_error(
                "dim0",
                f"axis {first} is ragged, or the sequences, and stays where it is",
                "attention, convolutions and norms take the Ragged as it is",
            )
        axes = list(range(self._values.ndim))
        other = second - len(self._levels)
        axes[row_axis], axes[other] = axes[other], axes[row_axis]
        values: Any = backend_of(self._values).transpose(self._values, tuple(axes))
        result: Self = same_kind(self, values)
        return result

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return arithmetic.apply(ufunc, method, inputs, kwargs)

    def __cupy_override_elementwise_kernel__(self, kernel: Any, *args: Any, **kwargs: Any) -> Any:
        # What CuPy's own functions and operators ask: `cupy.exp(r)`, `x * r`.
        out = kwargs.get("out")
        if out is not None and not isinstance(out, tuple):
            kwargs["out"] = (out,)
        return arithmetic.compute(kernel.name.removeprefix("cupy_"), args, kwargs)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return arithmetic.as_rectangle(self, dtype, copy)

    def _arrow_node(self, leaf: Leaf | None = None) -> Node:
        return array_node(self._values, self._levels, leaf=leaf)

    def describe(self) -> Summary:
        """Summarize the lengths of each level and the values.

        Returns
        -------
        Summary
            A dict of columns, which `pandas.DataFrame` takes. Each row has the count, the missing values
            (NaN, NaT), the mean, the standard deviation and the quartiles, or the most frequent words.

        Examples
        --------
        >>> vl.Ragged([0.5, np.nan, 2.0], [2, 1]).describe()
        name     dtype    count  missing  mean   std  min    25%   50%    75%  max
        lengths  lengths      2        0   1.5   0.5    1   1.25   1.5   1.75    2
        values   float64      2        1  1.25  0.75  0.5  0.875  1.25  1.625    2
        """
        from varlen.display.summary import level_lengths, summarize
        from varlen.display.text import Column

        return summarize(level_lengths(self._levels), [Column("values", self._values)])

    def __repr__(self) -> str:
        from varlen.display.text import ragged_text

        return ragged_text(type(self).__name__, self._values, self._levels)

    def _repr_html_(self) -> str:
        from varlen.display.html import ragged_html

        return ragged_html(type(self).__name__, self._values, self._levels)


def _restore(kind: type[Ragged[Any]], values: Values, levels: Levels) -> Ragged[Any]:
    values = from_state(values)
    check_levels(len(values), levels)
    return kind._make(values, levels)


def _getitem(self: Ragged[Any], key: object, /, *, _: None = None) -> Any:
    # The interpreter puts a simple function in the place of the slot where code is hot; this is none.
    return indexing.get(self, key) if tracing.is_tracing() else indexing.subscript(self, key)


def _len(self: Ragged[Any]) -> int:
    count: int = tracing.count_of(self._levels[0])
    return count


_getitem.__doc__ = RaggedBase.__getitem__.__doc__
_getitem.__wrapped__ = indexing.subscript  # type: ignore[attr-defined]  # help() shows its signature
_getitem.__qualname__, _len.__qualname__ = "Ragged.__getitem__", "Ragged.__len__"
register(traced_getitem=_getitem, traced_len=_len)  # r[key] and len(r) themselves stay in C
_ways = {
    name: f"{'numpy' if hasattr(np, name) else HOMES.get(name, 'torch')}.{name}(r)" for name in TENSOR_METHODS
}
hint_names(Ragged, _ways | RAGGED, dict.fromkeys(TENSOR_METHODS, method_of_tensors))
