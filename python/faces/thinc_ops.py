"""Ops of Thinc that are a verb of the backends under another name."""

from __future__ import annotations

from frontend import Face

X = "(total, width) float32 or float64: all rows, end to end."
LENGTHS = "(n,) integers: the length of each sequence."
SOME = "(n,) integers, none of them 0: the length of each sequence."
BELOW_0, BELOW_1 = {"ValueError": "A length is below 0."}, {"ValueError": "A length is below 1."}
NO_FIT = {"IndexError": "The lengths do not add up to the rows."}
TYPES = {"lengths": "Ints", "seed": "int"}


def _method(
    name: str,
    summary: str,
    call: str,
    returns: str,
    texts: dict[str, str],
    example: str,
    raises: dict[str, str],
    notes: str = "but faster.",
    type: str = "Array",
) -> Face:
    """`call` is a verb of the backend with its arguments; `texts` says what those of the op are."""
    names = [word for key in texts for word in key.split(", ")]
    # What backends give is said by no type.
    ignore = "" if type.startswith("tuple") else "  # type: ignore[no-any-return]"
    return Face(
        name,
        ", ".join(f"{word}: {TYPES.get(word, 'Array')}" for word in names),
        summary,
        f"{call}{ignore}" if call.startswith("expand_rows(") else f"self._verbs.{call}{ignore}",
        example.replace("ops.", "vl.thinc.NumpyOps()."),
        texts,
        type=type,
        shape=returns,
        notes=f"Like NumpyOps' `{name}`, {notes}",
        raises=raises,
    )


def _reduce(name: str, texts: dict[str, str], raises: dict[str, str], gives: str) -> Face:
    example = f"""
    >>> ops.reduce_{name}(np.array([[1.0], [2.0], [3.0]]), np.array([2, 0, 1]))
    {gives}
    """
    return _method(
        f"reduce_{name}",
        f"The {name} of each sequence's rows, column by column; zeros for an empty one.",
        f'reduce("{name}", X, level_of(lengths, len(X)), 0)',
        "(n, width) of the dtype of X.",
        texts,
        example,
        raises,
    )


def _expand(
    name: str, argument: str, verb: str, noun: str, what: str, raises: dict[str, str], gives: str
) -> Face:
    example = f"""
    >>> ops.backprop_reduce_{name}(np.array([[1.0], [2.0]]), np.array([2, 1]))
    {gives}
    """
    return _method(
        f"backprop_reduce_{name}",
        f"The gradient of `reduce_{name}`: every row of sequence i gets row i{what}.",
        f'expand_rows(self._verbs.{verb}, "{argument}", {argument}, level_of(lengths))',
        f"(total, width) of the dtype of {argument}.",
        {argument: f"(n, width) the gradient of the {noun}.", "lengths": LENGTHS},
        example,
        raises,
    )


OPS = (
    _reduce(
        "sum",
        {"X": X, "lengths": LENGTHS},
        BELOW_0 | NO_FIT,
        """array([[3.],
           [0.],
           [3.]])""",
    ),
    _reduce(
        "mean",
        {"X, lengths": "As in `reduce_sum`."},
        {"ValueError, IndexError": "As in `reduce_sum`."},
        """array([[1.5],
           [0. ],
           [3. ]])""",
    ),
    _method(
        "reduce_max",
        "The largest number of each sequence, column by column, and its row in the sequence.\n\n"
        "        Ties give the first row. NaN counts as larger than any number.",
        'reduce_extreme("max", X, level_of(lengths, len(X), 1), None, True)',
        "(n, width) of the dtype of X, and (n, width) int32.",
        {"X": X, "lengths": SOME},
        """
        >>> ops.reduce_max(np.array([[1.0], [2.0], [3.0]]), np.array([2, 1]))
        (array([[2.],
               [3.]]), array([[1],
               [0]], dtype=int32))
        """,
        BELOW_1 | NO_FIT,
        type="tuple[Array, Array]",
    ),
    _expand(
        "sum",
        "d_sums",
        "expand",
        "sums",
        "",
        {"ValueError": "A length is below 0, or the number of lengths is not the number of rows."},
        """array([[1.],
           [1.],
           [2.]])""",
    ),
    _expand(
        "mean",
        "d_means",
        "expand_mean",
        "means",
        " divided by its length",
        {"ValueError": "As in `backprop_reduce_sum`."},
        """array([[0.5],
           [0.5],
           [2. ]])""",
    ),
    _method(
        "backprop_reduce_max",
        "The gradient of `reduce_max`: each number goes back to its row, the others get zeros.",
        'expand_rows(self._verbs.expand_which, "d_maxes", d_maxes, level_of(lengths, None, 1), which)',
        "(total, width) of the dtype of d_maxes.",
        {
            "d_maxes": "(n, width) the gradient of the maxima.",
            "which": "(n, width) integers: the rows that `reduce_max` returned.",
            "lengths": SOME,
        },
        """
        >>> d, which = np.array([[5.0], [7.0]]), np.array([[1], [0]])
        >>> ops.backprop_reduce_max(d, which, np.array([2, 1]))
        array([[0.],
               [5.],
               [7.]])
        """,
        BELOW_1 | {"IndexError": "A row is beyond its sequence."},
    ),
    _method(
        "backprop_softmax_sequences",
        "The gradient of `softmax_sequences`.",
        "backprop_softmax(dY, Y, level_of(lengths, len(dY)), False, 1.0)",
        "(total, width) of the dtype of dY.",
        {
            "dY": "(total, width) the gradient of the result.",
            "Y": "(total, width) the result.",
            "lengths": LENGTHS,
        },
        """
        >>> dY, Y = np.array([[1.0], [0.0], [1.0]]), np.array([[0.5], [0.5], [1.0]])
        >>> ops.backprop_softmax_sequences(dY, Y, np.array([2, 1]))
        array([[ 0.25],
               [-0.25],
               [ 0.  ]])
        """,
        BELOW_0 | NO_FIT,
    ),
    _method(
        "gather_add",
        "Add up the table rows that each row of indices selects.",
        "gather_add(table, indices)",
        "(n, width) of the dtype of table.",
        {"table": "(rows, width) float32 or float64.", "indices": "(n, k) integers in 0 ... rows - 1."},
        """
        >>> ops.gather_add(np.array([[1.0], [2.0], [4.0]]), np.array([[0, 1], [2, 2]]))
        array([[3.],
               [8.]])
        """,
        {"IndexError": "An index names no row."},
        "but faster, and every index is checked.",
    ),
    _method(
        "hash",
        "Four hashes of 32 bits for each id.",
        "hash(ids, seed)",
        "(n, 4) uint32.",
        {"ids": "(n,) uint64.", "seed": "From 0 to 2**32 - 1."},
        """
        >>> ops.hash(np.array([1], np.uint64), 0)
        array([[4211459146,    4457399, 3547175942, 1032506804]], dtype=uint32)
        """,
        {},
        "but faster. The hash is MurmurHash3_x64_128.",
    ),
)
