"""`RaggedTensor`: a Ragged with TensorFlow's members. Its row partitions are in partitions.py."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from varlen._core import Level, RaggedBase
from varlen._methods import adopt_methods
from varlen.arguments import as_array, as_int, as_list, axis_of, fits_memory, is_listed
from varlen.backends import backend_of
from varlen.backends.values import ArrayT, as_ints, as_values, is_tensor, row_as
from varlen.errors import overflow_error, type_error, value_error
from varlen.levels import level_from
from varlen.ops.dims import expand_dims, merge_dims
from varlen.ops.support.inputs import nest_rows
from varlen.tf.partitions import RowPartitions
from varlen.tf.sparse import SparseTensor, rows_of_sparse, sparse_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self

    from varlen.backends.values import DTypes, Lengths, RowsLike, RowsT, SequencesLike, Values


@adopt_methods
class RaggedTensor(RowPartitions[ArrayT]):
    """A `varlen.Ragged` with the members of `tf.RaggedTensor`. Members that move values support autograd.

    Make one like a `varlen.Ragged`, by `constant`, or by one of its own constructors. Axes count as in
    `shape`: first the sequences, then one axis for each level, then those of the rows.

    Parameters
    ----------
    values
        Rows laid end to end, (total, ...), of any dtype of fixed width: an array or a tensor, shared where
        its memory is contiguous, or what `np.asarray` reads.
    lengths
        (n,) integers, how many rows each sequence has; or a list of these, one for each level, outermost
        first.
    data
        In place of values, under Thinc's name.
    offsets
        In place of lengths: (n + 1,) integers, or a list of these.
    levels
        Instead of lengths: `Level` objects, outermost first, which are shared.

    Examples
    --------
    >>> from varlen.tf import RaggedTensor
    >>> r = RaggedTensor.from_tensor([[3, 1, 0], [4, 0, 0]], padding=0)
    >>> r.to_list(), r.to_tensor(-1, shape=[3, 2]).tolist()
    ([[3, 1], [4]], [[3, 1], [4, -1], [-1, -1]])
    >>> RaggedTensor.from_row_splits([7, 8, 9], [0, 2, 3]).to_list()
    [[7, 8], [9]]
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @overload
        @classmethod
        def from_list(
            cls: type[RaggedTensor[Any]],
            data: Sequence[RowsT] | Sequence[Sequence[RowsT]] | Sequence[Sequence[Sequence[RowsT]]],
            dtype: DTypes | None = None,
        ) -> RaggedTensor[RowsT]: ...
        @overload
        @classmethod
        def from_list(
            cls: type[RaggedTensor[Any]], data: Sequence[Any], dtype: DTypes | None = None
        ) -> RaggedTensor[np.ndarray]: ...
        @classmethod
        def from_list(cls, data: object, dtype: DTypes | None = None) -> Any: ...

    @classmethod
    def from_tensor(
        cls,
        tensor: RowsT | Sequence[Any],
        lengths: Lengths | None = None,
        padding: RowsLike | None = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: DTypes | None = None,
    ) -> RaggedTensor[RowsT]:
        """Make one from a rectangle, whole or cut by lengths or a padding value.

        Parameters
        ----------
        tensor
            (n, width, ...), or (n, sizes of ragged_rank levels, ...).
        lengths
            The number of data items in the width: (n,), or for several levels an array of the innermost
            lengths, (n, widths of the others), or a list or tuple of the lengths of each level.
        padding
            A number or a row. It is dropped at the end of each sequence, and kept if data follows it. NaN
            drops NaN.
        ragged_rank
            The number of levels. Without lengths and padding all their sequences are equally long.
        name, row_splits_dtype
            Ignored: names have no effect, and splits are int64.

        Returns
        -------
        RaggedTensor
            The dtype of `tensor`. Without lengths and padding its values are a view if the rectangle is
            C-contiguous; otherwise a copy.

        Raises
        ------
        ValueError
            Both lengths and padding are given; a length exceeds the width (nothing is clipped); there are
            fewer dimensions than levels; the padding has another shape than the rows.

        Examples
        --------
        >>> block = np.array([[5, 7, 0], [0, 3, 0], [6, 0, 0]])
        >>> RaggedTensor.from_tensor(block, padding=0).to_list()
        [[5, 7], [0, 3], [6]]
        >>> RaggedTensor.from_tensor(block, lengths=[1, 0, 3]).to_list()
        [[5], [], [6, 0, 0]]
        """
        if lengths is not None and padding is not None:
            raise value_error("", "lengths, padding: pass at most one of them")
        block: Any = as_values(tensor, "tensor")
        depth = as_int(ragged_rank, "ragged_rank", 1)
        if isinstance(lengths, (list, tuple)) and any(isinstance(x, Level) or np.ndim(x) for x in lengths):
            if depth not in (1, len(lengths)):
                raise value_error("ragged_rank", f"{depth} levels, but lengths are of {len(lengths)}")
            result: Any = cls.from_dense(block, lengths)
            return cast("RaggedTensor[RowsT]", result)
        if block.ndim <= depth:
            raise value_error("ragged_rank", f"{depth} levels need more dimensions than {block.ndim}")
        sizes = tuple(block.shape[: depth + 1])
        uniform: list[Level] = [
            Level.from_lengths(np.full(math.prod(sizes[:d]), sizes[d])) for d in range(1, depth + 1)
        ]
        if lengths is None and padding is None:
            result = cls._make(block.reshape(math.prod(sizes), *block.shape[depth + 1 :]), tuple(uniform))
            return cast("RaggedTensor[RowsT]", result)
        rows = block.reshape(math.prod(sizes[:-1]), *block.shape[depth:])
        if padding is not None:
            lengths = _data_lengths(rows, padding)
        elif depth > 1 and not isinstance(lengths, Level):
            lengths = as_array(lengths, "lengths").reshape(-1)
        innermost: RaggedBase[Any] = cls.from_dense(rows, level_from(lengths, Level.from_lengths, "lengths"))
        result = cls._make(innermost._values, (*uniform[:-1], *innermost._levels))
        return cast("RaggedTensor[RowsT]", result)

    def to_tensor(
        self,
        default_value: RowsLike | None = None,
        name: str | None = None,
        shape: Sequence[int | None] | None = None,
    ) -> ArrayT:
        """Pad to a rectangle, like `to_dense`, with an optional size for each axis.

        Parameters
        ----------
        default_value
            The padding: a number, or an array that broadcasts to a row; zeros by default.
        name
            Ignored.
        shape
            A size for each axis, None for as large as needed. Shorter sequences are padded, longer ones are
            cut at the end; along axis 0, sequences are added or dropped.

        Returns
        -------
        numpy.ndarray or torch.Tensor
            ndim axes, of the dtype of the values: a copy.

        Raises
        ------
        ValueError
            The number of sizes is not that of the axes, a size is below 0 or not that of the rows, the dtype
            cannot hold the default, or the rectangle exceeds half of the machine's memory.

        Examples
        --------
        >>> RaggedTensor([9, 8, 7, 6, 5, 4], [3, 0, 2, 1]).to_tensor(shape=[5, 2]).tolist()
        [[9, 8], [0, 0], [6, 5], [4, 0], [0, 0]]
        """
        levels, inner_shape = self._levels, tuple(self._values.shape[1:])
        sizes = [None] * self.ndim if shape is None else _sizes(shape, self.ndim)
        for axis, (expected, entries) in enumerate(zip(sizes[len(levels) + 1 :], inner_shape, strict=True)):
            if expected not in (None, entries):
                raise value_error(
                    "shape", f"axis {axis + len(levels) + 1} has {entries} entries, not {expected}"
                )
        fill = None if default_value is None else row_as(default_value, self._values, "default_value")[0]
        count = sizes[0]
        r: Any = self if count is None else self[:count]
        if count is not None and count > len(r._levels[0]):
            missing = np.zeros(fits_memory(count, "shape") - len(r._levels[0]), np.int64)
            outer = Level.from_lengths(np.concatenate((r._levels[0].lengths, missing)))
            r = self._make(r._values, (outer, *r._levels[1:]))
        # As wide as any sequence is, those too that `shape` leaves out.
        pairs = zip(sizes[1:], levels, strict=False)
        wide = [item.longest if size is None else size for size, item in pairs]
        block: ArrayT = backend_of(r._values).pad(r._values, r._levels, fill=fill, sizes=wide)
        return block

    @overload
    def bounding_shape(self, axis: int, name: str | None = None, out_type: DTypes | None = None) -> int: ...
    @overload
    def bounding_shape(
        self,
        axis: Sequence[int] | np.ndarray | None = None,
        name: str | None = None,
        out_type: DTypes | None = None,
    ) -> NDArray[np.int64]: ...
    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: DTypes | None = None
    ) -> int | NDArray[np.int64]:
        """The size of the smallest rectangle that holds all sequences.

        Parameters
        ----------
        axis
            One axis, or several; all by default.
        name, out_type
            Ignored: sizes are int64.

        Returns
        -------
        numpy.ndarray or int
            int64 (ndim,), or one entry for each of several axes; an int for one axis.

        Raises
        ------
        ValueError
            There is no such axis.

        Examples
        --------
        >>> r = RaggedTensor.from_list([[[1, 2], [3]], []])
        >>> r.bounding_shape(), r.bounding_shape(2)
        (array([2, 2, 2]), 2)
        """
        widths: list[int] = [level.longest for level in self._levels]
        sizes = np.array([len(self._levels[0]), *widths, *self._values.shape[1:]])
        if axis is None:
            return sizes
        if not is_listed(axis):
            return int(sizes[axis_of(axis, self.ndim)])
        return sizes[[axis_of(item, self.ndim) for item in as_list(axis, "axis", "ints")]]

    def get_shape(self) -> tuple[int | None, ...]:
        """`shape` under TensorFlow's older name.

        Returns
        -------
        tuple of (int or None)
            None for each level, because its sequences may differ in length.

        Examples
        --------
        >>> RaggedTensor([3, 1, 4], [2, 1]).get_shape()
        (2, None)
        """
        return self.shape

    def with_row_splits_dtype(self, dtype: Any) -> Self:
        """Return the tensor after checking that its splits fit a dtype. They stay int64.

        Parameters
        ----------
        dtype
            int32 or int64, NumPy's or torch's, or the name of one.

        Returns
        -------
        RaggedTensor
            This tensor.

        Raises
        ------
        TypeError
            Another dtype.
        OverflowError
            There are more rows than int32 can count.

        Examples
        --------
        >>> RaggedTensor([3, 1, 4], [2, 1]).with_row_splits_dtype("int32").row_splits.dtype
        dtype('int64')
        """
        type_name = str(dtype).removeprefix("torch.") if "torch." in str(dtype) else np.dtype(dtype).name
        if type_name not in ("int32", "int64"):
            raise type_error("dtype", f"expected int32 or int64, got {type_name}")
        maximum = max(level.total for level in self._levels)
        if type_name == "int32" and maximum > np.iinfo(np.int32).max:
            raise overflow_error("dtype", f"a split of {maximum} does not fit int32", number=maximum)
        return self

    def numpy(self) -> np.ndarray:  # type: ignore[override]
        """Convert to NumPy: one array if all lengths are equal, else an object array of arrays.

        Returns
        -------
        numpy.ndarray
            A level of equal lengths becomes an axis; any other becomes an object array with an array for each
            sequence. Tensors are copied to the host.

        Notes
        -----
        Like `tf.RaggedTensor.numpy`.

        Examples
        --------
        >>> RaggedTensor([3, 1, 4], [2, 1]).numpy()
        array([array([3, 1]), array([4])], dtype=object)
        >>> RaggedTensor([3, 1, 4, 1], [2, 2]).numpy()
        array([[3, 1],
               [4, 1]])
        """
        values: Any = self.cpu()._values
        block: np.ndarray = values.detach().numpy() if is_tensor(values) else values
        for level in reversed(self._levels):
            if len(level) == 0:
                block = block[:0].reshape(0)
            elif level.shortest == level.longest:
                block = block.reshape(len(level), level.longest, *block.shape[1:])
            else:
                rows = np.empty(len(level), object)
                for i, (begin, end) in enumerate(itertools.pairwise(level.offsets.tolist())):
                    rows[i] = block[begin:end]
                block = rows
        return block

    @classmethod
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: DTypes | None = None
    ) -> RaggedTensor[Any]:
        """Make one from a sparse matrix whose rows are filled from the left without gaps.

        Parameters
        ----------
        st_input
            A `varlen.tf.SparseTensor`, TensorFlow's, or a sparse tensor of torch, of two axes.
        name, row_splits_dtype
            Ignored: names have no effect, and splits are int64.

        Returns
        -------
        RaggedTensor
            A sequence for each row, even one without entries. The values are shared.

        Raises
        ------
        TypeError
            `st_input` is not sparse.
        ValueError
            The matrix does not have two axes, or an entry is out of order, follows a gap or lies beyond the
            shape.

        Examples
        --------
        >>> st = vl.tf.SparseTensor(indices=[[0, 0], [0, 1], [2, 0]], values=[3, 1, 4], dense_shape=[3, 2])
        >>> RaggedTensor.from_sparse(st).to_list()
        [[3, 1], [], [4]]
        """
        values, level = rows_of_sparse(st_input, "st_input")
        result: RaggedTensor[Any] = cls._make(values, (level,))
        return result

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """Convert to a sparse matrix: the values and their indices.

        Parameters
        ----------
        name
            Ignored.

        Returns
        -------
        SparseTensor
            indices int64 (entries, ndim), values (entries,) and dense_shape int64 (ndim,), the shape of
            `to_tensor`. Tensors have indices on their device.

        Examples
        --------
        >>> RaggedTensor([3, 1, 4], [2, 1]).to_sparse()
        SparseTensor(indices=array([[0, 0],
               [0, 1],
               [1, 0]]), values=array([3, 1, 4]), dense_shape=array([2, 2]))
        """
        return sparse_of(self._values, self._levels)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Self | Any:
        """Merge the axes from outer to inner into one.

        Parameters
        ----------
        outer_axis, inner_axis
            The first and the last axis to merge; negative ones count from the end.

        Returns
        -------
        RaggedTensor, numpy.ndarray or torch.Tensor
            An array or a tensor if no ragged axis is left. Shares values.

        Raises
        ------
        ValueError
            There is no such axis, or the outer one comes after the inner one.

        Examples
        --------
        >>> r = RaggedTensor.from_list([[[1, 2], [3]], [[4]]])
        >>> r.merge_dims(0, 1).to_list(), r.merge_dims(1, 2).to_list(), r.merge_dims(0, 2)
        ([[1, 2], [3], [4]], [[1, 2, 3], [4]], array([1, 2, 3, 4]))
        """
        return merge_dims(self, outer_axis, inner_axis)

    def expand_dims(self, axis: int) -> Self:
        """Insert an axis of size 1.

        Parameters
        ----------
        axis
            Its position in the result: 0 is around all sequences; then come those of each level, then those
            in the rows. Negative ones count from the end.

        Returns
        -------
        RaggedTensor
            Shares values.

        Raises
        ------
        ValueError
            There is no such position.

        Examples
        --------
        >>> r = RaggedTensor([3, 1, 4], [2, 1])
        >>> r.expand_dims(0).to_list(), r.expand_dims(1).to_list(), r.expand_dims(2).to_list()
        ([[[3, 1], [4]]], [[[3, 1]], [[4]]], [[[3], [1]], [[4]]])
        """
        result: Self = expand_dims(self, axis)
        return result

    def with_values(self, new_values: SequencesLike) -> Self:
        """Replace the rows of the outermost sequences.

        This replaces TensorFlow's `values`, which have one level fewer. `with_flat_values` replaces varlen's
        `values`.

        Parameters
        ----------
        new_values
            An array or a tensor, which is shared, with a row for each item of the outermost level; or a
            Ragged with a sequence for each.

        Returns
        -------
        RaggedTensor
            It shares the outermost level, with the levels of a Ragged below it.

        Raises
        ------
        ValueError
            `new_values` has another number of rows than the outermost level.

        Examples
        --------
        >>> r = RaggedTensor.from_list([[[1, 2], [3]], [[4]]])
        >>> r.with_values([7, 8, 9]).to_list()
        [[7, 8], [9]]
        """
        return self._make(*nest_rows(new_values, self._levels[:1], "new_values", "new_values"))

    def with_flat_values(self, new_values: SequencesLike) -> Self:
        """Replace the flat values; the levels are shared.

        Parameters
        ----------
        new_values
            An array or a tensor, which is shared, with as many rows as there are values; or a Ragged with as
            many sequences, which become the rows.

        Returns
        -------
        RaggedTensor
            It has the levels of this one, and those of a Ragged below them.

        Raises
        ------
        ValueError
            `new_values` has another number of rows than the values.

        Examples
        --------
        >>> RaggedTensor([3, 1, 4], [2, 1]).with_flat_values([[7], [8], [9]]).to_list()
        [[[7], [8]], [[9]]]
        """
        return self._make(*nest_rows(new_values, self._levels, "new_values", "new_values"))


def _sizes(shape: object, axes: int) -> list[int | None]:
    sizes = as_list(shape, "shape", "sizes")
    if len(sizes) != axes:
        raise value_error("shape", f"{len(sizes)} sizes for {axes} axes")
    return [None if size is None else as_int(size, "shape") for size in sizes]


def _data_lengths(rows: Values, padding: RowsLike) -> NDArray[np.int64]:
    """How many places of each row come before padding alone."""
    if isinstance(padding, RaggedBase):
        raise type_error("padding", "expected a number or one row, got a Ragged")
    inner = tuple(rows.shape[2:])
    pad = row_as(padding, rows[:0].reshape(0, *inner), "padding")
    is_pad = rows == pad
    if bool((pad != pad).any()):
        is_pad = is_pad | ((rows != rows) & (pad != pad))
    n, width = rows.shape[:2]
    is_data = ~as_ints(is_pad).reshape(n, width, math.prod(inner))
    data = is_data[:, :, 0] if is_data.shape[2] == 1 else is_data.any(2)
    if width == 0:
        return np.zeros(n, np.int64)
    last = width - 1 - data[:, ::-1].argmax(1)
    return np.where(data[np.arange(n), last], last + 1, 0)
