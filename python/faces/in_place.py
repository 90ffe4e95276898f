"""The verbs that keep each row in its place: running sums and their kin, softmax."""

from arguments import (
    AXIS,
    DTYPE,
    EXCLUSIVE,
    INPLACE,
    LEVEL_IN_PLACE,
    OUT_IN_PLACE,
    OVERFLOW,
    REVERSE,
    TEMPERATURE,
    WHICH_IN_PLACE,
)
from verb import Argument, Verb

ROWS = "(total, ...), a Ragged for a Ragged. "
SUMS = "Floats keep their dtype; bools and signed integers give int64, unsigned ones uint64, which wrap."
RAISES = {
    "TypeError": "The values are not numbers.",
    (
        "ValueError"
    ): "Lengths are negative or do not add up to the rows; no such axis, or an axis and a level.",
    "IndexError": "There is no such level.",
}
BEYOND = {
    (
        "OverflowError"
    ): 'With `overflow="raise"`: the dtype cannot hold a number. The error names it and its position.'
}


def _excluding(text: str) -> Argument:
    return EXCLUSIVE.with_default("False", f"Leave out the row itself: {text}.")


def _scan_verb(name: str, noun: str, first: str, notes: str, example: str, method_example: str) -> Verb:
    return Verb(
        f"cum{name}",
        f"cum{name}",
        "in place",
        "scan",
        f"The running {noun} of each sequence, column by column. Each sequence starts anew.",
        (
            f'scan_rows("{name}", {{X}}, {{lengths}}, {{axis}}, {{level}}, {{exclusive}}, {{reverse}}, '
            f"{{out}}, {{dtype}}, {{overflow}})"
        ),
        (AXIS, LEVEL_IN_PLACE, _excluding(first), REVERSE, OUT_IN_PLACE, DTYPE, OVERFLOW),
        returns=ROWS + SUMS,
        method_returns=f"Nests as this one. {SUMS}",
        method_summary=f"The running {noun} of each sequence, column by column",
        raises=RAISES | BEYOND,
        notes=notes,
        example=example,
        method_example=method_example,
        by="scan",
        ufunc={"sum": "add", "prod": "multiply"}[name],
        numpy="axis dtype out",
        torch="dim dtype",
    )


CUMSUM = _scan_verb(
    "sum",
    "sum",
    "the first row is 0, the next one the first row of X, and so on",
    (
        "Float32 is added in float64, float16 and bfloat16 in float32, and each number that is written is"
        " rounded once; float64 is added row after row, as `np.cumsum` does. A sequence gives the same "
        "bits alone, in a batch and with any number of threads. Nothing is ever subtracted: NaN, an "
        "infinity or a large number stays in its sequence."
    ),
    """
    >>> vl.ops.cumsum([3, 1, 4, 1, 5], [3, 2])
    array([3, 4, 8, 1, 6])
    >>> vl.ops.cumsum([3, 1, 4, 1, 5], [3, 2], exclusive=True)
    array([0, 3, 4, 0, 1])
    >>> vl.ops.cumsum(vl.Ragged([3, 1, 4, 1, 5], [3, 2]), reverse=True).to_list()
    [[8, 5, 4], [6, 5]]
    >>> vl.ops.cumsum([3, 1, 4, 1, 5], [3, 2], dtype=np.float32)
    array([3., 4., 8., 1., 6.], dtype=float32)
    """,
    """
    >>> vl.Ragged([3, 1, 4], [2, 1]).cumsum().to_list()
    [[3, 4], [4]]
    """,
)
CUMPROD = _scan_verb(
    "prod",
    "product",
    "the first row is 1",
    "",
    """
    >>> vl.ops.cumprod([3, 2, 4, 5, 2], [3, 2])
    array([ 3,  6, 24,  5, 10])
    """,
    """
    >>> vl.Ragged([3, 2, 4], [2, 1]).cumprod().to_list()
    [[3, 6], [4]]
    """,
)


def _extreme(name: str, adjective: str, first: str, notes: str, example: str, method_gives: str) -> Verb:
    return Verb(
        f"cum{name}",
        f"cum{name}",
        "in place",
        "scan",
        f"The {adjective} number so far of each sequence, column by column; NaN from the first NaN on.",
        (
            f'scanned_extreme("{name}", {{X}}, {{lengths}}, {{axis}}, {{level}}, {{exclusive}}, '
            f"{{reverse}}, {{which}}, {{out}})"
        ),
        (AXIS, LEVEL_IN_PLACE, _excluding(first), REVERSE, WHICH_IN_PLACE, OUT_IN_PLACE),
        returns=(
            "(total, ...) of the dtype of X, a Ragged for a Ragged. With `which` also int64 of the "
            "same shape: the row inside the sequence that holds the number, the first of equal ones "
            "in the direction of the scan; -1 where no row came before."
        ),
        method_returns="Nests as this one, of the dtype of the values. NaN from the first NaN on.",
        method_summary=f"The {adjective} number so far of each sequence, column by column",
        raises=RAISES,
        notes=notes,
        example=example,
        method_example=f"""
        >>> vl.Ragged([3, 1, 4, 2], [3, 1]).cum{name}().to_list()
        {method_gives}
        """,
        by="scan_extreme",
        ufunc=f"{name}imum",
        has_dim=True,
    )


CUMMAX = _extreme(
    "max",
    "largest",
    "the first row is the lowest number of the dtype, -inf for floats",
    "With `which` as `torch.cummax`, except that the first of equal numbers wins, as in `reduce_max`.",
    """
    >>> vl.ops.cummax([3, 1, 4, 1, 5], [3, 2])
    array([3, 3, 4, 1, 5])
    >>> vl.ops.cummax([3, 1, 4, 1, 5], [3, 2], which=True)[1]
    array([0, 0, 2, 0, 1])
    """,
    "[[3, 3, 4], [2]]",
)
CUMMIN = _extreme(
    "min",
    "smallest",
    "the first row is the highest number of the dtype, inf for floats",
    "",
    """
    >>> vl.ops.cummin([3, 1, 4, 1, 5], [3, 2])
    array([3, 1, 1, 1, 1])
    """,
    "[[3, 1, 1], [2]]",
)

_SHARES = "Floats keep their dtype; integers and bools give float64."
_SOFTMAX_RAISES = {
    "TypeError": "The values are not numbers.",
    ("ValueError"): (
        "Lengths are negative or do not add up to the rows; the temperature is not above zero; there is no "
        "such axis, or both an axis and a level are given; with `inplace`, X is read-only, not contiguous "
        "or not floats."
    ),
    "IndexError": "There is no such level.",
}
_ALONG = AXIS.with_default(
    "None",
    (
        "Instead of `level`: the axis along which shares add up to one, counted as in NumPy. Axis 0 runs "
        "across the sequences, position by position; -1 is the last axis of the rows."
    ),
)


def _softmax(
    log: bool, summary: str, method_summary: str, see_also: str, notes: str, example: str, method: str
) -> Verb:
    name = "log_softmax" if log else "softmax"
    return Verb(
        name,
        name,
        "in place",
        "softmax",
        summary,
        (
            f"exponentiate({{X}}, {{lengths}}, {log}, {{axis}}, {{level}}, {{temperature}}, {{out}}, "
            f"{{inplace}})"
        ),
        (_ALONG, LEVEL_IN_PLACE, TEMPERATURE, OUT_IN_PLACE, INPLACE),
        returns=ROWS + _SHARES,
        method_returns=f"Nests as this one. {_SHARES}",
        method_summary=method_summary,
        raises=_SOFTMAX_RAISES,
        see_also=see_also,
        notes=notes,
        example=example,
        method_example=method,
        by="softmax",
        torch="dim dtype",
    )


SOFTMAX = _softmax(
    False,
    "The softmax of each sequence's rows, column by column.",
    "The softmax of each sequence's rows, column by column",
    "log_softmax, backprop_softmax",
    (
        "As Thinc's `Ops.softmax_sequences`, which clips to [-20, 20] instead of subtracting the "
        "largest number. NaN or +inf makes its column of the sequence NaN, and so do numbers that are all "
        "-inf; beside other numbers -inf gives 0. A gradient of 0 stays 0 in such a column, so that "
        "values a loss leaves out make nothing else NaN. Float16 and bfloat16 are computed in float32. A "
        "sequence gives the same bits alone, in a batch and with any number of threads."
    ),
    """
    >>> vl.ops.softmax(np.array([0.0, 0.0, 3.0]), [2, 1])
    array([0.5, 0.5, 1. ])
    >>> vl.ops.softmax(np.array([[0.0, 0.0], [1.0, 1.0]]), [1, 1], axis=-1)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """,
    """
    >>> vl.Ragged([0.0, 0.0, 7.0], [2, 1]).softmax().values
    array([0.5, 0.5, 1. ])
    """,
)
LOG_SOFTMAX = _softmax(
    True,
    "The logarithm of `softmax`, computed directly, so that tiny shares keep their precision.",
    "The logarithm of `softmax`, precise for tiny shares",
    "softmax, backprop_log_softmax",
    "",
    """
    >>> vl.ops.log_softmax(np.array([0.0, 1000.0, 3.0]), [2, 1])
    array([-1000.,     0.,     0.])
    """,
    """
    >>> vl.Ragged([0.0, 1000.0, 7.0], [2, 1]).log_softmax().values
    array([-1000.,     0.,     0.])
    """,
)

VERBS = (CUMSUM, CUMPROD, CUMMAX, CUMMIN, SOFTMAX, LOG_SOFTMAX)
