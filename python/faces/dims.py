"""Functions of `varlen.dims` that come in families: running numbers, softmax, and constants."""

from __future__ import annotations

from frontend import Face


def _scan_face(
    name: str,
    summary: str,
    x: str,
    exclusive: str,
    returns: str,
    options: str,
    gives: str,
    texts: dict[str, str] | None = None,
    raises: dict[str, str] | None = None,
    extra: str = "",
    notes: str = "",
) -> Face:
    is_sum = name in ("sum", "prod")
    words = ("exclusive", "reverse", "out_shape", *(["dtype", "overflow"] if is_sum else []))
    sum_options = ', dtype: Any = None, overflow: str = "wrap"' if is_sum else ""
    first, last = ("axis", "reverse, out_shape, dtype, overflow") if x else ("x, axis", "reverse, out_shape")
    return Face(
        f"cum{name}",
        'x: Data[Any], axis: Axis = "T", *, exclusive: bool = False, reverse: bool = False, '
        f"out_shape: OutShape | None = None{sum_options}",
        summary,
        f'scan("{name}", x, axis, {", ".join(words)})',
        f"""
        >>> x = vl.Data(np.array([3, 1, 4, 5]), [vl.dims.batch_dim, vl.Dim("time", lengths=[3, 1])])
        >>> vl.dims.cum{name}(x{options}).to_list()
        {gives}{extra}
        """,
        texts
        or {
            **({"x": x} if x else {}),
            first: "As in `cumsum`.",
            "exclusive": f"Leave the number itself out: the first position holds {exclusive}.",
            last: "As in `cumsum`.",
        },
        returns,
        "Data[Any]",
        notes=notes,
        raises=raises or {f"IndexError, OutShapeError{', OverflowError' if is_sum else ''}": "As `cumsum`."},
    )


RUNNING = (
    _scan_face(
        "sum",
        "The running sum along a dim; each row starts anew.",
        "",
        "",
        "The running sums, over the same dims. Floats keep their dtype; bools and signed integers give "
        "int64, unsigned ones uint64.",
        "",
        "[[3, 4, 8], [5]]",
        texts={
            "x": "Numbers, including complex ones, or bools.",
            "axis": "The dim to add along. If the lengths of another dim depend on it, equal positions of "
            "that dim are added.",
            "exclusive": "Leave the number itself out: the first position holds 0.",
            "reverse": "From the last position of each row to the first.",
            "out_shape": "The dims that the result must have; None skips the check.",
            "dtype, overflow": "As in `reduce`.",
        },
        raises={
            "IndexError": "There is no such dim.",
            "OutShapeError": "The dims differ from the expected ones.",
            "OverflowError": 'With `overflow="raise"`, the dtype cannot hold a sum.',
        },
        extra="""
        >>> vl.dims.cumsum(x, exclusive=True, reverse=True).to_list()
        [[5, 4, 0], [0]]""",
        notes="As RETURNN's `cumsum`, which goes on through the padding.",
    ),
    _scan_face(
        "prod",
        "The running product along a dim; each row starts anew.",
        "Real numbers or bools.",
        "1",
        "The running products, over the same dims, with the dtypes of `cumsum`.",
        "",
        "[[3, 3, 12], [5]]",
    ),
    _scan_face(
        "max",
        "The largest number so far along a dim; NaN from the first NaN on.",
        "",
        "the lowest number of the dtype, -inf for floats",
        "The largest numbers so far, over the same dims, of the same dtype.",
        "",
        "[[3, 3, 4], [5]]",
    ),
    _scan_face(
        "min",
        "The smallest number so far along a dim; NaN from the first NaN on.",
        "",
        "the highest number of the dtype, inf for floats",
        "The smallest numbers so far, over the same dims, of the same dtype.",
        ", reverse=True",
        "[[1, 1, 4], [5]]",
    ),
)


def _softmax(
    name: str,
    summary: str,
    log: str,
    returns: str,
    example: str,
    texts: dict[str, str],
    raises: dict[str, str],
    notes: str = "",
) -> Face:
    return Face(
        name,
        'x: Data[Any], axis: Axis | Sequence[Axis] = "T", *, scale: float = 1.0, '
        "out_shape: OutShape | None = None",
        summary,
        f"shares(x, axis, scale, out_shape{log})",
        example,
        texts,
        returns,
        "Data[Any]",
        notes=notes,
        raises=raises,
    )


SOFTMAX = (
    _softmax(
        "softmax",
        "The softmax over some dims: exp(scale * x) divided by its sum, computed stably.",
        "",
        "The shares, over the same dims. A row without positions has none, not even NaN.",
        """
        >>> time = vl.Dim("time", lengths=[2, 0, 1])
        >>> x = vl.Data(np.zeros(3), [vl.dims.batch_dim, time])
        >>> vl.dims.softmax(x, time).to_list()
        [[0.5, 0.5], [], [1.0]]
        """,
        {
            "x": "Numbers.",
            "axis": "The dims over which they sum to one.",
            "scale": "The factor by which numbers are multiplied first: one over a temperature.",
            "out_shape": "The dims that the result must have; None skips the check.",
        },
        {"ValueError": "The scale is not above zero.", "IndexError": "There is no such dim."},
        "As RETURNN's `softmax`, without a mask: there is no padding.",
    ),
    _softmax(
        "log_softmax",
        "The logarithm of `softmax`.",
        ", log=True",
        "The logarithms, over the same dims.",
        """
        >>> x = vl.Data(np.zeros(3), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> vl.dims.log_softmax(x).values.round(3)
        array([-0.693, -0.693,  0.   ])
        """,
        {"x, axis, scale, out_shape": "As in `softmax`."},
        {"ValueError, IndexError": "As `softmax`."},
    ),
)
OPTIONS = "dtype: DTypeLike | None = None, {}out_shape: OutShape | None = None"
DIMS = "As in `zeros`."


def _constant(
    number: int, gives: str, example: str, texts: dict[str, str], raises: dict[str, str]
) -> tuple[Face, Face]:
    """A function of dims that gives one number everywhere, and the one of another Data."""
    name = ("zeros", "ones")[number]
    return (
        Face(
            name,
            f"dims: Sequence[Dim], *, {OPTIONS.format('like: Data[Any] | None = None, ')}",
            f"A Data of {name}.",
            f"fill({number}, dims, dtype, like, out_shape)",
            f"""
        >>> vl.dims.{example}
        {gives}
        """,
            texts,
            f"The {name}, over `dims`.",
            "Data[Any]",
            raises=raises,
        ),
        Face(
            f"{name}_like",
            f"x: Data[Any], *, {OPTIONS.format('')}",
            f"A Data of {name}, like another Data.",
            f"fill_like({number}, x, dtype, out_shape)",
            f"""
        >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> vl.dims.{name}_like(x).to_list()
        [[{number}, {number}], [{number}]]
        """,
            {
                "x": "A Data that gives the dims, the kind of array, the device and the dtype.",
                "dtype": "By default the dtype of `x`.",
                "out_shape": "The dims that the result must have; None skips the check.",
            }
            if name == "zeros"
            else {"x, dtype, out_shape": "As in `zeros_like`."},
            f"The {name}, over the dims of `x`.",
            "Data[Any]",
            raises={"OutShapeError": "The dims differ from the expected ones."},
        ),
    )


CONSTANTS = (
    *_constant(
        0,
        "[[0.0, 0.0], []]",
        'zeros([vl.dims.batch_dim, vl.Dim("time", lengths=[2, 0])]).to_list()',
        {
            "dims": "Dims with lengths, in any order, including the dims that their lengths depend on.",
            "dtype": "By default the dtype of `like`; without `like`, float64.",
            "like": "A Data that gives the kind of array, device and dtype.",
            "out_shape": "The dims that the result must have; None skips the check.",
        },
        {
            "ValueError": "A dim has no lengths, appears twice, or lacks a dim that its lengths depend on.",
            "OutShapeError": "The dims differ from the expected ones.",
        },
    ),
    *_constant(
        1,
        "array([1., 1.])",
        'ones([vl.Dim("two", 2)]).values',
        {"dims, dtype, like, out_shape": DIMS},
        {"ValueError, OutShapeError": DIMS},
    ),
)
FUNCTIONS = (*RUNNING, *SOFTMAX, *CONSTANTS)
