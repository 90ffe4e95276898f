"""Between lists of arrays, ragged and time-major containers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from varlen.errors import instance_error
from varlen.ops.support.outputs import padded_class
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from varlen.backends.values import ArrayT, RowsLike, RowsT, SequencesLike
    from varlen.types import Padded, Ragged


@eager_only()
def list2padded(
    seqs: Sequence[RowsT] | Sequence[Sequence[Any]],
    *,
    ties: str = "reversed",
    fill: RowsLike | None = None,
    max_bytes: int | None = None,
) -> Padded[RowsT]:
    """Lay arrays side by side in one time-major block, the longest first.

    Parameters
    ----------
    seqs
        B arrays, (length, ...), or what `np.asarray` makes arrays of. Only their lengths may differ; dtypes
        are promoted as NumPy does. Torch tensors give tensors. No arrays give float32 of shape (0, 0, 0).
    ties
        The order of equally long sequences: "reversed", as in Thinc, or "stable".
    fill
        The fill after the end of a sequence: a number, or an array that broadcasts to one row; zeros by
        default.
    max_bytes
        Refuse a block larger than this; half of the machine's memory by default.

    Returns
    -------
    Padded
        The block: data (L, B, ...), never a view of the input; size_at_t (L,), lengths (B,) and indices (B,)
        int64.

    Raises
    ------
    TypeError
        The argument is not a list of arrays, an array holds Python objects, or the dtypes have no common one.
    ValueError
        Arrays differ in more than their length (the message names the array), an option is wrong, or the
        block exceeds max_bytes.
    OverflowError
        The dtype cannot hold `fill`.

    Notes
    -----
    Thinc's `Ops.list2padded` takes only arrays of two dimensions, and returns a view if there is one array.

    Examples
    --------
    >>> p = vl.ops.list2padded([np.array([1, 2]), np.array([3]), np.array([4, 5])])
    >>> p.data, p.indices
    (array([[4, 1, 3],
           [5, 2, 0]]), array([2, 0, 1]))
    """
    result: Padded[RowsT] = padded_class().from_list(seqs, ties=ties, fill=fill, max_bytes=max_bytes)
    return result


@eager_only()
def padded2list(padded: Padded[ArrayT]) -> list[ArrayT]:
    """The sequences in their original order.

    Parameters
    ----------
    padded
        A `Padded`. Its padding is not read.

    Returns
    -------
    list of numpy.ndarray or torch.Tensor
        An array (length, ...) for each sequence, of the dtype of the block; all are views of one new array.

    Raises
    ------
    TypeError
        The argument is not a Padded.

    Notes
    -----
    As Thinc's `Ops.padded2list`.

    Examples
    --------
    >>> vl.ops.padded2list(vl.ops.list2padded([np.array([1]), np.array([2, 3])]))
    [array([1]), array([2, 3])]
    """
    result: list[ArrayT] = _check_padded(padded).to_list()
    return result


@eager_only()
def ragged2padded(
    ragged: Ragged[ArrayT],
    *,
    ties: str = "reversed",
    fill: RowsLike | None = None,
    max_bytes: int | None = None,
) -> Padded[ArrayT]:
    """Convert a Ragged to one time-major block, the longest sequence first.

    Parameters
    ----------
    ragged
        A `Ragged` of one level, of any dtype of fixed width.
    ties
        The order of equally long sequences: "reversed", as in Thinc, or "stable".
    fill
        The fill after the end of a sequence: a number, or an array that broadcasts to one row; zeros by
        default.
    max_bytes
        Refuse a block larger than this; half of the machine's memory by default.

    Returns
    -------
    Padded
        The block: data (L, B, ...), never a view of the input; size_at_t (L,), lengths (B,) and indices (B,)
        int64.

    Raises
    ------
    TypeError
        The argument is not a Ragged.
    ValueError
        The Ragged has several levels, an option is wrong, or the block exceeds max_bytes.
    OverflowError
        The dtype cannot hold `fill`.

    Examples
    --------
    >>> vl.ops.ragged2padded(vl.Ragged([3, 1, 4], [1, 2])).size_at_t
    array([2, 1])
    """
    padded = padded_class(type(ragged))
    result: Padded[ArrayT] = padded.from_ragged(ragged, ties=ties, fill=fill, max_bytes=max_bytes)
    return result


@eager_only()
def padded2ragged(padded: Padded[ArrayT]) -> Ragged[ArrayT]:
    """Convert a Padded to a Ragged, in the original order.

    Parameters
    ----------
    padded
        A `Padded`. Its padding is not read.

    Returns
    -------
    Ragged
        A Ragged of one level. The values, (total, ...) of the dtype of the block, are a copy.

    Raises
    ------
    TypeError
        The argument is not a Padded.

    Examples
    --------
    >>> vl.ops.padded2ragged(vl.ops.list2padded([np.array([1]), np.array([2, 3])])).values
    array([1, 2, 3])
    """
    result: Ragged[ArrayT] = _check_padded(padded).to_ragged()
    return result


def _check_padded(padded: SequencesLike) -> Any:
    if not isinstance(padded, padded_class()):
        raise instance_error("padded", "a Padded", padded)
    return padded
