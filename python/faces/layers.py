"""Layers of `varlen.transforms` that say a reduction, or a conversion of containers, once."""

from __future__ import annotations

from frontend import Face

ROWS = "(n, ...) for a Ragged, a Padded or a list of n sequences."
REFUSES = "What a sequence without rows gives{}; None{} refuses such a sequence."
KINDS = "Y and the gradient are of the kinds that `reduce_sum` gives"
LISTS = "[np.array([1.0]), np.array([2.0, 3.0])]"


def _reduce(
    name: str, summary: str, returns: str, gives: str, gradient: str, default: str = "None", empty: str = ""
) -> Face:
    return Face(
        f"reduce_{name}",
        f"*, empty: Any = {default}",
        summary,
        f'Layer("reduce_{name}", partial(reduce_rows, "{name}", empty))',
        f"""
        >>> Y, backprop = vl.transforms.reduce_{name}()(vl.Ragged([1.0, 2.0, 3.0], [2, 1]), True)
        >>> Y, backprop(Y).to_list()
        (array({gives}), {gradient})
        """,
        {"empty": REFUSES.format(empty, ", the default," if default == "None" else "")},
        returns,
        "Layer",
        notes=f"As Thinc's `reduce_{name}`, but trailing axes stay.",
    )


def _convert(name: str, summary: str, returns: str, notes: str, example: str) -> Face:
    return Face(
        name,
        "",
        summary,
        f'Layer("{name}", partial(convert, "{name}"))',
        example,
        returns=returns,
        type="Layer",
        notes=notes,
    )


LAYERS = (
    _reduce(
        "sum",
        f"The sum of each sequence's rows: {ROWS}",
        "Y is an array, or for a nested Ragged, whose innermost sequences are taken, a Ragged of the levels "
        "above. The gradient is of the kind of X.",
        "[3., 3.]",
        "[[3.0, 3.0], [3.0]]",
        "0",
    ),
    _reduce(
        "mean",
        f"The mean of each sequence's rows: {ROWS}",
        f"{KINDS}. Floats keep their dtype; integers give float64.",
        "[1.5, 3. ]",
        "[[0.75, 0.75], [3.0]]",
        "0",
    ),
    _reduce(
        "max",
        "The largest number of each sequence, column by column: (n, ...) for n sequences.\n\n"
        "    The gradient goes to the first row that holds it.",
        f"{KINDS}, and of the dtype of X.",
        "[2., 3.]",
        "[[0.0, 2.0], [3.0]]",
    ),
    _reduce(
        "first",
        f"The first row of each sequence: {ROWS}",
        f"{KINDS}. Rows may be of any dtype.",
        "[1., 3.]",
        "[[1.0, 0.0], [3.0]]",
        empty=", a number or a row",
    ),
    _reduce(
        "last",
        f"The last row of each sequence: {ROWS}",
        f"{KINDS}. Rows may be of any dtype.",
        "[2., 3.]",
        "[[0.0, 2.0], [3.0]]",
        empty=", a number or a row",
    ),
    _convert(
        "list2array",
        "Lay the arrays of a list end to end as one array; for a Ragged return its values.",
        "Y is (total, ...). The gradient is cut as X was, and of its kind.",
        "As Thinc's `list2array`, which says that it takes a Ragged, but does not.",
        f"""
        >>> Y, backprop = vl.transforms.list2array()({LISTS}, True)
        >>> Y, backprop(Y)
        (array([1., 2., 3.]), [array([1.]), array([2., 3.])])
        """,
    ),
    _convert(
        "list2ragged",
        "Convert a list of arrays (length, ...) to a Ragged. A Ragged passes through.",
        "Y is a Ragged of one level. The gradient is a list of arrays of the shapes that came.",
        "As Thinc's `list2ragged`, whose gradients lose trailing axes, and which refuses a Ragged.",
        f"""
        >>> r, backprop = vl.transforms.list2ragged()({LISTS}, True)
        >>> r.lengths.tolist(), backprop(r)
        ([1, 2], [array([1.]), array([2., 3.])])
        """,
    ),
    _convert(
        "ragged2list",
        "Convert a Ragged of one level to a list of views, (length, ...) each.",
        "Y is a list. The gradient is a Ragged.",
        "As Thinc's `ragged2list`.",
        """
        >>> Y, backprop = vl.transforms.ragged2list()(vl.Ragged([1.0, 2.0], [0, 2]), True)
        >>> Y, backprop(Y).lengths.tolist()
        ([array([], dtype=float64), array([1., 2.])], [0, 2])
        """,
    ),
    _convert(
        "list2padded",
        "Convert a list of arrays (length, ...) to a Padded. A Padded passes through.",
        "Y is a Padded. The gradient is a list of arrays of the shapes that came.",
        "As Thinc's `list2padded`, which takes arrays of two axes only.",
        f"""
        >>> p, backprop = vl.transforms.list2padded()({LISTS}, True)
        >>> p.data.tolist(), backprop(p)
        ([[2.0, 1.0], [3.0, 0.0]], [array([1.]), array([2., 3.])])
        """,
    ),
    _convert(
        "padded2list",
        "Convert a Padded to a list of arrays (length, ...), in their original order.",
        "Y is a list. The gradient is a Padded with the order of columns that X has.",
        "As Thinc's `padded2list`; the gradient has the columns that X has.",
        """
        >>> vl.transforms.padded2list().predict(vl.Padded.from_list([[1], [2, 3]]))
        [array([1]), array([2, 3])]
        """,
    ),
)
