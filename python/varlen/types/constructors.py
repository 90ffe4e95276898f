"""Constructors of a Ragged from nested lists, padded blocks, row ids, offsets and nested tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, overload

from varlen._core import Level, RaggedBase
from varlen.arguments import as_int
from varlen.backends.values import ArrayT, as_ints
from varlen.errors import naming
from varlen.interop import neighbours
from varlen.interop.arrow_parts import is_foreign, sequences_from
from varlen.interop.nulls import Nulls
from varlen.ops.dense import unpad_block, values_of_list
from varlen.ops.support.inputs import one_level
from varlen.ops.support.outputs import make_container
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from varlen.backends.values import DTypes, Lengths, RowsT, SequencesLike
    from varlen.types.ragged import Ragged


class Constructors(RaggedBase[ArrayT]):
    """Constructors of `varlen.Ragged`, which inherits them.

    Examples
    --------
    >>> vl.Ragged.from_offsets([7, 8, 9], [0, 2, 3]).to_list()
    [[7, 8], [9]]
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def __init__(
            self,
            values: Any = None,
            lengths: Lengths | None = None,
            *,
            offsets: SequencesLike | None = None,
            levels: Any = None,
        ) -> None: ...

    @overload
    @classmethod
    def from_list(
        cls: type[Constructors[Any]],
        data: Sequence[RowsT] | Sequence[Sequence[RowsT]] | Sequence[Sequence[Sequence[RowsT]]],
        dtype: DTypes | None = None,
    ) -> Ragged[RowsT]: ...
    @overload
    @classmethod
    def from_list(
        cls: type[Constructors[Any]], data: Sequence[Any], dtype: DTypeLike | None = None
    ) -> Ragged[NDArray[Any]]: ...
    @classmethod
    def from_list(cls, data: Sequence[Any], dtype: Any = None) -> Ragged[Any]:
        """Make a Ragged from nested lists or tuples, or lists of arrays or tensors, at any depth.

        Parameters
        ----------
        data
            Nested lists: each nesting below the outermost list is a level. An array inside a list is a
            sequence of its rows, along its first axis. Strings become text of a fixed width, as in
            `numpy.array`; a joint dict stores them as ids with a vocabulary. Or a column of lists that Arrow
            reads, as `from_arrow` takes it.
        dtype
            The dtype of the values, NumPy's or, for tensors, torch's; by default NumPy's choice.

        Returns
        -------
        Ragged
            The Ragged, whose values are an array; for lists of tensors, a tensor on their device.

        Raises
        ------
        TypeError
            None or another object is among the numbers or strings, or numbers are given for a dtype of
            times, or times for one of numbers.
        ValueError
            The lists nest to different depths, the dtype cannot hold a value, or a string ends in NUL, which
            text of a fixed width cannot keep.

        Examples
        --------
        >>> vl.Ragged.from_list([[[1, 2], [3]], [], [[4]]]).shape
        (3, None, None)
        >>> vl.Ragged.from_list([["to", "be"], ["or"]]).lengths
        array([2, 1])
        """
        if not isinstance(data, (list, tuple)):
            if is_foreign(data):
                column: Any = cls.from_arrow(data)
                return cast("Ragged[Any]", column if dtype is None else column.astype(dtype))
            values, *cuts = neighbours.cut_of(data)
            if any(cut is not None for cut in cuts):
                result: Any = cls(values, **dict(zip(("lengths", "offsets", "levels"), cuts, strict=True)))
                return cast("Ragged[Any]", result if dtype is None else result.astype(dtype))
        return cast("Ragged[Any]", cls._make(*values_of_list(data, dtype)))

    @classmethod
    def from_arrow(cls, data: Any, *, nulls: str = "refuse", fill: object = None) -> Ragged[NDArray[Any]]:
        """Make a Ragged from a column of lists that shows itself to Arrow; `Ragged(data)` is the same.

        Parameters
        ----------
        data
            An object with `__arrow_c_array__` or `__arrow_c_stream__`: an array of pyarrow or nanoarrow, a
            column of polars or pandas, a Ragged. Each nesting of lists is a level; lists of fixed size below
            them are axes of a row.
        nulls
            "refuse" nulls; or "nan": a null is NaN or NaT, and integers become float64; or "fill": a null is
            `fill`. A null list is then an empty list.
        fill
            The value of a null.

        Returns
        -------
        Ragged
            Values and offsets of 64 bits share the memory of `data`; offsets are checked when they are first
            used.

        Raises
        ------
        TypeError
            `data` is no column, or holds something else than numbers and times.
        ValueError
            There is a null, which is named by its row; or offsets fall or leave the values.

        Examples
        --------
        >>> import pyarrow as pa
        >>> vl.Ragged.from_arrow(pa.array([[3, 1], None, [4]]), nulls="nan").to_list()
        [[3, 1], [], [4]]
        """
        return cast("Ragged[NDArray[Any]]", cls._make(*sequences_from(data, "data", Nulls(nulls, fill))))

    @classmethod
    def from_dense(
        cls,
        block: RowsT | Sequence[Any],
        lengths: Lengths | None = None,
        *,
        mask: SequencesLike | None = None,
        padding_side: str = "right",
        out: RowsT | None = None,
    ) -> Ragged[RowsT]:
        """Make a Ragged from a padded block and its lengths or mask. The inverse of `to_dense`.

        Parameters
        ----------
        block
            (n, width, ...): sequence i lies in block[i], on the side opposite to the padding.
        lengths
            (n,), none beyond width; or a `Level`; or a list of either, for a block with several ragged axes.
        mask
            (n, width) of bools, True where data is present, without gaps.
        padding_side
            "right" or "left": the side of the padding.
        out
            An array (total, ...) to write into; it becomes the values.

        Returns
        -------
        Ragged
            The sequences, with a level for each of `lengths`; values of the kind and dtype of the block,
            without padding.

        Raises
        ------
        ValueError
            A length exceeds the width, or a mask has gaps or its padding at the other side. The error names
            the row.

        Examples
        --------
        >>> vl.Ragged.from_dense(np.array([[1, 2, 0], [3, 0, 0]]), [2, 1]).to_list()
        [[1, 2], [3]]
        """
        result: Any = make_container(cls, *unpad_block(block, lengths, mask, padding_side, out))
        return cast("Ragged[RowsT]", result)

    @classmethod
    def from_row_ids(
        cls, values: RowsT | Sequence[Any], row_ids: ArrayLike | RowsT, count: int | None = None
    ) -> Ragged[RowsT]:
        """Make a Ragged from values and the sequence of each row.

        Parameters
        ----------
        values
            Rows laid end to end, (total, ...), as `Ragged` takes them.
        row_ids
            (total,) integers that never decrease.
        count
            The number of sequences; by default the last row id plus one.

        Returns
        -------
        Ragged
            A Ragged of one level, which shares the values.

        Raises
        ------
        TypeError
            The row ids are not integers.
        ValueError
            The row ids decrease, lie below 0 or beyond `count`, or are not one per row.

        Examples
        --------
        >>> vl.Ragged.from_row_ids([7, 8, 9], [0, 2, 2], count=4).lengths
        array([1, 0, 2, 0])
        """
        sequences = -1 if count is None else as_int(count, "count")
        with naming(levels="row_ids"):
            result: Any = cls(values, levels=(Level.from_row_ids(as_ints(row_ids), sequences),))
        return cast("Ragged[RowsT]", result)

    @classmethod
    def from_offsets(cls, values: RowsT | Sequence[Any], offsets: ArrayLike | RowsT) -> Ragged[RowsT]:
        """Make a Ragged from values and offsets.

        Parameters
        ----------
        values
            Rows laid end to end, (total, ...), as `Ragged` takes them.
        offsets
            (n + 1,) integers: 0 first, never decreasing, total last. For several levels, a list of these.

        Returns
        -------
        Ragged
            A Ragged with a level for each array of offsets, which shares the values.

        Raises
        ------
        TypeError
            The offsets are not integers.
        ValueError
            The offsets decrease, do not begin at 0, or do not end at the number of rows.

        Examples
        --------
        >>> vl.Ragged.from_offsets([7, 8, 9], [0, 2, 3]).to_list()
        [[7, 8], [9]]
        """
        result: Any = cls(values, offsets=offsets)
        return cast("Ragged[RowsT]", result)

    @classmethod
    def from_nested(cls, nested: torch.Tensor) -> Ragged[torch.Tensor]:
        """Make a Ragged from a nested torch tensor that is ragged at axis 1.

        Parameters
        ----------
        nested
            (n, lengths, ...), of either layout.

        Returns
        -------
        Ragged
            A Ragged of one level, whose values are a tensor; it shares memory if the layout is jagged.

        Raises
        ------
        TypeError
            The argument is not a nested tensor.
        ValueError
            The tensor is ragged at another axis, or at several.

        Examples
        --------
        >>> import torch
        >>> parts = [torch.tensor([3.0]), torch.tensor([1.0, 4.0])]
        >>> vl.Ragged.from_nested(torch.nested.nested_tensor(parts, layout=torch.jagged)).to_list()
        [[3.0], [1.0, 4.0]]
        """
        from varlen.interop.torch_nested import from_nested

        values, cut = from_nested(nested)
        return cast("Ragged[torch.Tensor]", cls(values, **cut))

    @eager_only()
    def to_nested(self) -> torch.Tensor:
        """Convert to a nested torch tensor with the jagged layout. The inverse of `from_nested`.

        Returns
        -------
        torch.Tensor
            A nested tensor (n, lengths, ...), which shares the values; autograd follows it.

        Raises
        ------
        ValueError
            There is more than one level.

        Examples
        --------
        >>> vl.Ragged([3.0, 1.0, 4.0], [1, 2]).to_nested().is_nested
        True
        """
        from varlen.interop.torch_nested import to_nested

        result: torch.Tensor = to_nested(self._values, one_level(self))
        return result
