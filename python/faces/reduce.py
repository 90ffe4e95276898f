"""The verbs that give a row for each sequence."""

from typing import Any

from arguments import AXES, DDOF, DTYPE, EMPTY, LEVEL, OUT, OVERFLOW, WHICH
from verb import Argument, DataMethod, Verb

ROWS = "(n, ...), for more levels a Ragged of those above. "
SUMS = "Floats keep their dtype; bools and signed integers give int64, unsigned ones uint64, which wrap."
MEANS = "Floats keep their dtype; integers and bools give float64."
OF_METHOD = "(n, ...) array or tensor, or Ragged of the levels above"

NO_NUMBERS = "Values that are not numbers."
NO_FIT = (
    "Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is"
    " None, which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a "
    "level."
)
RAISES = {"TypeError": NO_NUMBERS, "ValueError": NO_FIT, "IndexError": "There is no such level."}
BEYOND = {
    (
        "OverflowError"
    ): 'With "raise" a result that its dtype cannot hold; it is named with its sequence and column.'
}


def _fold(name: str, empty: str, arguments: tuple[Argument, ...] | None = None, **said: Any) -> Verb:
    """What `reduce_rows` computes: by a kernel of that name, or composed of others."""
    arguments = arguments or (AXES, LEVEL, EMPTY.with_default(empty), OUT)
    taken = {argument.name for argument in arguments}
    more = [
        f"{{{argument}}}" if argument in taken else default
        for argument, default in (("ddof", "0"), ("dtype", "None"), ("overflow", '"wrap"'))
    ]
    while more and more[-1][0] != "{":
        more.pop()
    given = ", ".join(["{X}", "{lengths}", "{axis}", "{level}", "{empty}", "{out}", *more])
    return Verb(
        name,
        f"reduce_{name}",
        "reduce",
        "reduce",
        call=f'reduce_rows("{name}", {given})',
        arguments=arguments,
        raises=RAISES | (BEYOND if "overflow" in taken else {}),
        **said,
    )


_SUMMED = (AXES, LEVEL, EMPTY.with_default("0"), OUT, DTYPE, OVERFLOW)
_SPREAD = (AXES, LEVEL, DDOF, EMPTY.with_default('float("nan")'), OUT)

SUM = _fold(
    "sum",
    "0",
    arguments=_SUMMED,
    summary="The sum of each sequence's rows, column by column.",
    returns=ROWS + SUMS,
    method_returns=SUMS,
    notes=(
        "As Thinc's `Ops.reduce_sum`; any dtype, any trailing dimensions. Float16 and bfloat16 are "
        "added in float32, float32 in blocks of 4096 rows and the blocks in float64: a sequence "
        "gives the same bits alone, in a batch and with any number of threads."
    ),
    example="""
    >>> vl.ops.reduce_sum(np.array([[0, 1], [2, 3], [4, 5]]), [2, 0, 1])
    array([[2, 4],
           [0, 0],
           [4, 5]])
    >>> x = np.array([100, 100, 1], np.int8)
    >>> vl.ops.reduce_sum(x, [2, 1]), vl.ops.reduce_sum(x, [2, 1], dtype=np.int8)
    (array([200,   1]), array([-56,   1], dtype=int8))
    >>> vl.ops.reduce_sum(x, [2, 1], dtype=np.int8, overflow="raise")
    Traceback (most recent call last):
    OverflowError: sum: 200 in sequence 0 is beyond int8, which holds -128 to 127; ...
    """,
    method_example="""
    >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sum()
    array([8, 0, 6])
    >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sum(dtype=np.float32)
    array([8., 0., 6.], dtype=float32)
    """,
    data=DataMethod("The sum", "0", "array([4., 5.])"),
)

MEAN = _fold(
    "mean",
    "0",
    arguments=(
        AXES,
        LEVEL,
        EMPTY.with_default("0"),
        OUT,
        DTYPE.with_default(
            "None",
            (
                "In which rows are added up, and what the result has. Integers are no accumulator of a mean: "
                "values become them, and the mean of those is cut to one."
            ),
        ),
    ),
    summary="The mean of each sequence's rows, column by column.",
    returns=ROWS + MEANS,
    method_returns=MEANS,
    notes="As Thinc's `Ops.reduce_mean`, of which a sequence without rows gives zeros.",
    example="""
    >>> vl.ops.reduce_mean(np.array([1.0, 2.0, 6.0]), [1, 2])
    array([1., 4.])
    >>> vl.ops.reduce_mean(np.array([1, 2, 7]), [1, 2], dtype=np.float32)
    array([1. , 4.5], dtype=float32)
    """,
    method_example="""
    >>> vl.Ragged([3.0, 1.0, 5.0], [2, 1]).mean()
    array([2., 5.])
    """,
    data=DataMethod("The mean", "NaN", "array([2., 5.])"),
)

PROD = _fold(
    "prod",
    "1",
    arguments=(AXES, LEVEL, EMPTY.with_default("1"), OUT, DTYPE, OVERFLOW),
    summary="The product of each sequence's rows, column by column.",
    returns=ROWS + SUMS,
    method_returns=SUMS,
    example="""
    >>> vl.ops.reduce_prod([2, 3, 4], [2, 1])
    array([6, 4])
    """,
    method_example="""
    >>> vl.Ragged([3, 1, 4], [2, 1]).prod()
    array([3, 4])
    """,
    data=DataMethod("The product", "1", "array([3., 5.])"),
)


def _extreme(
    name: str, adjective: str, noun: str, notes: str, example: str, which: str, data: DataMethod
) -> Verb:
    nan = f"A NaN is the {noun}, wherever it is."
    return Verb(
        name,
        f"reduce_{name}",
        "reduce",
        "reduce",
        f"The {adjective} number of each sequence, column by column.",
        f'extreme("{name}", {{X}}, {{lengths}}, {{axis}}, {{level}}, {{empty}}, {{which}}, {{out}})',
        (AXES, LEVEL, EMPTY, WHICH, OUT),
        returns=(
            "(n, ...) of the dtype of X, for more levels a Ragged of those above. With `which` also "
            f"the place inside each sequence, int64 (n, ...), -1 where a sequence has no rows. {nan}"
        ),
        method_returns="The dtype of the values; NaN where there is one.",
        raises=RAISES,
        notes=notes,
        example=f"""
        >>> X = np.array([[4, 1], [2, 3], [5, 5]])
        >>> vl.ops.reduce_{name}(X, [2, 1]).tolist()
        {example}
        >>> vl.ops.reduce_{name}(X, [2, 1], which=True)[1].tolist()
        {which}
        """,
        method_example=f"""
        >>> vl.Ragged([3, 1, 4], [2, 1]).{name}()
        array([{3 if name == "max" else 1}, 4])
        """,
        data=data,
    )


MAX = _extreme(
    "max",
    "largest",
    "maximum",
    "As Thinc's `Ops.reduce_max`, which always gives the rows too: `varlen.thinc.VarlenOps` does.",
    "[[4, 3], [5, 5]]",
    "[[0, 1], [0, 0]]",
    DataMethod("The greatest number", "-inf, of no integers an error", "array([3., 5.])"),
)
MIN = _extreme(
    "min",
    "smallest",
    "minimum",
    "The counterpart of `reduce_max`, which Thinc lacks.",
    "[[2, 1], [5, 5]]",
    "[[1, 0], [0, 0]]",
    DataMethod("The least number", "inf, of no integers an error", "array([1., 5.])"),
)


def _place(name: str, adjective: str, gives: str, places: str, data: DataMethod) -> Verb:
    empty = EMPTY.with_default(
        ("None"), "An integer, what a sequence without rows gives; None refuses such a sequence."
    )
    return Verb(
        f"arg{name}",
        f"arg{name}",
        "reduce",
        "reduce",
        (
            f"The first row inside each sequence that holds its {adjective} number, column by column: "
            "int64 (n, ...)."
        ),
        f'extreme_place("{name}", {{X}}, {{lengths}}, {{axis}}, {{level}}, {{empty}})',
        (AXES, LEVEL, empty),
        returns="int64 (n, ...), for more levels a Ragged of those above.",
        method_returns=f"int64 places, counted inside the sequence; NaN counts as the {adjective}.",
        method_summary=f"The first place of the {adjective} number of each sequence, column by column",
        raises=RAISES,
        example=f"""
        >>> vl.ops.arg{name}([3, 9, 9, 4], [3, 1])
        {gives}
        """,
        method_example=f"""
        >>> vl.Ragged([3, 9, 4], [2, 1]).arg{name}()
        {places}
        """,
        data=data,
    )


ARGMAX = _place(
    "max",
    "largest",
    "array([1, 0])",
    "array([1, 0])",
    DataMethod("The place of the greatest number", "-1", "array([0, 0])"),
)
ARGMIN = _place(
    "min",
    "smallest",
    "array([0, 0])",
    "array([0, 0])",
    DataMethod("The place of the least number", "-1", "array([1, 0])"),
)


def _end(name: str, notes: str, gives: str, example: str, method_gives: str) -> Verb:
    empty = EMPTY.with_default(
        ("None"), "What a sequence without rows gives, a number or a row; None refuses such a sequence."
    )
    return Verb(
        name,
        f"reduce_{name}",
        "reduce",
        "reduce",
        f"The {name} row of each sequence.",
        f"end_row({{X}}, {{lengths}}, {{level}}, {name == 'last'}, {{empty}})",
        (LEVEL, empty),
        values="(total, ...) of any dtype of fixed width, or a Ragged.",
        returns="(n, ...) of the dtype of X, for more levels a Ragged of those above.",
        method_returns="The dtype of the values.",
        raises={name: text for name, text in RAISES.items() if name != "TypeError"},
        notes=notes,
        example=f"""
        >>> vl.ops.reduce_{name}([3, 1, 4], [2, 1])
        {gives}
        """,
        method_example=f"""
        >>> {example}
        {method_gives}
        """,
    )


FIRST = _end(
    ("first"),
    "As Thinc's `Ops.reduce_first`, which gives the offsets too; dtype and trailing dimensions stay with no "
    "sequences as well.",
    "array([3, 4])",
    "vl.Ragged([3, 9, 4], [2, 0, 1]).first(empty=-1)",
    "array([ 3, -1,  4])",
)
LAST = _end(
    "last",
    "As Thinc's `Ops.reduce_last`, which gives the numbers of the rows too.",
    "array([1, 4])",
    "vl.Ragged([3, 9, 4], [2, 1]).last()",
    "array([9, 4])",
)


ANY = _fold(
    "any",
    "False",
    summary="Whether any row of each sequence is true, column by column.",
    returns=(
        "bool (n, ...), for more levels a Ragged of those above. Every number but 0 is true, and so is NaN."
    ),
    method_returns="Bools.",
    example="""
    >>> vl.ops.reduce_any([0, 3, 0], [2, 1])
    array([ True, False])
    """,
    method_example="""
    >>> vl.Ragged([0, 1, 0], [2, 1]).any()
    array([ True, False])
    """,
    data=DataMethod("Whether any is true", "False", "array([ True,  True])"),
)

ALL = _fold(
    "all",
    "True",
    summary="Whether all rows of each sequence are true, column by column.",
    returns=(
        "bool (n, ...), for more levels a Ragged of those above. Every number but 0 is true, and so is NaN."
    ),
    method_returns="Bools.",
    example="""
    >>> vl.ops.reduce_all([0, 3, 1], [2, 1])
    array([False,  True])
    """,
    method_example="""
    >>> vl.Ragged([0, 1, 2], [2, 1]).all()
    array([False,  True])
    """,
    data=DataMethod("Whether all are true", "True", "array([ True,  True])"),
)

NORM = _fold(
    "norm",
    "0",
    summary="The Euclidean norm of each sequence's rows, column by column.",
    returns=ROWS + MEANS + " Squares are added in float64.",
    method_returns=MEANS,
    example="""
    >>> vl.ops.reduce_norm([3.0, 4.0, 1.0], [2, 1])
    array([5., 1.])
    """,
    method_example="""
    >>> vl.Ragged([3.0, 4.0, 2.0], [2, 1]).norm()
    array([5., 2.])
    """,
    data=DataMethod("The Euclidean norm", "0", "array([3.16227766, 5.        ])"),
)

FEW = " NaN in sequences of no more than `ddof` rows."

VAR = _fold(
    "var",
    "",
    arguments=_SPREAD,
    summary="The variance of each sequence's rows, column by column.",
    returns=ROWS + MEANS + FEW,
    method_returns=MEANS + FEW,
    notes=(
        "The mean first, then the squares of the differences, so that large means do no harm. "
        "Float16 and bfloat16 are computed in float32; float32 by blocks, as `reduce_sum` adds."
    ),
    example="""
    >>> vl.ops.reduce_var(np.array([1.0, 3.0, 5.0]), [2, 1])
    array([1., 0.])
    >>> vl.ops.reduce_var(np.array([1.0, 3.0, 5.0]), [2, 1], ddof=1)
    array([ 2., nan])
    """,
    method_example="""
    >>> vl.Ragged([1.0, 3.0, 5.0], [2, 1]).var()
    array([1., 0.])
    """,
    data=DataMethod("The variance", "NaN", "array([1., 0.])"),
)

STD = _fold(
    "std",
    "",
    arguments=_SPREAD,
    summary="The standard deviation of each sequence's rows, column by column: the root of `reduce_var`.",
    method_summary="The standard deviation of each sequence's rows, column by column",
    returns=ROWS + MEANS + FEW,
    method_returns=MEANS + FEW,
    example="""
    >>> vl.ops.reduce_std(np.array([1.0, 3.0, 5.0]), [2, 1])
    array([1., 0.])
    """,
    method_example="""
    >>> vl.Ragged([1.0, 3.0, 5.0], [2, 1]).std()
    array([1., 0.])
    """,
    data=DataMethod("The standard deviation", "NaN", "array([1., 0.])"),
)

LOGSUMEXP = _fold(
    "logsumexp",
    'float("-inf")',
    summary="The logarithm of the sum of the exponentials of each sequence's rows, column by column.",
    method_summary="The logarithm of the sum of exponentials of each sequence",
    returns=ROWS
    + MEANS
    + (" -inf where all numbers are -inf, +inf where there is one, NaN where there is one."),
    method_returns=MEANS,
    example="""
    >>> vl.ops.reduce_logsumexp(np.array([1000.0, 1000.0, 5.0]), [2, 1]) - np.log(2)
    array([1000.        ,    4.30685282])
    """,
    method_example="""
    >>> vl.Ragged([7.0, -np.inf, 5.0], [2, 1]).logsumexp()
    array([7., 5.])
    """,
    data=DataMethod("The logarithm of the sum of exponentials", "-inf", "array([3.12692801, 5.        ])"),
)

PTP = _fold(
    "ptp",
    "None",
    summary="The largest number of each sequence less its smallest one, column by column.",
    returns="(n, ...) of the dtype of X, for more levels a Ragged of those above. NaN where there is one.",
    method_returns="The dtype of the values; NaN where there is one.",
    notes="As `np.ptp`: integers wrap.",
    example="""
    >>> vl.ops.reduce_ptp([3, 1, 4], [2, 1])
    array([2, 0])
    """,
    method_example="""
    >>> vl.Ragged([3, 1, 4], [2, 1]).ptp()
    array([2, 0])
    """,
    data=DataMethod("The greatest number less the least one", "an error", "array([2., 0.])"),
)

MODE = _fold(
    "mode",
    "None",
    summary=(
        "The most frequent number of each sequence, column by column; of equally frequent ones the least."
    ),
    method_summary="The most frequent number of each sequence, column by column",
    returns="(n, ...) of the dtype of X, for more levels a Ragged of those above.",
    method_returns="The dtype of the values; the least of equally frequent ones.",
    notes=(
        'As `scipy.stats.mode` computes it with `nan_policy="propagate"`: NaN are equal to each other and '
        "come after all numbers, so NaN is the result where it is more frequent than any number."
    ),
    example="""
    >>> vl.ops.reduce_mode([3, 1, 3, 5, 4], [3, 2])
    array([3, 4])
    """,
    method_example="""
    >>> vl.Ragged([3, 1, 3, 5, 4], [3, 2]).mode()
    array([3, 4])
    """,
    data=DataMethod("The most frequent number", "an error", "array([1., 5.])"),
)

COUNT = Verb(
    "count",
    "count",
    "reduce",
    "reduce",
    "How many rows each sequence has: int64 (n,), read-only.",
    "count_rows({X}, {lengths}, {level})",
    (LEVEL,),
    returns=(
        "int64 (n,), of the kind that the values have; for more levels a Ragged of those above. "
        "All that lies below the level counts, levels in between do not."
    ),
    method_returns="int64; all that lies below the level counts, levels in between do not.",
    raises={"IndexError": "There is no such level."},
    example="""
    >>> vl.ops.count([3, 1, 4], [2, 1])
    array([2, 1])
    """,
    method_example="""
    >>> vl.Ragged([3, 1, 4], [2, 1]).count()
    array([2, 1])
    """,
)

VERBS = (
    SUM,
    MEAN,
    PROD,
    MAX,
    MIN,
    ARGMAX,
    ARGMIN,
    FIRST,
    LAST,
    ANY,
    ALL,
    NORM,
    VAR,
    STD,
    LOGSUMEXP,
    PTP,
    MODE,
    COUNT,
)
