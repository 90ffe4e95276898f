"""Methods of a Ragged that are functions of `varlen.ops` with a shape of their own."""

from __future__ import annotations

import re

from frontend import Face


def _method(
    name: str,
    arguments: str,
    summary: str,
    returns: str,
    example: str,
    raises: str | dict[str, str],
    *,
    texts: dict[str, str] | None = None,
    kind: str = "Ragged",
    type: str = "Self",
    notes: str = "",
    call: str = "",
    overloads: tuple[tuple[str, str], ...] = (),
    has_dim: bool = False,
) -> Face:
    """What is not said of arguments and errors is as the function has it."""
    names = re.findall(r"(\w+):", arguments)
    text = f"As in `ops.{name}`."
    return Face(
        name,
        arguments,
        summary,
        call or f"{name}(self, {', '.join(f'{word}={word}' for word in names)})",
        example,
        texts or {", ".join(names): text},
        returns,
        type,
        kind=kind,
        notes=notes,
        raises={raises: text} if isinstance(raises, str) else raises,
        is_any=type == "Self",
        overloads=overloads,
        has_dim=has_dim,
    )


METHODS = (
    _method(
        "attention_pool",
        "scores: SequencesLike, *, level: int = -1, temperature: float = 1.0",
        "The sum of each sequence's rows, weighted by the softmax of scores; as `ops.attention_pool`.",
        "The weighted sums; zeros for a sequence without rows.",
        """
        >>> vl.Ragged([1.0, 3.0, 5.0], [2, 1]).attention_pool(np.zeros(3))
        array([2., 5.])
        """,
        "TypeError, ValueError, IndexError",
        texts={
            "scores": "(total,), or (total, heads), or a Ragged of these that nests as this one.",
            "level": "The level whose sequences become one row each; -1 is the innermost.",
            "temperature": "The divisor of the scores.",
        },
        kind="(n, ...) or (n, heads, ...) array or tensor, or Ragged of the levels above",
        type="ArrayT | Any",
    ),
    _method(
        "diff",
        "n: int = 1, *, level: int = -1",
        "Subtract from each row the previous row of its sequence, n times; as `np.diff`.",
        "The differences, of the same dtype: bools are compared, unsigned integers wrap. Autograd follows.",
        """
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).diff().to_list()
        [[-2, 3], [], [4]]
        """,
        {"ValueError": "n is below 0.", "IndexError": "There is no such level."},
        texts={
            "n": "The number of times; a sequence loses n rows, or all.",
            "level": "The level whose sequences are differenced; -1 is the innermost.",
        },
        has_dim=True,
    ),
    _method(
        "bincount",
        "minlength: int = 0, weights: SequencesLike | None = None, *, level: int = -1",
        "Count how often each number occurs in each sequence, or add up weights.",
        "int64, or with weights float64; of tensors, the dtype of the weights, through which gradients flow.",
        """
        >>> vl.Ragged([1, 1, 2, 0], [3, 1]).bincount(minlength=4)
        array([[0, 2, 1, 0],
               [1, 0, 0, 0]])
        """,
        "TypeError, ValueError",
        kind="(n, k) array or tensor, or Ragged of the levels above",
        type="ArrayT | Any",
        notes="As TensorFlow's `tf.math.bincount(axis=-1)`.",
    ),
    _method(
        "searchsorted",
        'v: Any, side: str = "left", *, level: int = -1',
        "Find where numbers go in each ascending sequence; as `np.searchsorted`.",
        "Positions inside the sequences, int64, from 0 to the length, in the form of `v`.",
        """
        >>> r = vl.Ragged([1, 3, 5, 2], [3, 1])
        >>> r.searchsorted(vl.Ragged([4, 0, 2], [2, 1]), side="right").to_list(), r.searchsorted([3, 3])
        ([[2, 0], [1]], array([1, 1]))
        """,
        {
            "ValueError": "The side is unknown, `v` has another number of sequences, or rows hold several "
            "numbers."
        },
        kind="array, tensor or Ragged",
        type="ArrayT | Any",
        notes="As `np.searchsorted`. Sequences must ascend, with NaN last; this is not checked.",
        overloads=(
            ('v: RaggedT, side: str = "left", *, level: int = -1', "RaggedT"),
            ('v: ArrayLike | ArrayT, side: str = "left", *, level: int = -1', "ArrayT"),
        ),
    ),
    _method(
        "sliding_window",
        "width: int, *, level: int = -1",
        """Join each row with the next `width` - 1 rows of its sequence, if there are enough.

        Nothing is padded: a sequence loses `width` - 1 rows, or all. `ops.windows` has shorter windows and
        steps, `sequence_enumerate` pads, `ops.ngrams` hashes.""",
        "Windows: rows (width, ...) of the same dtype. Autograd follows.",
        """
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sliding_window(2).to_list()
        [[[3, 1], [1, 4]], [], [[1, 5]]]
        """,
        {
            "ValueError": "The width is below 1, or the result exceeds half of the machine's memory.",
            "IndexError": "There is no such level.",
        },
    ),
    _method(
        "broadcast_rows",
        "rows: SequencesLike, *, level: int = -1",
        """Repeat one row per sequence for all values below it: a Ragged that nests like this one.

        Operators do the same with a Ragged of fewer levels.""",
        "A Ragged that nests as this one, with values of the kind and dtype of the rows.",
        """
        >>> r = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
        >>> r.broadcast_rows([7, 8], level=0).to_list(), r.broadcast_rows([7, 8, 9]).to_list()
        ([[[7, 7], [7]], [[8]]], [[[7, 7], [8]], [[9]]])
        """,
        "ValueError, IndexError",
    ),
    _method(
        "tile",
        "multiples: SequencesLike",
        "Repeat the contents of each axis end to end.",
        "The repeated contents, with as many levels and the same dtype.",
        """
        >>> vl.Ragged([3, 1, 4], [2, 1]).tile([1, 2]).to_list()
        [[3, 1, 3, 1], [4, 4]]
        >>> vl.Ragged([3, 1, 4], [2, 1]).tile([2, 1]).to_list()
        [[3, 1], [4], [3, 1], [4]]
        """,
        {"ValueError": "The numbers do not match the axes, or one is below 0."},
        texts={"multiples": "The number of repeats for each axis, 0 or more."},
        notes="As TensorFlow's `tf.tile`.",
    ),
    _method(
        "gather",
        "indices: SequencesLike, axis: int | None = None, *, batch_dims: int = 0",
        "Take items along an axis by index, from the whole container or inside each sequence.",
        "The items taken: the axes before `axis`, those of `indices` after `batch_dims`, then those "
        "after `axis`; an array if none of them is ragged.",
        """
        >>> r = vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2])
        >>> r.gather([2, 0]).to_list(), r.gather([[2], [1]]).to_list()
        ([[1, 5], [3, 1, 4]], [[[1, 5]], [[]]])
        >>> r.gather(vl.Ragged([2, 0, 1], [2, 0, 1]), batch_dims=1).to_list()
        [[4, 3], [], [5]]
        """,
        "TypeError, IndexError, ValueError",
        kind="Ragged or array",
        type="Self | Any",
        notes="As TensorFlow's `tf.gather` and `tf.gather(batch_dims=)`.",
    ),
    _method(
        "boolean_mask",
        "mask: SequencesLike, *, flatten: bool = False",
        "Keep what a mask marks: sequences, their contents or numbers, depending on the depth of the mask.",
        "What the mask keeps, with as many levels; with `flatten` an array, or a Ragged of the levels below "
        "the mask.",
        """
        >>> r = vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2])
        >>> r.boolean_mask(r > 1).to_list(), r.boolean_mask([True, True, False]).to_list()
        ([[3, 4], [], [5]], [[3, 1, 4], []])
        >>> r.boolean_mask(r > 1, flatten=True)
        array([3, 4, 5])
        """,
        "TypeError, ValueError",
        kind="Ragged or array",
        type="Self | ArrayT | Any",
        overloads=(
            ("mask: SequencesLike, *, flatten: Literal[False] = False", "Self"),
            ("mask: SequencesLike, *, flatten: bool", "ArrayT | Any"),
        ),
    ),
    _method(
        "fill_empty_rows",
        "default: RowsLike",
        "Put one row into each empty innermost sequence, and return which were empty.",
        "Bools, True for sequences that were empty: (n,), or a Ragged of the levels above.",
        """
        >>> filled, was_empty = vl.Ragged([3, 1, 4], [2, 0, 1]).fill_empty_rows(-1)
        >>> filled.to_list(), was_empty
        ([[3, 1], [-1], [4]], array([False,  True, False]))
        """,
        {"ValueError": "The dtype cannot hold `default`, or its shape does not fit."},
        texts={"default": "The row: a number, or an array that broadcasts to a row."},
        kind="(Ragged, indicator)",
        type="tuple[Self, ArrayT | Any]",
        notes="As TensorFlow's `tf.ragged.fill_empty_rows`.",
    ),
    _method(
        "sort",
        "axis: int | None = None, *, level: int = -1, descending: bool = False",
        "Sort the rows of each sequence, ascending or descending; as `ops.sort`.",
        "The sorted rows, of the same dtype. NaN comes last; equal numbers keep their order. Autograd "
        "follows.",
        """
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sort(descending=True).to_list()
        [[4, 3, 1], [], [5, 1]]
        """,
        {
            "TypeError": "The values are not numbers.",
            "ValueError": "There is no such axis, or both an axis and a level are given.",
            "IndexError": "There is no such level.",
        },
        texts={
            "axis": "Instead of `level`: the axis along which numbers are sorted, counted as in NumPy.",
            "level": (
                "The level inside whose sequences numbers are sorted; levels below it are merged. -1 is "
                "the innermost."
            ),
            "descending": "If True, the largest number comes first; NaN stays last.",
        },
        call="sort_rows(self, None, axis, level, descending, False)",
        has_dim=True,
    ),
    _method(
        "argsort",
        "axis: int | None = None, *, level: int = -1, descending: bool = False",
        "The positions that sort each sequence; as `ops.argsort`.",
        "Positions along the sorted axis, int64: inside the sequence, or for `axis=0` the numbers of the "
        "sequences.",
        """
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).argsort().to_list()
        [[1, 0, 2], [], [0, 1]]
        """,
        "TypeError, ValueError, IndexError",
        call="sort_rows(self, None, axis, level, descending, True)",
        has_dim=True,
    ),
    _method(
        "topk",
        "k: int, *, level: int = -1, largest: bool = True, dense: bool = False, fill: RowsLike = 0",
        "The k largest numbers of each sequence in order, and their positions; as `ops.topk`.",
        "The numbers and their positions (int64), min(length, k) rows in each sequence. With `dense` "
        "arrays (n, k, ...); for several levels, Ragged of the levels above, with such rows.",
        """
        >>> best, which = vl.Ragged([3, 1, 4, 5], [3, 1]).topk(2)
        >>> best.to_list(), which.to_list()
        ([[4, 3], [5]], [[2, 0], [0]])
        """,
        {
            "TypeError": "The values are not numbers.",
            "ValueError": "k is below 1, or the dtype cannot hold `fill`.",
            "IndexError": "There is no such level.",
        },
        texts={
            "k": "The number to keep, at least 1; a shorter sequence keeps all.",
            "level": (
                "The level whose sequences are searched; levels below it are merged. -1 is the innermost."
            ),
            "largest": "True for the largest numbers, largest first; False for the smallest, smallest first.",
            "dense": "If True, return rectangles, filled up where a sequence is shorter.",
            "fill": "The fill of the values; positions are filled with -1.",
        },
        kind="values, places : Ragged",
        type="tuple[Self | ArrayT | Any, Self | ArrayT | Any]",
        overloads=(
            (
                "k: int, *, level: int = -1, largest: bool = True, dense: Literal[False] = False, "
                "fill: RowsLike = 0",
                "tuple[Self, Self]",
            ),
            (
                "k: int, *, level: int = -1, largest: bool = True, dense: bool, fill: RowsLike = 0",
                "tuple[ArrayT | Any, ArrayT | Any]",
            ),
        ),
        has_dim=True,
    ),
    _method(
        "unique",
        "*, level: int = -1, inverse: bool = False, counts: bool = False",
        "The distinct numbers of each sequence, in ascending order; as `ops.unique`.",
        "The distinct numbers of each sequence; then, if asked for, the inverse (int64, nests as this one) "
        "and the counts (int64, nest as the numbers). All NaN count as one, which comes last.",
        """
        >>> values, often = vl.Ragged([3, 1, 3, 5], [3, 1]).unique(counts=True)
        >>> values.to_list(), often.to_list()
        ([[1, 3], [5]], [[1, 2], [1]])
        """,
        "TypeError, ValueError, IndexError",
        kind="Ragged or tuple of Ragged",
        type="Self | Any",
        overloads=(
            ("*, level: int = -1, inverse: Literal[False] = False, counts: Literal[False] = False", "Self"),
            (
                "*, level: int = -1, inverse: Literal[True], counts: Literal[False] = False",
                "tuple[Self, Self]",
            ),
            (
                "*, level: int = -1, inverse: Literal[False] = False, counts: Literal[True]",
                "tuple[Self, Self]",
            ),
            ("*, level: int = -1, inverse: Literal[True], counts: Literal[True]", "tuple[Self, Self, Self]"),
            ("*, level: int = -1, inverse: bool = False, counts: bool = False", "Self | tuple[Self, ...]"),
        ),
    ),
    _method(
        "rank",
        '*, level: int = -1, method: str = "ordinal", descending: bool = False',
        "The rank of each number inside its sequence, counted from 1; as `ops.rank`.",
        'The ranks, which nest as this one: int64, or float64 for "average". All NaN are equal, and rank '
        "last.",
        """
        >>> vl.Ragged([3, 1, 3, 5], [3, 1]).rank(method="average").to_list()
        [[2.5, 1.0, 2.5], [1.0]]
        """,
        "TypeError, ValueError, IndexError",
    ),
    _method(
        "reverse",
        "*, level: int = -1",
        "Reverse the contents of each sequence; as `ops.reverse`.",
        "The reversed contents, with the same lengths at the level and the same dtype.",
        """
        >>> vl.Ragged([3, 1, 4], [2, 1]).reverse().to_list()
        [[1, 3], [4]]
        """,
        "IndexError",
        texts={"level": "As in `ops.reverse`."},
    ),
    _method(
        "shift",
        "by: SequencesLike, *, level: int = -1, fill: RowsLike = 0",
        "Shift the contents of each sequence by `by` places; as `ops.shift`. Rows that leave it are lost.",
        "The shifted contents, with the same lengths at the level and the same dtype.",
        """
        >>> vl.Ragged([3, 1, 4], [2, 1]).shift(-1, fill=9).to_list()
        [[1, 9], [9]]
        >>> vl.Ragged.from_list([[[1, 2], [3]], [[4]]]).shift(1, level=0).to_list()
        [[[], [1, 2]], [[]]]
        """,
        "TypeError, ValueError, IndexError",
    ),
    _method(
        "roll",
        "by: SequencesLike, *, level: int = -1",
        "Shift the contents of each sequence cyclically by `by` places; as `ops.roll`.",
        "The shifted contents, with the same lengths at the level and the same dtype.",
        """
        >>> vl.Ragged([3, 1, 4, 1], [3, 1]).roll(1).to_list()
        [[4, 3, 1], [1]]
        """,
        "TypeError, ValueError, IndexError",
        has_dim=True,
    ),
)
