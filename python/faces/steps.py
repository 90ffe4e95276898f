"""The first and the last step of `varlen.sequence`, and running numbers of `varlen.dims`."""

from __future__ import annotations

from frontend import Face

BOTH = "numpy.ndarray, torch.Tensor or Ragged"
LEVEL = "The level whose sequences become one row each; levels below it are merged. -1 is the innermost."


def _step(name: str, gives: str) -> Face:
    is_first = name == "first"
    as_first = "As those of `sequence_first_step`."
    refuses = {"TypeError": "`input` is not a Ragged.", "IndexError": "There is no such level."}
    return Face(
        f"sequence_{name}_step",
        "input: RaggedBase[ArrayT], *, level: int = -1",
        f'The {name} row of each sequence; zeros, or NaT, for an empty one: `sequence_pool` with "{name}".',
        f'sequence_pool(input, "{name}", level=level)',
        f"""
        >>> vl.sequence_{name}_step(vl.Ragged([3, 1, 4], [2, 0, 1]))
        {gives}
        """,
        {"input": "`Ragged` of rows (T, ...) of any dtype.", "level": LEVEL}
        if is_first
        else {"input, level": as_first},
        "(n, ...) of the dtype of `input`; under more levels a `Ragged` of those above.",
        "ArrayT | Any",
        kind=BOTH,
        notes=f"As Paddle's `sequence_{name}_step`, for any depth and dtype.",
        raises=refuses if is_first else {"TypeError, IndexError": as_first},
    )


def _gradient_face(name: str, gives: str) -> Face:
    is_first = name == "first"
    gradient = f"an array, a tensor or a `Ragged`: the gradient of what `sequence_{name}_step` gave."
    return Face(
        f"backprop_sequence_{name}_step",
        "dY: Any, input: RaggedT, *, level: int = -1",
        f"The gradient of `sequence_{name}_step`: the {name} row of sequence i gets row i, the others zeros.",
        f'backprop_sequence_pool(dY, input, "{name}", level=level)',
        f"""
        >>> vl.sequence.backprop_sequence_{name}_step([5.0], vl.Ragged([3.0, 1.0], [2])).values
        {gives}
        """,
        {
            "dY": f"(n, ...) numbers, {gradient}",
            "input, level": f"As they were given to `sequence_{name}_step`.",
        }
        if is_first
        else {"dY, input, level": "As those of `backprop_sequence_first_step`."},
        "Nests as `input`, of the dtype of dY.",
        "RaggedT",
        kind="Ragged",
        raises={
            "TypeError, ValueError, IndexError": (
                f"What `sequence_{name}_step` refuses; a dY of another shape, or of no numbers."
            )
        },
    )


STEPS = (
    _step("first", "array([3, 0, 4])"),
    _step("last", "array([1, 0, 4])"),
    _gradient_face("first", "array([5., 0.])"),
    _gradient_face("last", "array([0., 5.])"),
)


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
            first: "As those of `cumsum`.",
            "exclusive": f"Leave the number itself out: the first position holds {exclusive}.",
            last: "As those of `cumsum`.",
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
        "Over the same dims. Floats keep their dtype; bools and signed integers give int64, unsigned ones "
        "uint64.",
        "",
        "[[3, 4, 8], [5]]",
        texts={
            "x": "Numbers, complex ones too, or bools.",
            "axis": "The dim along which they are added. Where another dim is over it, positions that are "
            "the same in that one are added.",
            "exclusive": "Leave the number itself out: the first position holds 0.",
            "reverse": "From the last position of each row to the first.",
            "out_shape": "The expected dims.",
            "dtype, overflow": "As those of `reduce`.",
        },
        raises={
            "IndexError": "There is no such dim.",
            "OutShapeError": "The dims differ from the expected ones.",
            "OverflowError": 'With `overflow="raise"` a sum that its dtype cannot hold.',
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
        "Over the same dims, with the dtypes of `cumsum`.",
        "",
        "[[3, 3, 12], [5]]",
    ),
    _scan_face(
        "max",
        "The largest number so far along a dim; NaN from the first NaN on.",
        "",
        "the lowest number of the dtype, -inf of floats",
        "Over the same dims, of the same dtype.",
        "",
        "[[3, 3, 4], [5]]",
    ),
    _scan_face(
        "min",
        "The smallest number so far along a dim; NaN from the first NaN on.",
        "",
        "the highest number of the dtype, inf of floats",
        "Over the same dims, of the same dtype.",
        ", reverse=True",
        "[[1, 1, 4], [5]]",
    ),
)
