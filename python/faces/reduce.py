"""The verbs that give a row for each sequence."""

from typing import Any

from arguments import AXES, AXIS_OF_PLACES, DDOF, DTYPE, EMPTY, LEVEL, OUT, OVERFLOW, WHICH
from verb import Argument, DataMethod, Verb

ROWS = "(n, ...), for more levels a Ragged of those above. "
SUMS = "Floats keep their dtype; bools and signed integers give int64, unsigned ones uint64, which wrap."
MEANS = "Floats keep their dtype; integers and bools give float64."
OF_METHOD = "(n, ...) array or tensor, or Ragged of the levels above"

NO_NUMBERS = "The values are not numbers."
NO_FIT = (
    "Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; "
    "the dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given."
)
RAISES = {"TypeError": NO_NUMBERS, "ValueError": NO_FIT, "IndexError": "There is no such level."}
BEYOND = {
    (
        "OverflowError"
    ): 'With "raise": the dtype cannot hold a result. The error names its sequence and column.'
}


def _fold(name: str, empty: str, arguments: tuple[Argument, ...] | None = None, **options: Any) -> Verb:
    """What `reduce_rows` computes: by a kernel of that name, or composed of others."""
    arguments = arguments or (AXES, LEVEL, EMPTY.with_default(empty), OUT)
    names = {argument.name for argument in arguments}
    slots = [
        f"{{{argument}}}" if argument in names else default
        for argument, default in (("ddof", "0"), ("dtype", "None"), ("overflow", '"wrap"'))
    ]
    while slots and slots[-1][0] != "{":
        slots.pop()
    call_args = ", ".join(["{X}", "{lengths}", "{axis}", "{level}", "{empty}", "{out}", *slots])
    return Verb(
        name,
        f"reduce_{name}",
        "reduce",
        "reduce",
        call=f'reduce_rows("{name}", {call_args})',
        arguments=arguments,
        raises=RAISES | (BEYOND if "overflow" in names else {}),
        **options,
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
        "added in float32, float32 in blocks of 4096 rows and the blocks in float64. A sequence "
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
    ufunc="add",
    numpy="axis dtype out keepdims initial where",
    torch="dim keepdim dtype",
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
                "The dtype of accumulator and result. For an integer dtype values are converted to it first, "
                "and the mean is truncated."
            ),
        ),
    ),
    summary="The mean of each sequence's rows, column by column.",
    returns=ROWS + MEANS,
    method_returns=MEANS,
    notes="As Thinc's `Ops.reduce_mean`, which gives zeros for a sequence without rows.",
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
    data=DataMethod("The mean", 'float("nan")', "array([2., 5.])"),
    numpy="axis dtype out keepdims where",
    torch="dim keepdim dtype",
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
    ufunc="multiply",
    numpy="axis dtype out keepdims initial where",
    torch="dim keepdim dtype",
)


def _extreme(
    name: str, adjective: str, noun: str, notes: str, example: str, which: str, data: DataMethod
) -> Verb:
    nan = f"If a sequence holds NaN, the {noun} is NaN."
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
        method_returns="The dtype of the values; NaN if the sequence holds one.",
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
        by="reduce_extreme",
        ufunc=f"{name}imum",
        numpy="axis out keepdims initial where",
        torch="dim keepdim",
        aliases=(f"a{name}",),
    )


MAX = _extreme(
    "max",
    "largest",
    "maximum",
    "As Thinc's `Ops.reduce_max`, which always returns the positions too, as `varlen.thinc.VarlenOps` does.",
    "[[4, 3], [5, 5]]",
    "[[0, 1], [0, 0]]",
    DataMethod("The largest number", 'float("-inf")', "array([3., 5.])"),
)
MIN = _extreme(
    "min",
    "smallest",
    "minimum",
    "The counterpart of `reduce_max`, which Thinc lacks.",
    "[[2, 1], [5, 5]]",
    "[[1, 0], [0, 0]]",
    DataMethod("The smallest number", 'float("inf")', "array([1., 5.])"),
)


def _place(name: str, adjective: str, gives: str, places: str, data: DataMethod) -> Verb:
    empty = EMPTY.with_default(
        ("None"), "An integer: the result for a sequence without rows; None raises an error."
    )
    return Verb(
        f"arg{name}",
        f"arg{name}",
        "reduce",
        "reduce",
        f"The position of each sequence's {adjective} number, column by column: int64 (n, ...).",
        f'extreme_place("{name}", {{X}}, {{lengths}}, {{axis}}, {{level}}, {{empty}})',
        (AXIS_OF_PLACES, LEVEL, empty),
        returns=(
            "int64 (n, ...), counted inside the sequence; the first of equal numbers. "
            "For more levels a Ragged of those above."
        ),
        method_returns=(
            f"int64, counted inside the sequence; the first of equal numbers. NaN counts as the {adjective}."
        ),
        method_summary=f"The position of each sequence's {adjective} number, column by column",
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
        by="reduce_extreme",
        numpy="axis out keepdims",
        torch="dim keepdim",
    )


ARGMAX = _place(
    "max",
    "largest",
    "array([1, 0])",
    "array([1, 0])",
    DataMethod("The position of the largest number", "-1", "array([0, 0])"),
)
ARGMIN = _place(
    "min",
    "smallest",
    "array([0, 0])",
    "array([0, 0])",
    DataMethod("The position of the smallest number", "-1", "array([1, 0])"),
)


def _end(name: str, notes: str, gives: str, example: str, method_gives: str) -> Verb:
    empty = EMPTY.with_default(
        ("None"), "The result for a sequence without rows, a number or a row; None raises an error."
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
        by="reduce_end",
    )


FIRST = _end(
    ("first"),
    "As Thinc's `Ops.reduce_first`, which also returns the offsets. Dtype and trailing dimensions stay even "
    "without sequences.",
    "array([3, 4])",
    "vl.Ragged([3, 9, 4], [2, 0, 1]).first(empty=-1)",
    "array([ 3, -1,  4])",
)
LAST = _end(
    "last",
    "As Thinc's `Ops.reduce_last`, which also returns the numbers of the rows.",
    "array([1, 4])",
    "vl.Ragged([3, 9, 4], [2, 1]).last()",
    "array([9, 4])",
)


ANY = _fold(
    "any",
    "False",
    summary="Whether any row of each sequence is true, column by column.",
    returns=(
        "bool (n, ...), for more levels a Ragged of those above. Every number but 0 is true, NaN included."
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
    ufunc="logical_or",
    numpy="axis out keepdims where",
    torch="dim keepdim",
)

ALL = _fold(
    "all",
    "True",
    summary="Whether all rows of each sequence are true, column by column.",
    returns=(
        "bool (n, ...), for more levels a Ragged of those above. Every number but 0 is true, NaN included."
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
    ufunc="logical_and",
    numpy="axis out keepdims where",
    torch="dim keepdim",
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
    has_dim=True,
)

_SPREAD_OF_NUMPY = "axis dtype out ddof keepdims where mean correction"
FEW = " NaN for sequences of at most `ddof` rows."

VAR = _fold(
    "var",
    "",
    arguments=_SPREAD,
    summary="The variance of each sequence's rows, column by column.",
    returns=ROWS + MEANS + FEW,
    method_returns=MEANS + FEW,
    notes=(
        "Computes the mean first, then the squared differences, so that large means lose no precision. "
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
    data=DataMethod("The variance", 'float("nan")', "array([1., 0.])"),
    numpy=_SPREAD_OF_NUMPY,
    torch="dim unbiased keepdim",
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
    data=DataMethod("The standard deviation", 'float("nan")', "array([1., 0.])"),
    numpy=_SPREAD_OF_NUMPY,
    torch="dim unbiased keepdim",
)

LOGSUMEXP = _fold(
    "logsumexp",
    'float("-inf")',
    summary="The logarithm of the sum of exponentials of each sequence, column by column.",
    method_summary="The logarithm of the sum of exponentials of each sequence",
    returns=ROWS + MEANS + (" -inf if all numbers are -inf; +inf or NaN if a number is."),
    method_returns=MEANS,
    example="""
    >>> vl.ops.reduce_logsumexp(np.array([1000.0, 1000.0, 5.0]), [2, 1]) - np.log(2)
    array([1000.        ,    4.30685282])
    """,
    method_example="""
    >>> vl.Ragged([7.0, -np.inf, 5.0], [2, 1]).logsumexp()
    array([7., 5.])
    """,
    data=DataMethod(
        "The logarithm of the sum of exponentials", 'float("-inf")', "array([3.12692801, 5.        ])"
    ),
    ufunc="logaddexp",
    torch="dim keepdim",
)

PTP = _fold(
    "ptp",
    "None",
    summary="The largest number of each sequence minus its smallest, column by column.",
    returns="(n, ...) of the dtype of X, for more levels a Ragged of those above. NaN if a number is.",
    method_returns="The dtype of the values; NaN if the sequence holds one.",
    notes="As `np.ptp`: integers wrap.",
    example="""
    >>> vl.ops.reduce_ptp([3, 1, 4], [2, 1])
    array([2, 0])
    """,
    method_example="""
    >>> vl.Ragged([3, 1, 4], [2, 1]).ptp()
    array([2, 0])
    """,
    data=DataMethod("The largest number minus the smallest", "None", "array([2., 0.])"),
    by="composed",
    numpy="axis out keepdims",
)

MODE = _fold(
    "mode",
    "None",
    summary=("The most frequent number of each sequence, column by column; the smallest in a tie."),
    method_summary="The most frequent number of each sequence, column by column",
    returns="(n, ...) of the dtype of X, for more levels a Ragged of those above.",
    method_returns="The dtype of the values; the smallest number in a tie.",
    notes=(
        'As `scipy.stats.mode` computes it with `nan_policy="propagate"`: NaN are equal to each other and '
        "come after all numbers, so NaN is the result only if it is more frequent than every number."
    ),
    example="""
    >>> vl.ops.reduce_mode([3, 1, 3, 5, 4], [3, 2])
    array([3, 4])
    """,
    method_example="""
    >>> vl.Ragged([3, 1, 3, 5, 4], [3, 2]).mode()
    array([3, 4])
    """,
    data=DataMethod("The most frequent number", "None", "array([1., 5.])"),
    by="composed",
)

COUNT = Verb(
    "count",
    "count",
    "reduce",
    "reduce",
    "The number of rows of each sequence: int64 (n,), read-only.",
    "count_rows({X}, {lengths}, {level})",
    (LEVEL,),
    returns=(
        "int64 (n,), an array or tensor like the values; for more levels a Ragged of those above. "
        "Counts the rows below the level, not the items of levels in between."
    ),
    method_returns="int64. Counts the rows below the level, not the items of levels in between.",
    raises={"IndexError": "There is no such level."},
    example="""
    >>> vl.ops.count([3, 1, 4], [2, 1])
    array([2, 1])
    """,
    method_example="""
    >>> vl.Ragged([3, 1, 4], [2, 1]).count()
    array([2, 1])
    """,
    by="level_array",
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
